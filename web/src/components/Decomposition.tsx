import { Drawer, Tooltip } from '@mantine/core';
import type { RuleResult, Score, ScoreModel } from '../api/types';
import { decimal, exact, percent, words } from '../lib/format';
import { confidenceTone, fired, isMissing, levelOf, leverText, modelName, ruleName, ruleValue, scoreReason, severity } from '../lib/scores';
import { Bar, Empty, Facts, Missing, Note, Tag, Wide } from './basics';

export function DecompositionDrawer({ model, score, reason, of, onClose, loading }: { model: ScoreModel | null; score: Score | null | undefined; reason?: string | null; of: string; onClose: () => void; loading?: boolean }) {
  return (
    <Drawer opened={model !== null} onClose={onClose} position="right" size="lg" title={model ? `${modelName[model]} score of ${of}` : ''} closeButtonProps={{ 'aria-label': 'Close score' }} zIndex={210}>
      {score ? <Decomposition score={score} /> : !loading && model && <Empty title="No score">{scoreReason(reason)}.</Empty>}
    </Drawer>
  );
}

/** How a score came about: composite, categories, the rules that fired, what would change it most. */
export function Decomposition({ score }: { score: Score }) {
  const triggered = fired(score);
  const rest = score.rule_results.filter((r) => !r.triggered && !isMissing(r));
  const missing = score.rule_results.filter((r) => isMissing(r));
  const level = score.composite_score === null ? null : levelOf(score.model, score.composite_score, score.level);
  return (
    <div className="stack">
      <div className="row apart">
        <div className="row" style={{ gap: 12 }}>
          <span style={{ fontSize: '2.25rem', fontWeight: 600, lineHeight: 1 }} data-testid="composite">
            {score.composite_score === null ? <Missing reason={scoreReason(score.status)} /> : decimal(score.composite_score)}
          </span>
          {level && <Tag tone={level.tone}>{level.word}</Tag>}
        </div>
      </div>
      <Facts items={[
        ['Confidence', <Tag key="c" tone={confidenceTone[score.confidence]}>{words(score.confidence)}</Tag>],
        ['Coverage', <Tooltip key="v" label="The share of the weight that has data"><span>{percent(score.coverage)}</span></Tooltip>],
        ['Rules evaluated', score.rules_evaluated],
        ['Rules triggered', score.rules_triggered.length],
      ]} />
      {score.composite_score === null && <Note tone="warn">{scoreReason(score.status)}. The parts that are known are below.</Note>}

      <section aria-labelledby="decomp-categories">
        <h3 id="decomp-categories">Categories</h3>
        <div className="decomp dim" style={{ fontSize: '0.75rem' }} aria-hidden="true">
          <span>Category</span><span className="end">Score</span><span /><span className="end">Weight</span><span className="end">Data</span>
        </div>
        <ul className="list">
          {score.category_scores.map((c) => (
            <li key={c.category} className="decomp">
              <span>{words(c.category)}</span>
              <span className="end">{c.score === null ? <Missing reason="No rule of this category has data" /> : decimal(c.score, 0)}</span>
              <Bar value={c.score === null ? 0 : c.score / 100} tone={c.score === null ? 'none' : severity(score.model, c.score).tone} />
              <span className="end dim"><span className="sr">weight </span>{decimal(c.weight, 0)}%</span>
              <span className="end dim"><span className="sr">data for </span>{percent(c.coverage)}</span>
            </li>
          ))}
        </ul>
      </section>

      <section aria-labelledby="decomp-fired">
        <h3 id="decomp-fired">Rules that fired ({triggered.length})</h3>
        {triggered.length ? <RuleTable rules={triggered} label="Rules that fired" /> : <p className="dim">No rule reached its threshold.</p>}
      </section>

      {score.levers.length > 0 && (
        <section aria-labelledby="decomp-levers">
          <h3 id="decomp-levers">What would change this most</h3>
          <ul className="list">
            {score.levers.map((lever) => (
              <li key={lever.rule_id} className="row apart">
                <span>{ruleName(lever.rule_id)} <span className="dim">{lever.rule_id}</span></span>
                <span className="dim">{leverText(lever)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}

      <details>
        <summary>Other rules ({rest.length}) and missing values ({missing.length})</summary>
        <div className="stack" style={{ marginTop: 12 }}>
          {rest.length > 0 && <RuleTable rules={rest} label="Other rules" />}
          {missing.length > 0 && (
            <p className="dim">No value for {missing.map((r) => `${ruleName(r.rule_id)} (${r.rule_id})`).join(', ')}. They count neither for nor against.</p>
          )}
        </div>
      </details>

      <Facts items={[
        ['Computation time', `${decimal(score.computation_time_ms, score.computation_time_ms < 10 ? 2 : 0)} ms`],
        ['Computed at', exact(score.computed_at)],
        ['Model version', <span key="v" className="mono">{score.model_version}</span>],
      ]} />
    </div>
  );
}

function RuleTable({ rules, label }: { rules: RuleResult[]; label: string }) {
  return (
    <Wide label={label}>
      <table className="table" aria-label={label}>
        <thead>
          <tr><th scope="col">Rule</th><th scope="col" data-align="end">Value</th><th scope="col" className="hide-phone">Fires when</th><th scope="col" data-align="end">Points</th><th scope="col" className="hide-phone">From</th></tr>
        </thead>
        <tbody>
          {rules.map((r) => (
            <tr key={r.rule_id}>
              <td>{ruleName(r.rule_id)} <span className="dim nowrap">{r.rule_id}</span></td>
              <td data-align="end" className="nowrap">{ruleValue(r.value)}</td>
              <td className="hide-phone nowrap">{r.threshold}</td>
              <td data-align="end" className="nowrap">{decimal(r.contribution)}</td>
              <td className="hide-phone dim">{r.source ?? <Missing reason="The source was not recorded" />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
