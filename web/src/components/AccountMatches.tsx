import { Button, Modal, Radio, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Link, useNavigate } from 'react-router';
import { api, ApiError } from '../api/client';
import type { AccountMatch, MatchPage, Official, RunStarted } from '../api/types';
import { useMay } from '../app/session';
import { plural } from '../lib/format';
import { useCursorList } from '../lib/list';
import { runKey } from '../lib/live';
import { useUrlState } from '../lib/url';
import { Empty, Missing, Note, Or, Tag, When } from './basics';
import { DataTable, type Column } from './DataTable';
import { FilterSelect } from './FilterSelect';
import type { Tone } from './icons';
import { useToasts } from './toasts';

const statuses = [{ value: 'ambiguous', label: 'To decide' }, { value: 'unmatched', label: 'Not matched' }, { value: 'matched', label: 'Matched' }];
const statusTone: Record<AccountMatch['status'], Tone> = { matched: 'good', ambiguous: 'warn', unmatched: 'none' };
const statusName = (status: string) => statuses.find((s) => s.value === status)?.label ?? status;
const methods: Record<string, string> = { exact_id: 'by ID', name_state: 'by name and state', manual: 'by decision' };

/** Which district or institution each account is, and the accounts where a person has to decide. */
export default function AccountMatches() {
  const { get, set } = useUrlState();
  const may = useMay('manager');
  const [deciding, decide] = useState<AccountMatch | null>(null);
  const status = get('match');
  const list = useCursorList<MatchPage, AccountMatch>('matches', '/api/accounts/matches', { status }, (page) => page.matches);
  return (
    <>
      <DataTable
        name="Directory matches"
        columns={columns(may ? decide : null)}
        list={list}
        rowKey={(row) => row.account_id}
        rowName={(row) => row.name}
        filters={
          <>
            <FilterSelect label="Match" all="All accounts" choices={statuses} value={status} onChange={(match) => set({ match })} />
            <MatchAgain />
          </>
        }
        empty={status
          ? <Empty title={status === 'ambiguous' ? 'Nothing to decide' : 'No account here'} action={<Button variant="default" onClick={() => set({ match: null })}>Show all accounts</Button>}>{status === 'ambiguous' ? 'No account fits more than one district or institution.' : undefined}</Empty>
          : <Empty title="No accounts yet" action={<Button component={Link} to="/settings/connectors">Connect a CRM</Button>} />}
      />
      <Modal opened={deciding !== null} onClose={() => decide(null)} size="lg" title={`Which one is ${deciding?.name ?? ''}?`} closeButtonProps={{ 'aria-label': 'Close' }}>
        {deciding && <Decision match={deciding} close={() => decide(null)} />}
      </Modal>
    </>
  );
}

function MatchAgain() {
  const may = useMay('manager');
  const client = useQueryClient();
  const navigate = useNavigate();
  const toasts = useToasts();
  const start = useMutation({
    mutationFn: () => api.post<RunStarted>('/api/accounts/matches'),
    onSuccess: ({ run }) => {
      client.setQueryData(runKey(run.id), run);
      void navigate(`/runs/${run.id}`);
    },
    onError: (error) => toasts.bad('Matching did not start', error),
  });
  return may ? <Button variant="default" loading={start.isPending} onClick={() => start.mutate()}>Match again</Button> : null;
}

const place = (official: Official) => [official.city, official.state].filter(Boolean).join(', ');
const kindOf = (official: Official) => (official.kind === 'district' ? 'NCES' : 'UNITID');

const columns = (decide: ((row: AccountMatch) => void) | null): Column<AccountMatch>[] => [
  { key: 'name', header: 'Account', fixed: true, cell: (row) => <Link to={`/accounts/${row.account_id}`}>{row.name}</Link> },
  { key: 'place', header: 'Place', wide: true, cell: (row) => <Or value={[row.city, row.state].filter(Boolean).join(', ')} reason="No place is known" /> },
  { key: 'status', header: 'Match', cell: (row) => <Tag tone={statusTone[row.status]}>{statusName(row.status)}</Tag> },
  {
    key: 'official', header: 'District or institution', wide: true,
    cell: (row) => row.official
      ? <span>{row.official.name || 'No longer in the directory'} <span className="dim">{kindOf(row.official)} {row.official.id}{row.method && `, ${methods[row.method] ?? row.method}`}</span></span>
      : row.candidates.length ? <span className="dim">{plural(row.candidates.length, 'candidate')}</span> : <Missing reason="Nothing in the loaded directories fits" />,
  },
  { key: 'when', header: 'Matched', wide: true, extra: true, cell: (row) => <When at={row.matched_at} reason="Not matched" /> },
  ...(decide ? [{ key: 'act', header: 'Decide', align: 'end' as const, cell: (row: AccountMatch) => <Button size="compact-sm" variant="default" onClick={() => decide(row)} aria-label={`Choose the match of ${row.name}`}>Choose</Button> }] : []),
];

function Decision({ match, close }: { match: AccountMatch; close: () => void }) {
  const client = useQueryClient();
  const toasts = useToasts();
  const [chosen, choose] = useState(match.official?.id ?? '');
  const [other, setOther] = useState('');
  const id = chosen === 'other' || !match.candidates.length ? other.trim() : chosen;
  const save = useMutation({
    mutationFn: () => api.post<AccountMatch>(`/api/accounts/${match.account_id}/match`, { official_id: id }),
    onSuccess: () => {
      toasts.good(`${match.name} is matched. Later matching keeps your decision.`);
      for (const key of ['matches', 'accounts', 'account']) void client.invalidateQueries({ queryKey: [key] });
      close();
    },
  });
  const problem = save.error instanceof ApiError ? save.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const field = <TextInput label="NCES district ID (7 digits) or UNITID (6)" inputMode="numeric" maxLength={7} value={other} onChange={(e) => setOther(e.currentTarget.value)} error={problem?.fieldError('official_id')} />;
  return (
    <form className="stack" onSubmit={submit}>
      {problem && problem.errors.length === 0 && <Note tone="bad" title="Not saved.">{problem.detail}</Note>}
      <span className="dim">{[match.city, match.state].filter(Boolean).join(', ') || 'The CRM gives no place'}{match.nces_id && `, NCES ${match.nces_id}`}{match.unitid && `, UNITID ${match.unitid}`}</span>
      {match.candidates.length > 0 ? (
        <Radio.Group label="Candidates" value={chosen} onChange={choose}>
          <div className="stack tight" style={{ marginTop: 8 }}>
            {match.candidates.map((c) => <Radio key={c.id} value={c.id} label={c.name} description={`${kindOf(c)} ${c.id}, ${place(c)}${c.closed ? ', closed' : ''}`} />)}
            <Radio value="other" label="Another one" />
            {chosen === 'other' && field}
          </div>
        </Radio.Group>
      ) : field}
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={close}>Cancel</Button>
        <Button type="submit" disabled={id.length < 6} loading={save.isPending}>Save match</Button>
      </div>
    </form>
  );
}
