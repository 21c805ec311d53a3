import { Button, Drawer } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../../api/client';
import { paths, type Signal, type SignalPage, type SignalStatus } from '../../api/expansion';
import { basisText, columns, priceText, readinessOf, statusLabel, statusTone, strongest } from '../../lib/expansionBoard';
import { loadedSignal, signalKey } from '../../lib/expansionMoves';
import { count, decimal, percent, plural } from '../../lib/format';
import { Empty, Facts, Loading, Missing, Money, Or, Problem, Tag, When, Wide } from '../basics';

/** What a link names a signal by: the service finds it by account and product. */
export const signalRef = (s: Signal) => [s.id, s.account.id, s.product.id].join('~');

/** Everything that is known of one signal: where it stands, what it is worth, why it is there, what speaks against it. */
export function SignalPanel({ of, currency, may, close, move }: { of: string; currency: string; may: boolean; close: () => void; move: (s: Signal, to: SignalStatus) => void }) {
  const client = useQueryClient();
  const [id = '', account_id = '', product_id = ''] = of.split('~');
  const query = useQuery({
    queryKey: signalKey(id),
    queryFn: async ({ signal }) => (await api.get<SignalPage>(paths.signals, { account_id, product_id, limit: 200 }, signal)).signals.find((s) => s.id === id) ?? null,
    enabled: of !== '',
    initialData: () => loadedSignal(client, id),
  });
  const s = query.data;
  return (
    <Drawer opened={of !== ''} onClose={close} position="right" size="lg" title={s ? `${s.product.name} for ${s.account.name}` : 'Signal'} closeButtonProps={{ 'aria-label': 'Close signal' }}>
      {query.isError && <Problem what="The signal could not be loaded" error={query.error} retry={() => void query.refetch()} />}
      {of !== '' && query.isPending && <Loading lines={8} />}
      {s === null && <Empty title="This signal is gone">It was pending and the last generation did not find it again.</Empty>}
      {s && (
        <div className="stack">
          <div className="row"><Tag tone={statusTone[s.status]}>{statusLabel(s.status)}</Tag><Link to={`/accounts/${s.account.id}`}>Open {s.account.name}</Link></div>
          {may && <div className="row" role="group" aria-label="Move to">{columns.filter((c) => c.status !== s.status).map((c) => <Button key={c.status} variant="default" onClick={() => move(s, c.status)}>Move to {c.label.toLowerCase()}</Button>)}</div>}
          <Worth s={s} currency={currency} />
          <Readiness s={s} />
          <Evidence s={s} />
          <Facts items={[
            ['Segment', <Or key="s" value={s.account.segment} reason="No segment is set" />],
            ['State', <Or key="t" value={s.account.state} reason="No state is known" />],
            ['Territory', <Or key="r" value={s.account.territory} reason="In no territory" />],
            ['Found', <When key="f" at={s.created_at} />],
            ['Moved', <When key="m" at={s.status_changed_at} reason="Not moved yet" />],
            ['Moved by', <Or key="b" value={s.status_changed_by} reason="Not moved yet" />],
            ...(s.reason ? [['Reason', s.reason] as [string, string]] : []),
          ]} />
        </div>
      )}
    </Drawer>
  );
}

function Worth({ s, currency }: { s: Signal; currency: string }) {
  return (
    <section className="stack tight">
      <h3>What it is worth</h3>
      <Facts items={[
        ['Probability', percent(s.probability, 1)],
        ['Estimated ARR', <Money key="e" cents={s.estimated_arr_cents} currency={currency} reason="Unpriced: no owner’s price and no list price" />],
        ['Expected ARR', <Money key="x" cents={s.expected_arr_cents} currency={currency} reason="Unpriced" />],
        ['Priority', s.priority_score === null ? <Missing key="p" reason="No part of it is known" /> : decimal(s.priority_score)],
        ['Days to renewal', <Or key="d" value={s.days_to_renewal === null ? null : count(s.days_to_renewal)} reason="No renewal date is known" />],
      ]} />
      <span className="dim">Price: {priceText(s)}. Priority from {s.priority_basis.length ? basisText(s.priority_basis) : 'nothing that is known'}{s.readiness === 'not_ready' && ', halved because the account is not ready'}.</span>
    </section>
  );
}

function Readiness({ s }: { s: Signal }) {
  const { failed, unknown } = readinessOf(s);
  return (
    <section className="stack tight">
      <h3>Readiness</h3>
      <div className="row">{s.readiness === 'ready' ? <Tag tone="good">Ready</Tag> : <Tag tone="warn">Not ready</Tag>}{failed.map((f) => <span key={f}>{f}</span>)}</div>
      {unknown.length > 0 && <span className="dim">Passed because nobody knows: {unknown.join(', ')}.</span>}
    </section>
  );
}

function Evidence({ s }: { s: Signal }) {
  return (
    <section className="stack tight">
      <h3>Why</h3>
      <span className="dim">{s.account.name} owns {plural(s.antecedents.length, 'product')} whose owners in {s.evidence_segment === 'all' ? 'all segments' : s.evidence_segment} also own {s.product.name} more often than others.</span>
      <Wide label="What speaks for it">
        <table className="table" aria-label="What speaks for it">
          <thead><tr><th scope="col">Owned</th><th scope="col" data-align="end">Share of the case</th><th scope="col" data-align="end">Probability given it</th><th scope="col" data-align="end">Lift</th><th scope="col" data-align="end">Weight</th></tr></thead>
          <tbody>
            {strongest(s.antecedents).map((a) => (
              <tr key={a.product.id}>
                <td><Link to={`/expansion/affinity?cell=${a.product.id}~${s.product.id}${s.evidence_segment === 'all' ? '' : `&segment=${s.evidence_segment}`}`}>{a.product.name}</Link></td>
                <td data-align="end">{percent(a.share)}</td><td data-align="end">{percent(a.probability)}</td><td data-align="end">{decimal(a.lift, 2)}</td><td data-align="end">{decimal(a.weight, 2)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  );
}
