import type { ReactNode } from 'react';
import type { SignalKpi } from '../../api/expansion';
import { suppressedOf } from '../../lib/expansionBoard';
import { count, percent, plural } from '../../lib/format';
import { Missing, Money } from '../basics';

/** The figures over all signals of the organization, whatever the board is narrowed to. */
export function KpiTiles({ kpi }: { kpi: SignalKpi | undefined }) {
  if (!kpi) return <div className="tiles kpis" aria-hidden="true">{Array.from({ length: 5 }, (_, i) => <div key={i} className="panel tile"><span className="skeleton" style={{ width: '60%' }} /></div>)}</div>;
  const { total, owned, reasons } = suppressedOf(kpi.suppressed);
  return (
    <div className="tiles kpis" role="group" aria-label="Figures over all signals">
      <Tile label="Pending" value={count(kpi.total_pending)} sub={kpi.unpriced > 0 ? `${count(kpi.unpriced)} without a price` : 'all priced'} />
      <Tile label="Pipeline" value={<Money cents={kpi.pipeline_arr_cents} currency={kpi.currency} short />} sub="probability x ARR, pending" />
      <Tile label="Won" value={<Money cents={kpi.won_arr_cents} currency={kpi.currency} short />} sub={`estimated ARR of ${plural(kpi.by_status.won, 'signal')}`} />
      <Tile label="Conversion" value={kpi.conversion === null ? <Missing reason="Nothing is won or dismissed yet" /> : percent(kpi.conversion)} sub="won of won and dismissed" />
      <div className="panel tile suppressed">
        <div className="label">Held back</div>
        <div className="value">{kpi.generated_at ? count(total) : <Missing reason="Signals were not generated yet" />}</div>
        {kpi.generated_at && (
          <details>
            <summary>by reason</summary>
            <dl>
              {reasons.map((r) => <div key={r.key}><dt>{r.label}</dt><dd>{count(r.value)}</dd></div>)}
              <div className="dim"><dt>Owned already, not counted</dt><dd>{count(owned)}</dd></div>
            </dl>
          </details>
        )}
      </div>
    </div>
  );
}

function Tile({ label, value, sub }: { label: string; value: ReactNode; sub: string }) {
  return <div className="panel tile"><div className="label">{label}</div><div className="value">{value}</div><div className="sub">{sub}</div></div>;
}
