import { Button, Tabs } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Link } from 'react-router';
import { url } from '../api/client';
import type { AccountPage, AccountRow } from '../api/types';
import { useMay } from '../app/session';
import { Empty, Loading, Missing, Money, Or, Page } from '../components/basics';
import { DataTable, type Column } from '../components/DataTable';
import { FilterSelect } from '../components/FilterSelect';
import { ScoreValue } from '../components/ScoreValue';
import { SearchField } from '../components/SearchField';
import { Icon } from '../components/icons';
import { download, toCsv } from '../lib/csv';
import { words } from '../lib/format';
import { useCursorList } from '../lib/list';
import { segments, stateCodes } from '../lib/states';
import { useUrlState } from '../lib/url';

const AccountMatches = lazy(() => import('../components/AccountMatches'));
const AccountPanel = lazy(() => import('../components/AccountPanel'));

export default function Accounts() {
  const { get, set } = useUrlState();
  const view = get('view') === 'matches' ? 'matches' : 'scores';
  return (
    <Page title="Accounts" about="Districts and institutions of this organization, with their scores.">
      <Tabs value={view} onChange={(value) => set({ view: value === 'matches' ? value : null }, { push: true })} keepMounted={false}>
        <Tabs.List aria-label="Accounts"><Tabs.Tab value="scores">Scores</Tabs.Tab><Tabs.Tab value="matches">Directory matches</Tabs.Tab></Tabs.List>
        <Tabs.Panel value="scores" pt="md"><AccountList /></Tabs.Panel>
        <Tabs.Panel value="matches" pt="md"><Suspense fallback={<Loading />}><AccountMatches /></Suspense></Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function AccountList() {
  const { get, set } = useUrlState();
  const mayExport = useMay('manager');
  const filters = { query: get('query'), segment: get('segment'), territory: get('territory'), state: get('state'), status: get('status'), sort: get('sort') || 'risk' };
  const list = useCursorList<AccountPage, AccountRow>('accounts', '/api/accounts', filters, (page) => page.accounts);
  const currency = list.first?.currency ?? 'USD';
  const open = (row: AccountRow) => set({ account: row.account_id }, { push: true });
  const filtered = Boolean(filters.query || filters.segment || filters.territory || filters.state || filters.status);

  return (
    <>
      <DataTable
        name="Accounts"
        columns={columns(currency, open, (row, model) => set({ account: row.account_id, score: model }, { push: true }))}
        list={list}
        rowKey={(row) => row.account_id}
        rowName={(row) => row.name}
        total={list.first?.total}
        sort={filters.sort}
        onSort={(sort) => set({ sort })}
        onOpen={open}
        exportHref={mayExport ? url('/api/exports/accounts', filters) : undefined}
        filters={
          <>
            <SearchField label="Search accounts" placeholder="Name or domain" value={filters.query} onChange={(query) => set({ query })} />
            <FilterSelect label="Segment" all="All segments" choices={segments} value={filters.segment} onChange={(segment) => set({ segment })} />
            <FilterSelect label="Status" all="All statuses" choices={accountStatuses} value={filters.status} onChange={(status) => set({ status })} />
            <FilterSelect label="State" all="All states" choices={stateCodes} value={filters.state} onChange={(state) => set({ state })} width={120} />
            <SearchField label="Territory" value={filters.territory} onChange={(territory) => set({ territory })} width={150} />
          </>
        }
        bulk={(rows) => (
          <Button variant="default" leftSection={<Icon name="download" />} onClick={() => download('accounts.csv', selectionCsv(rows, currency))}>Export selection</Button>
        )}
        empty={filtered ? (
          <Empty title="No account matches these filters" action={<Button variant="default" onClick={() => set({ query: null, segment: null, territory: null, state: null, status: null })}>Clear filters</Button>} />
        ) : (
          <Empty title="No accounts yet" action={<Button component={Link} to="/settings/connectors">Connect a CRM</Button>}>Accounts appear here after the first sync of a connected CRM.</Empty>
        )}
      />
      {get('account') && (
        <Suspense fallback={null}><AccountPanel id={get('account')} close={() => set({ account: null, score: null, tab: null })} /></Suspense>
      )}
    </>
  );
}

const accountStatuses = ['customer', 'prospect', 'former_customer'].map((value) => ({ value, label: words(value) }));

function columns(currency: string, open: (row: AccountRow) => void, score: (row: AccountRow, model: string) => void): Column<AccountRow>[] {
  return [
    {
      key: 'name', header: 'Account', sort: 'name', fixed: true,
      cell: (row) => (
        <Link
          to={`/accounts/${row.account_id}`}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
            event.preventDefault();
            open(row);
          }}
        >
          {row.name}
        </Link>
      ),
    },
    { key: 'risk', header: 'Risk', sort: 'risk', sortDirection: 'descending', align: 'end', width: 120, cell: (row) => <ScoreValue model="risk" value={row.risk} level={row.risk_status} reason={row.reason} of={row.name} onOpen={() => score(row, 'risk')} /> },
    { key: 'health', header: 'Health', sort: 'health', sortDirection: 'descending', align: 'end', width: 120, cell: (row) => <ScoreValue model="health" value={row.health} level={row.health_status} reason={row.reason} of={row.name} onOpen={() => score(row, 'health')} /> },
    { key: 'priority', header: 'Priority', sort: 'priority', sortDirection: 'descending', align: 'end', width: 120, wide: true, extra: true, cell: (row) => <ScoreValue model="priority" value={row.priority} reason={row.priority_reason ?? 'not_available'} of={row.name} /> },
    { key: 'arr', header: 'ARR', sort: 'arr', sortDirection: 'descending', align: 'end', wide: true, cell: (row) => <Money cents={row.arr_cents} currency={currency} reason="No subscription is known" /> },
    { key: 'segment', header: 'Segment', wide: true, cell: (row) => <Or value={row.segment} reason="No segment is set" /> },
    { key: 'state', header: 'State', wide: true, cell: (row) => <Or value={row.state} reason="No state is known" /> },
    { key: 'territory', header: 'Territory', wide: true, cell: (row) => <Or value={row.territory} reason="In no territory" /> },
    { key: 'status', header: 'Status', wide: true, cell: (row) => <Or value={row.status && words(row.status)} reason="The CRM gives no status" /> },
    { key: 'match', header: 'NCES / UNITID', wide: true, extra: true, cell: (row) => row.nces_id ?? row.unitid ?? <Missing reason="Not matched to a district or institution" /> },
    { key: 'domain', header: 'Domain', wide: true, extra: true, cell: (row) => <Or value={row.domain} reason="No domain is known" /> },
  ];
}

function selectionCsv(rows: AccountRow[], currency: string): string {
  return toCsv(
    ['account_id', 'name', 'segment', 'territory', 'state', 'status', 'nces_id', 'unitid', 'domain', 'arr', 'currency', 'health', 'risk', 'priority'],
    rows.map((r) => [r.account_id, r.name, r.segment, r.territory, r.state, r.status, r.nces_id, r.unitid, r.domain, r.arr_cents === null ? null : (r.arr_cents / 100).toFixed(2), currency, r.health, r.risk, r.priority]),
  );
}
