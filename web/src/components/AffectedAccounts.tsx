import { Button } from '@mantine/core';
import { Link } from 'react-router';
import type { AffectedPage, AffectedRecord } from '../api/types';
import { words } from '../lib/format';
import { useCursorList } from '../lib/list';
import { issueName } from '../lib/readiness';
import { useUrlState } from '../lib/url';
import { Empty, Tag, When } from './basics';
import { DataTable, type Column } from './DataTable';
import { FilterSelect } from './FilterSelect';

const choices = Object.entries(issueName).map(([value, label]) => ({ value, label }));

/** The accounts that a data issue is about, each with what to do. */
export default function AffectedAccounts() {
  const { get, set } = useUrlState();
  const issue = get('issue');
  const list = useCursorList<AffectedPage, AffectedRecord>('affected', '/api/readiness/affected', { issue_code: issue === 'all' ? '' : issue }, (page) => page.records);
  return (
    <section aria-label="Accounts with data issues">
      <DataTable
        name="Affected accounts"
        columns={columns}
        list={list}
        rowKey={(row) => row.account_id}
        rowName={(row) => row.name}
        total={issue === 'all' ? undefined : list.first?.counts_by_code[issue]}
        filters={
          <>
            <FilterSelect label="Issue" all="All issues" width={280} choices={choices} value={issue === 'all' ? '' : issue} onChange={(code) => set({ issue: code || 'all' })} />
            <Button variant="subtle" onClick={() => set({ issue: null })}>Close list</Button>
          </>
        }
        empty={<Empty title="No account has this issue" />}
      />
    </section>
  );
}

const columns: Column<AffectedRecord>[] = [
  { key: 'name', header: 'Account', fixed: true, cell: (row) => <Link to={`/accounts/${row.account_id}`}>{row.name}</Link> },
  { key: 'detail', header: 'What is wrong', wide: true, cell: (row) => row.detail.charAt(0).toUpperCase() + row.detail.slice(1) },
  { key: 'hint', header: 'What to do', wrap: true, cell: (row) => row.fix_hint },
  { key: 'issues', header: 'Issues', wide: true, extra: true, cell: (row) => <span className="row">{row.issue_codes.map((code) => <Tag key={code} tone="warn">{issueName[code] ?? words(code)}</Tag>)}</span> },
  { key: 'since', header: 'Since', wide: true, cell: (row) => <When at={row.first_seen_at} /> },
];
