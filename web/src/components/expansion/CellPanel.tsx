import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { api } from '../../api/client';
import { paths, type AffinityEntry, type AffinityPage, type ProductRef, type Scope } from '../../api/expansion';
import { affinityReason, methodName, probability } from '../../lib/expansionAffinity';
import { expansionKey } from '../../lib/expansionRuns';
import { count, decimal, percent } from '../../lib/format';
import { Empty, Facts, Loading, Missing, Note, Problem, Tag } from '../basics';

/** The numbers behind one cell, in both directions. Pairs that nobody owns together are asked for when they are opened. */
export function CellPanel({ a, b, forth, back, segment }: { a: ProductRef; b: ProductRef; forth: AffinityEntry | undefined; back: AffinityEntry | undefined; segment: Scope }) {
  const same = a.id === b.id;
  const rare = useQuery({
    queryKey: [...expansionKey, 'pair', segment, a.id, b.id],
    queryFn: ({ signal }) => api.get<AffinityPage>(paths.affinity, { segment, product_id: a.id, include_zero: true }, signal),
    enabled: !same && (!forth || !back),
  });
  if (same) return <Empty title="The same product">An account owns a product once, whatever the number of its lines.</Empty>;
  const find = (x: ProductRef, y: ProductRef) => rare.data?.matrix.find((e) => e.product_a.id === x.id && e.product_b.id === y.id);
  const there = forth ?? find(a, b);
  const here = back ?? find(b, a);
  if (rare.isError) return <Problem what="The pair could not be loaded" error={rare.error} retry={() => void rare.refetch()} />;
  if (!there || !here) return rare.isPending ? <Loading lines={6} /> : <Empty title="No numbers for this pair">It was not part of the last computation.</Empty>;
  return (
    <div className="stack">
      <div className="stack tight">
        <Sentence entry={there} />
        <Sentence entry={here} />
      </div>
      {there.bundle && <Note tone="info" title="Sold as a bundle.">At least 90% of those who own both bought them together in one order. The pair gives no signals.</Note>}
      <Directions there={there} here={here} />
      <Facts items={[
        ['Accounts', count(there.n)], [`Own ${a.name}`, count(there.n_a)], [`Own ${b.name}`, count(there.n_b)], ['Own both', count(there.n_ab)],
        ['Support', <Value key="s" entry={there} of="support" show={(v) => percent(v, 1)} />],
        ['Leverage', <Value key="l" entry={there} of="leverage" show={(v) => decimal(v, 4)} />],
        ['Jaccard', <Value key="j" entry={there} of="jaccard" show={(v) => decimal(v, 3)} />],
        ['Phi', <Value key="f" entry={there} of="phi" show={(v) => decimal(v, 3)} />],
        ['Chi-square', <Value key="c" entry={there} of="chi_square" show={(v) => decimal(v, 1)} />],
        ['p', <Value key="p" entry={there} of="p_value" show={probability} />],
        ['q', <Value key="q" entry={there} of="q_value" show={probability} />],
        ['Test', there.p_method ? methodName(there.p_method) : <Missing key="m" reason="Nothing to test" />],
      ]} />
      <span className="dim">q is p corrected for the number of pairs tested (Benjamini-Hochberg); 0.05 and below is significant.</span>
      <Link to={`/expansion/board?product_id=${b.id}`}>Signals for {b.name}</Link>
    </div>
  );
}

function Sentence({ entry: e }: { entry: AffinityEntry }) {
  return (
    <span>
      Of {count(e.n_a)} owners of <strong>{e.product_a.name}</strong>, {count(e.n_ab)} also own <strong>{e.product_b.name}</strong>
      {e.confidence !== null && ` (${percent(e.confidence)})`}{e.n > 0 && `; of all accounts ${percent(e.n_b / e.n)} do`}.
    </span>
  );
}

function Directions({ there, here }: { there: AffinityEntry; here: AffinityEntry }) {
  const rows: [string, (e: AffinityEntry) => ReactNode][] = [
    ['Significant', (e) => (e.significant ? <Tag tone="good">Yes</Tag> : <Tag tone="none">No</Tag>)],
    ['Lift', (e) => <Value entry={e} of="lift" show={(v) => decimal(v, 2)} />],
    ['Cross-sell probability', (e) => <Value entry={e} of="cross_sell_probability" show={(v) => percent(v, 1)} />],
    ['Confidence', (e) => <Value entry={e} of="confidence" show={(v) => percent(v, 1)} />],
    ['Conviction', (e) => <Value entry={e} of="conviction" show={(v) => decimal(v, 2)} />],
    ['Had the first one first', (e) => <Value entry={e} of="lead_share" show={(v) => percent(v)} />],
  ];
  const why = [there, here].filter((e) => !e.significant && e.reason);
  return (
    <div className="stack tight">
      <table className="table tight" aria-label="Both directions">
        <thead><tr><th scope="col">Measure</th><th scope="col" data-align="end">{there.product_a.name} → {there.product_b.name}</th><th scope="col" data-align="end">{here.product_a.name} → {here.product_b.name}</th></tr></thead>
        <tbody>{rows.map(([label, show]) => <tr key={label}><th scope="row">{label}</th><td data-align="end">{show(there)}</td><td data-align="end">{show(here)}</td></tr>)}</tbody>
      </table>
      {why.map((e) => <span key={e.product_a.id} className="dim">{e.product_a.name} → {e.product_b.name} is not significant: {affinityReason(e.reason)}.</span>)}
    </div>
  );
}

type Name = 'support' | 'confidence' | 'lift' | 'leverage' | 'conviction' | 'jaccard' | 'phi' | 'chi_square' | 'p_value' | 'q_value' | 'lead_share' | 'cross_sell_probability';

/** A measure, or a dash that says why there is none. */
export function Value({ entry, of, show }: { entry: AffinityEntry; of: Name; show: (v: number) => string }) {
  const value = entry[of];
  const why = affinityReason(entry.null_reasons?.[of] ?? entry.reason);
  return value === null ? <Missing reason={why.charAt(0).toUpperCase() + why.slice(1)} /> : <>{show(value)}</>;
}
