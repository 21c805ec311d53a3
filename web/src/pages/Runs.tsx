import { Anchor, Button, Drawer } from '@mantine/core';
import { Link } from 'react-router';
import type { Run, RunPage } from '../api/types';
import { Bar, Empty, Or, Page, Tag, When } from '../components/basics';
import { DataTable, type Column } from '../components/DataTable';
import { FilterSelect } from '../components/FilterSelect';
import { RunView } from '../components/RunView';
import { duration, words } from '../lib/format';
import { useCursorList } from '../lib/list';
import { fraction, isActive, kindName, progressText, runTitle, runTone } from '../lib/runs';
import { useUrlState } from '../lib/url';

const statuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];

export default function Runs() {
  const { get, set } = useUrlState();
  const filters = { status: get('status'), kind: get('kind') };
  const list = useCursorList<RunPage, Run>('runs', '/api/runs', filters, (page) => page.runs, { refetchInterval: 8_000 });
  const kinds = [...new Set([...list.rows.map((r) => r.kind), ...(filters.kind ? [filters.kind] : [])])].sort();
  const open = (run: Run) => set({ run: run.id }, { push: true });
  const id = get('run');
  return (
    <Page title="Runs" about="Syncs, imports and computations: what is at work and what was done.">
      <DataTable
        name="Runs"
        columns={columns(open)}
        list={list}
        rowKey={(run) => run.id}
        rowName={runTitle}
        onOpen={open}
        filters={
          <>
            <FilterSelect label="Status" all="All statuses" choices={statuses.map((value) => ({ value, label: words(value) }))} value={filters.status} onChange={(status) => set({ status })} />
            <FilterSelect label="Kind" all="All kinds" choices={kinds.map((value) => ({ value, label: kindName(value) }))} value={filters.kind} onChange={(kind) => set({ kind })} />
          </>
        }
        empty={filters.status || filters.kind
          ? <Empty title="No run matches these filters" action={<Button variant="default" onClick={() => set({ status: null, kind: null })}>Clear filters</Button>} />
          : <Empty title="Nothing has run yet" action={<Button component={Link} to="/settings/connectors">Connect a CRM</Button>}>A run starts when you sync a connector.</Empty>}
      />
      <Drawer opened={Boolean(id)} onClose={() => set({ run: null })} position="right" size="lg" title="Run" closeButtonProps={{ 'aria-label': 'Close run' }}>
        <div className="stack">
          <Anchor component={Link} to={`/runs/${id}`} size="sm">Open as a page</Anchor>
          {id && <RunView key={id} id={id} />}
        </div>
      </Drawer>
    </Page>
  );
}

function took(run: Run): string | null {
  if (!run.started_at || !run.finished_at) return null;
  return duration((Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000);
}

const columns = (open: (run: Run) => void): Column<Run>[] => [
  {
    key: 'run', header: 'Run', fixed: true,
    cell: (run) => (
      <Link to={`/runs/${run.id}`} onClick={(event) => { if (!event.metaKey && !event.ctrlKey && !event.shiftKey) { event.preventDefault(); open(run); } }}>{runTitle(run)}</Link>
    ),
  },
  { key: 'status', header: 'Status', cell: (run) => <Tag tone={runTone[run.status]}>{words(run.status)}</Tag> },
  {
    key: 'progress', header: 'Progress', wide: true, width: 260,
    cell: (run) => (isActive(run) ? <div><Bar value={fraction(run)} /><span className="dim" style={{ fontSize: '0.75rem' }}>{progressText(run)}</span></div> : <span className="dim">{run.error?.message ?? progressText(run)}</span>),
  },
  { key: 'started', header: 'Started', cell: (run) => <When at={run.started_at} reason="Not started yet" /> },
  { key: 'took', header: 'Took', align: 'end', wide: true, cell: (run) => <Or value={took(run)} reason="Not finished" /> },
  { key: 'by', header: 'Started by', wide: true, cell: (run) => <Or value={run.started_by} reason="Not recorded" /> },
  { key: 'warnings', header: 'Warnings', align: 'end', wide: true, extra: true, cell: (run) => run.warnings.length },
];
