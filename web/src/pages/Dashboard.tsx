import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, type ReactNode } from 'react';
import { Link } from 'react-router';
import { api } from '../api/client';
import type { Dashboard as DashboardData } from '../api/types';
import { Loading, Missing, Money, Page, Problem, When } from '../components/basics';
import { ReadinessPanel } from '../components/ReadinessPanel';
import { count, exact, percent, plural, words } from '../lib/format';
import { useUrlState } from '../lib/url';

const AffectedAccounts = lazy(() => import('../components/AffectedAccounts'));

export default function Dashboard() {
  const { get } = useUrlState();
  const query = useQuery({ queryKey: ['dashboard'], queryFn: ({ signal }) => api.get<DashboardData>('/api/dashboard', undefined, signal) });
  return (
    <Page title="Command Center" about={query.data && <>As of <When at={query.data.as_of} /></>}>
      {query.isPending && <Loading lines={6} />}
      {query.isError && <Problem what="The figures could not be loaded" error={query.error} retry={() => void query.refetch()} />}
      {query.data && <Figures data={query.data} />}
      {get('issue') && <Suspense fallback={<Loading />}><AffectedAccounts /></Suspense>}
    </Page>
  );
}

function Tile({ label, value, sub }: { label: string; value: ReactNode; sub?: ReactNode }) {
  return (
    <div className="panel tile">
      <dt className="label">{label}</dt>
      <dd style={{ margin: 0 }}>
        <div className="value">{value}</div>
        {sub && <div className="sub">{sub}</div>}
      </dd>
    </div>
  );
}

function Figures({ data }: { data: DashboardData }) {
  return (
    <>
      <dl className="tiles" style={{ margin: 0 }}>
        <Tile label="ARR" value={<Money cents={data.arr_cents} currency={data.currency} short reason={reasonText(data.arr_reason)} />} sub={data.arr_cents === null ? reasonText(data.arr_reason) : data.arr_as_of ? `in force on ${exact(data.arr_as_of)}` : 'in force now'} />
        <Tile label="Open pipeline" value={<Money cents={data.pipeline_cents} currency={data.currency} short reason={reasonText(data.pipeline_reason)} />} sub={data.opp_count === null ? reasonText(data.pipeline_reason) : pipelineNote(data)} />
        <Tile label="Net revenue retention" value={data.nrr === null ? <Missing reason={reasonText(data.nrr_reason)} /> : percent(data.nrr, 1)} sub={data.nrr === null ? reasonText(data.nrr_reason) : data.nrr_low_n ? 'last 12 months, few accounts' : 'last 12 months'} />
        <Tile label="Accounts at risk" value={data.at_risk_accounts === null ? <Missing reason={reasonText(data.at_risk_reason)} /> : count(data.at_risk_accounts)} sub={<Link to="/accounts?sort=risk">Accounts by risk</Link>} />
        {data.active_signal_count !== null && <Tile label="Active signals" value={count(data.active_signal_count)} />}
        {data.forecast_health !== null && <Tile label="Forecast" value={words(data.forecast_health)} />}
      </dl>
      <ReadinessPanel data={data.data_readiness} />
    </>
  );
}

function pipelineNote(data: DashboardData): string {
  const open = plural(data.opp_count ?? 0, 'open opportunity', 'open opportunities');
  return data.opp_count_no_amount ? `${open}, ${count(data.opp_count_no_amount)} without an amount` : open;
}

const reasons: Record<string, string> = {
  not_available: 'Not available yet',
  no_history: 'Needs a year of subscription history',
  no_data: 'Nothing is synced yet',
  no_subscriptions: 'No subscription is known',
  no_opportunities: 'No open opportunity is known',
  not_scored: 'No account is scored yet',
  low_n: 'Too few accounts',
};
const reasonText = (reason: string | null) => (reason ? (reasons[reason] ?? words(reason)) : 'Not known');
