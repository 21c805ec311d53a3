import { Drawer, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { GovernanceEntry, GovernancePage } from '../api/types';
import { Empty, Facts, Note, Or, Page, Tag, When } from '../components/basics';
import { DataTable, type Column } from '../components/DataTable';
import { SearchField } from '../components/SearchField';
import { exact, words } from '../lib/format';
import { useCursorList } from '../lib/list';
import { useUrlState } from '../lib/url';

// The service takes instants; people choose days of their own calendar.
const instant = (day: string, end: boolean) => {
  const at = new Date(`${day}T${end ? '23:59:59.999' : '00:00:00'}`);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
};

export default function GovernanceLog() {
  const { get, set } = useUrlState();
  const [entry, setEntry] = useState<GovernanceEntry | null>(null);
  const since = get('since');
  const until = get('until');
  const filters = { tool: get('tool'), actor: get('actor'), subject_id: get('subject_id'), since: since && instant(since, false), until: until && instant(until, true) };
  const list = useCursorList<GovernancePage, GovernanceEntry>('governance', '/api/governance-log', filters, (page) => page.entries);
  return (
    <Page title="Governance log" about="Every write, by people and by assistants. Entries cannot be changed or removed.">
      {list.first && (list.first.chain_ok
        ? <Note tone="good">The chain of entries is intact.</Note>
        : <Note tone="bad" title="The chain of entries is broken.">An entry was changed or removed outside RevArch. Tell your operator.</Note>)}
      <DataTable
        name="Governance log"
        columns={columns}
        list={list}
        rowKey={(e) => e.entry_id}
        rowName={(e) => e.tool}
        onOpen={setEntry}
        filters={
          <>
            <SearchField label="Tool" value={filters.tool} onChange={(tool) => set({ tool })} width={150} />
            <SearchField label="Actor" value={filters.actor} onChange={(actor) => set({ actor })} width={150} />
            <SearchField label="Subject ID" value={filters.subject_id} onChange={(subject_id) => set({ subject_id })} width={150} />
            <TextInput type="date" aria-label="From day" value={since} onChange={(e) => set({ since: e.currentTarget.value })} />
            <TextInput type="date" aria-label="To day" value={until} onChange={(e) => set({ until: e.currentTarget.value })} />
          </>
        }
        empty={<Empty title="No entries">Writes made here, over REST or by an assistant appear here.</Empty>}
      />
      <Drawer opened={entry !== null} onClose={() => setEntry(null)} position="right" size="lg" title="Log entry" closeButtonProps={{ 'aria-label': 'Close entry' }}>
        {entry && <Entry entry={entry} />}
      </Drawer>
    </Page>
  );
}

const columns: Column<GovernanceEntry>[] = [
  { key: 'at', header: 'When', fixed: true, cell: (e) => <When at={e.at} /> },
  { key: 'tool', header: 'Action', cell: (e) => e.tool },
  { key: 'outcome', header: 'Outcome', cell: (e) => <Outcome of={e.outcome} /> },
  { key: 'actor', header: 'Actor', cell: (e) => <span>{e.actor}{e.key_prefix && <span className="dim"> {e.key_prefix}</span>}</span> },
  { key: 'surface', header: 'Through', wide: true, cell: (e) => e.surface.toUpperCase() },
  { key: 'subject', header: 'Subject', wide: true, cell: (e) => <Or value={e.subject_type && words(e.subject_type)} /> },
  { key: 'reason', header: 'Reason', wide: true, cell: (e) => <Or value={e.reason} reason="No reason was given" /> },
];

/** Whether the write was made: one that was denied or failed changed nothing. */
function Outcome({ of }: { of: string }) {
  return <Tag tone={of === 'ok' ? 'good' : of === 'denied' ? 'bad' : 'warn'}>{of === 'ok' ? 'Done' : words(of)}</Tag>;
}

function Entry({ entry }: { entry: GovernanceEntry }) {
  return (
    <div className="stack">
      <Facts items={[
        ['When', exact(entry.at)], ['Action', entry.tool], ['Outcome', <Outcome key="o" of={entry.outcome} />], ['Actor', `${entry.actor} (${words(entry.actor_kind).toLowerCase()})`],
        ['Key', <Or key="k" value={entry.key_prefix} reason="Not made with a key" />], ['Through', entry.surface.toUpperCase()],
        ['Subject', <Or key="s" value={entry.subject_type && `${words(entry.subject_type)} ${entry.subject_id ?? ''}`} />],
        ['Reason', <Or key="r" value={entry.reason} reason="No reason was given" />], ['Request', <Or key="q" value={entry.request_id} />],
      ]} />
      <section><h3>Before</h3><pre className="code">{entry.before == null ? 'Nothing' : JSON.stringify(entry.before, null, 2)}</pre></section>
      <section><h3>After</h3><pre className="code">{entry.after == null ? 'Nothing' : JSON.stringify(entry.after, null, 2)}</pre></section>
      <section><h3>Hash</h3><span className="mono">{entry.hash}</span></section>
    </div>
  );
}
