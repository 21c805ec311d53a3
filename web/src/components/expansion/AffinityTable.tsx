import type { ReactNode } from 'react';
import { paths, type AffinityEntry, type AffinityPage, type Scope } from '../../api/expansion';
import { affinityReason, probability } from '../../lib/expansionAffinity';
import { count, decimal, percent } from '../../lib/format';
import { useCursorList } from '../../lib/list';
import { Empty, Tag } from '../basics';
import { DataTable, type Column } from '../DataTable';
import { Value } from './CellPanel';

/** The heat map as rows, highest lift first. */
export function AffinityTable({ segment, onlySignificant, filters, empty, onOpen }: { segment: Scope; onlySignificant: boolean; filters: ReactNode; empty: ReactNode; onOpen: (e: AffinityEntry) => void }) {
  const list = useCursorList<AffinityPage, AffinityEntry>('expansion', paths.affinity, { segment, significant: onlySignificant ? true : undefined, limit: 200 }, (page) => page.matrix);
  return (
    <DataTable
      name="Affinity" columns={columns} list={list} rowKey={(e) => `${e.product_a.id}~${e.product_b.id}`} rowName={(e) => `${e.product_a.name} and ${e.product_b.name}`} onOpen={onOpen} filters={filters}
      empty={onlySignificant ? <Empty title="No significant pair">Show all pairs to see those that may be chance.</Empty> : empty}
    />
  );
}

const columns: Column<AffinityEntry>[] = [
  { key: 'a', header: 'Owners of', fixed: true, cell: (e) => e.product_a.name },
  { key: 'b', header: 'Also own', fixed: true, cell: (e) => <span className="row" style={{ flexWrap: 'nowrap' }}>{e.product_b.name}{e.bundle && <Tag tone="info">Bundle</Tag>}</span> },
  { key: 'lift', header: 'Lift', align: 'end', cell: (e) => <Value entry={e} of="lift" show={(v) => decimal(v, 2)} /> },
  { key: 'cross', header: 'Cross-sell', align: 'end', wide: true, cell: (e) => <Value entry={e} of="cross_sell_probability" show={(v) => percent(v, 1)} /> },
  { key: 'confidence', header: 'Confidence', align: 'end', wide: true, cell: (e) => <Value entry={e} of="confidence" show={(v) => percent(v, 1)} /> },
  { key: 'support', header: 'Support', align: 'end', wide: true, extra: true, cell: (e) => <Value entry={e} of="support" show={(v) => percent(v, 1)} /> },
  { key: 'phi', header: 'Phi', align: 'end', wide: true, extra: true, cell: (e) => <Value entry={e} of="phi" show={(v) => decimal(v, 3)} /> },
  { key: 'n_ab', header: 'Own both', align: 'end', wide: true, cell: (e) => count(e.n_ab) },
  { key: 'n_a', header: 'Own the first', align: 'end', wide: true, extra: true, cell: (e) => count(e.n_a) },
  { key: 'n_b', header: 'Own the second', align: 'end', wide: true, extra: true, cell: (e) => count(e.n_b) },
  { key: 'p', header: 'p', align: 'end', wide: true, extra: true, cell: (e) => <Value entry={e} of="p_value" show={probability} /> },
  { key: 'q', header: 'q', align: 'end', wide: true, cell: (e) => <Value entry={e} of="q_value" show={probability} /> },
  { key: 'lead', header: 'First had first', align: 'end', wide: true, cell: (e) => <Value entry={e} of="lead_share" show={(v) => percent(v)} /> },
  { key: 'significant', header: 'Significant', wide: true, wrap: true, cell: (e) => (e.significant ? <Tag tone="good">Yes</Tag> : <span className="row"><Tag tone="none">No</Tag><span className="dim">{affinityReason(e.reason)}</span></span>) },
];
