import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { api } from '../api/client';
import type { Dashboard as DashboardData } from '../api/types';
import { Empty, Loading, Missing, Money, Page, Panel, Problem, Tag, When } from '../components/basics';
import type { Tone } from '../components/icons';
import { count, percent, plural, words } from '../lib/format';

export default function Dashboard() {
  const query = useQuery({ queryKey: ['dashboard'], queryFn: ({ signal }) => api.get<DashboardData>('/api/dashboard', undefined, signal) });
  return (
    <Page title="Command Center" about={query.data && <>As of <When at={query.data.as_of} /></>}>
      {query.isPending && <Loading lines={6} />}
      {query.isError && <Problem what="The figures could not be loaded" error={query.error} retry={() => void query.refetch()} />}
      {query.data && <Figures data={query.data} />}
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

const later = 'Not available yet';

function Figures({ data }: { data: DashboardData }) {
  return (
    <>
      <dl className="tiles" style={{ margin: 0 }}>
        <Tile label="ARR" value={<Money cents={data.arr_cents} currency={data.currency} short reason="No subscription is known" />} sub="in force now" />
        <Tile label="Open pipeline" value={<Money cents={data.pipeline_cents} currency={data.currency} short reason="No open opportunity is known" />} sub="all open opportunities" />
        <Tile label="Net revenue retention" value={data.nrr === null ? <Missing reason={nrrReason(data.nrr_reason)} /> : percent(data.nrr, 1)} sub={data.nrr === null ? nrrReason(data.nrr_reason) : 'last 12 months'} />
        <Tile label="Accounts at risk" value={data.at_risk_accounts === null ? <Missing reason={later} /> : count(data.at_risk_accounts)} sub={<Link to="/accounts?sort=risk">Accounts by risk</Link>} />
        {data.active_signal_count !== null && <Tile label="Active signals" value={count(data.active_signal_count)} />}
        {data.forecast_health !== null && <Tile label="Forecast" value={words(data.forecast_health)} />}
      </dl>
      <Readiness data={data.data_readiness} />
    </>
  );
}

function nrrReason(reason: string | null): string {
  if (!reason) return later;
  return /^[a-z_]+$/.test(reason) ? words(reason) : reason;
}

const levels: Record<DashboardData['data_readiness']['level'], { tone: Tone; text: string }> = {
  ready: { tone: 'good', text: 'Scores can be relied on.' },
  degraded: { tone: 'warn', text: 'Scores work, with gaps: mend the issues below to raise confidence.' },
  blocked: { tone: 'bad', text: 'Scores cannot be relied on until the issues below are mended.' },
};

function Readiness({ data }: { data: DashboardData['data_readiness'] }) {
  const level = levels[data.level];
  return (
    <Panel title="Data readiness" actions={<Tag tone={level.tone}>{words(data.level)}</Tag>}>
      <p style={{ marginTop: 0 }}>
        {count(data.scoring_ready_accounts)} of {plural(data.total_accounts, 'account')} are ready for scoring. {level.text}
      </p>
      {data.total_accounts === 0 && <Empty title="No accounts yet" action={<Link to="/settings/connectors">Connect a CRM</Link>} />}
      {data.blocking_issues.length > 0 && (
        <div className="plain-scroll">
          <table className="table" aria-label="Data issues">
            <thead><tr><th scope="col">Issue</th><th scope="col" data-align="end">Accounts</th><th scope="col" data-align="end">Share</th><th scope="col">Severity</th></tr></thead>
            <tbody>
              {data.blocking_issues.map((issue) => (
                <tr key={issue.code}>
                  <td>{issueName[issue.code] ?? words(issue.code)}</td>
                  <td data-align="end">{count(issue.count)}</td>
                  <td data-align="end">{percent(issue.share, 1)}</td>
                  <td><Tag tone={severityTone(issue.severity)}>{words(issue.severity)}</Tag></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

const issueName: Record<string, string> = {
  no_contacts: 'No contact with an e-mail or phone',
  no_recent_activity: 'No activity in 90 days',
  missing_segment: 'No segment',
  zero_arr: 'Customer without ARR',
  score_imbalance: 'Scores that contradict or rest on little data',
  negative_arr: 'Negative ARR',
};

function severityTone(severity: string): Tone {
  const s = severity.toUpperCase();
  return s === 'CRITICAL' || s === 'BLOCKING' ? 'bad' : s === 'WARNING' ? 'warn' : 'info';
}
