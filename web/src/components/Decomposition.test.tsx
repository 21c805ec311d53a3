import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Score } from '../api/types';
import { renderRoutes } from '../test/render';
import { Decomposition } from './Decomposition';

const rule = { category: 'adoption', score: 20, threshold: '< 0.35', weight: 10, missing: false, expr: 'use_ratio', features: ['use_ratio'], source: 'Salesforce Account.Seats__c', sources: [{ provider: 'crm_a', object: 'Account', field: 'Seats__c' }] };
const score: Score = {
  model: 'health', composite_score: 61.82, coverage: 0.74, confidence: 'medium', status: 'ok', level: 'WARNING',
  category_scores: [{ category: 'adoption', weight: 22, score: 60, coverage: 1 }, { category: 'outcomes', weight: 12, score: null, coverage: 0 }],
  rule_results: [
    { ...rule, rule_id: 'H-AD2', value: -0.05, triggered: false, contribution: 4 },
    { ...rule, rule_id: 'H-RE2', value: 1, triggered: true, contribution: 2.5 },
    { ...rule, rule_id: 'H-AD1', value: 0.28, triggered: true, contribution: 9.1 },
    { ...rule, rule_id: 'H-OU1', value: null, score: null, triggered: false, contribution: 0, missing: true },
  ],
  rules_evaluated: 16, rules_triggered: ['H-AD1', 'H-RE2'], computation_time_ms: 0.04, model_version: '1.0.0+8f31c2', computed_at: '2026-03-01T12:00:00Z', levers: [{ rule_id: 'H-AD1', category: 'adoption', points: 9.1, coverage_gain: 0, missing: false }],
};
const show = (value: Score) => renderRoutes([{ path: '/', element: <Decomposition score={value} /> }], '/');

test('lists the rules that fired, the heaviest first, with value, threshold, points and source', () => {
  show(score);
  const rows = within(screen.getByRole('table', { name: 'Rules that fired' })).getAllByRole('row').slice(1);
  expect(rows.map((r) => r.textContent)).toEqual([
    'Share of seats in use H-AD10.28< 0.359.1Salesforce Account.Seats__c',
    'Contacts active in 90 days H-RE21< 0.352.5Salesforce Account.Seats__c',
  ]);
  expect(screen.getByTestId('composite')).toHaveTextContent('61.8');
  expect(screen.getByText('1.0.0+8f31c2')).toBeInTheDocument();
});

test('shows what is unknown as unknown, never as 0', () => {
  show({ ...score, composite_score: null, status: 'insufficient_data', coverage: 0.2 });
  expect(screen.getByTestId('composite')).toHaveTextContent('–');
  expect(screen.getByTestId('composite')).not.toHaveTextContent('0.0');
  const outcomes = screen.getByText('Outcomes').closest('li');
  expect(outcomes).toHaveTextContent('No rule of this category has data');
  expect(screen.getByText(/No value for Goals met \(H-OU1\)/)).toBeInTheDocument();
});
