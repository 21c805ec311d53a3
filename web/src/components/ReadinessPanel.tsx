import { Link } from 'react-router';
import type { Readiness } from '../api/types';
import { count, percent, plural, words } from '../lib/format';
import { issueName, levels } from '../lib/readiness';
import { useUrlState } from '../lib/url';
import { Empty, Panel, Tag, Wide } from './basics';
import { ScoreNow } from './ScoreNow';

/** How far the data carries the scores, and what stands in the way. An issue opens the accounts it is about. */
export function ReadinessPanel({ data }: { data: Readiness }) {
  const { get, set } = useUrlState();
  if (data.total_accounts === 0) {
    return <Panel title="Data readiness"><Empty title="No accounts yet" action={<Link to="/settings/connectors">Connect a CRM</Link>}>Readiness is measured once accounts are synced and tracked.</Empty></Panel>;
  }
  const level = levels[data.level];
  return (
    <Panel flush title={<>Data readiness <Tag tone={level.tone}>{words(data.level)}</Tag></>} actions={<ScoreNow />}>
      <p style={{ margin: 0, padding: '12px 16px' }}>
        {count(data.scoring_ready_accounts)} of {plural(data.total_accounts, 'account')} {data.scoring_ready_share !== null && `(${percent(data.scoring_ready_share)}) `}are ready for scoring. {level.text} {data.reasons.map(words).join('. ')}
      </p>
      {data.blocking_issues.length > 0 && (
        <Wide label="Data issues">
          <table className="table" aria-label="Data issues">
            <thead><tr><th scope="col">Issue</th><th scope="col" data-align="end">Accounts</th><th scope="col" data-align="end">Share</th><th scope="col" className="hide-phone">Severity</th></tr></thead>
            <tbody>
              {data.blocking_issues.map((issue) => (
                <tr key={issue.code} data-selected={get('issue') === issue.code || undefined}>
                  <td>
                    <div className="row">
                      <button type="button" className="link" aria-pressed={get('issue') === issue.code} onClick={() => set({ issue: get('issue') === issue.code ? null : issue.code }, { push: true })}>{issueName[issue.code] ?? words(issue.code)}</button>
                    </div>
                  </td>
                  <td data-align="end">{count(issue.count)}</td>
                  <td data-align="end">{percent(issue.share, 1)}</td>
                  <td className="hide-phone"><Tag tone={issue.severity === 'blocking' ? 'bad' : 'warn'}>{words(issue.severity)}</Tag></td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </Panel>
  );
}
