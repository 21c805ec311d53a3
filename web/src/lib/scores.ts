import type { Lever, RuleResult, Score, ScoreLevel, ScoreModel } from '../api/types';
import type { Tone } from '../components/icons';
import { decimal, percent } from './format';

export const models: ScoreModel[] = ['health', 'risk', 'priority', 'expansion'];
export const modelName: Record<ScoreModel, string> = { health: 'Health', risk: 'Risk', priority: 'Priority', expansion: 'Expansion' };

export interface Severity { tone: Tone; word: string }

const good: Severity = { tone: 'good', word: 'Good' };
const info: Severity = { tone: 'info', word: 'Watch' };
const warning: Severity = { tone: 'warn', word: 'Warning' };
const critical: Severity = { tone: 'bad', word: 'Critical' };

/** The level a score stands at, by the default thresholds. High priority and expansion are calls to act, not bad news. */
export function severity(model: ScoreModel, score: number): Severity {
  switch (model) {
    case 'health':
      return score < 40 ? critical : score < 60 ? warning : score < 75 ? info : good;
    case 'risk':
      return score >= 75 ? critical : score >= 55 ? warning : score >= 35 ? info : good;
    case 'priority':
      return score >= 85 ? { tone: 'info', word: 'Act first' } : score >= 70 ? { tone: 'info', word: 'Act soon' } : { tone: 'none', word: 'Normal' };
    case 'expansion':
      return score >= 80 ? { tone: 'good', word: 'Ready' } : score >= 65 ? { tone: 'good', word: 'Likely' } : { tone: 'none', word: 'Not yet' };
  }
}

const levels: Record<ScoreLevel, Severity> = { NONE: good, INFO: info, WARNING: warning, CRITICAL: critical };

/** The level that the service gave a score; its own thresholds decide, so ours are only for the parts it gives no level to. */
export function levelOf(model: ScoreModel, score: number, level: string | null | undefined): Severity {
  const given = model === 'health' || model === 'risk' ? levels[level as ScoreLevel] : undefined;
  return given ?? severity(model, score);
}

const reasons: Record<string, string> = {
  not_available: 'This score is not available yet',
  insufficient_data: 'Too little data: under 30% of the weight has a value',
  not_scored: 'Not scored yet: it is scored after the next sync',
};
export const scoreReason = (code: string | null | undefined) => (code ? (reasons[code] ?? code.replaceAll('_', ' ')) : 'Not scored yet');

export const fired = (score: Score) =>
  score.rule_results
    .filter((r) => r.triggered)
    .sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
export const isMissing = (rule: RuleResult) => rule.missing;

/** What acting on a lever would do: move the score, or give it the data it lacks. */
export function leverText(lever: Lever): string {
  const points = `${lever.points > 0 ? '+' : lever.points < 0 ? '−' : ''}${decimal(Math.abs(lever.points))} points`;
  if (!lever.missing) return `${points} at best`;
  return `no value yet: adds ${percent(lever.coverage_gain, 1)} coverage${lever.points === 0 ? '' : `, up to ${points}`}`;
}

/** How a rule turns its value into 0 to 100, from the notation of the rule table. */
export function formulaText(formula: string): string {
  const [kind, ...rest] = formula.split(' ');
  const parts = rest.join(' ').split(/,\s*/);
  switch (kind) {
    case 'pass': return 'the value itself';
    case 'bool': return `${parts[0]} when true, ${parts[1]} when not`;
    case 'lin': return `${parts.map((p) => p.replace('->', ' gives ')).join(', ')}, straight between`;
    case 'map': return parts.map((p) => p.replace(':', ' gives ').replace('2+', '2 or more')).join(', ');
    default: return formula;
  }
}

export function ruleValue(value: RuleResult['value']): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  return Number.isInteger(value) ? String(value) : decimal(value, Math.abs(value) < 10 ? 2 : 1);
}

export const confidenceTone: Record<Score['confidence'], Tone> = { high: 'good', medium: 'info', low: 'warn', none: 'none' };

const names: Record<string, string> = {
  'AD1 H': 'Share of seats in use', 'AD2 H': 'Usage trend, 28 days', 'AD3 H': 'Products live of those owned',
  'RE1 H': 'Champion', 'RE2 H': 'Contacts active in 90 days', 'RE3 H': 'Days since executive contact',
  'EN1 H': 'Days since last activity', 'EN2 H': 'Reply rate, 90 days', 'SU1 H': 'Open P1 tickets', 'SU2 H': 'Satisfaction, 90 days',
  'CO1 H': 'Days overdue', 'CO2 H': 'ARR change, 12 months', 'OU1 H': 'Goals met', 'OU2 H': 'Days a milestone is late',
  'FU1 H': 'Budget change', 'FI1 H': 'Fit with the ideal customer',
  'AD1 R': 'Usage trend, 28 days', 'AD2 R': 'Share of seats in use', 'RE1 R': 'Champion', 'RE2 R': 'Stakeholders who left in 180 days',
  'RE3 R': 'Contacts active in 90 days', 'EN1 R': 'Days since last activity', 'SU1 R': 'Open P1 tickets', 'SU2 R': 'Tickets per 100 users, 90 days',
  'CO1 R': 'Days to renewal', 'CO2 R': 'Competitor seen', 'CO3 R': 'Price increase', 'CO4 R': 'Days overdue', 'OU1 R': 'Onboarding done',
  'OU2 R': 'Value reviews, 12 months', 'FU1 R': 'Enrollment growth, 3 years', 'FU2 R': 'ESSER funding cliff', 'FU3 R': 'Budget change', 'FI1 R': 'Leader changed in 180 days',
};

/** What a rule looks at, in words; its id when it is one we have no words for. */
export function ruleName(id: string): string {
  const [model, code] = id.split('-');
  return names[`${code} ${model}`] ?? id;
}
