import { expect, test } from 'vitest';
import { ApiError } from '../api/client';
import type { AffinityEntry, ProductWhitespace, Signal, SignalKpi } from '../api/expansion';
import { affinityReason, buildGrid, cellLabel, heat, measureText, probability } from './expansionAffinity';
import { compare, fits, keyAction, readinessOf, settled, shifted, suppressedOf, withSignal, without, type ColumnQuery, type SignalList } from './expansionBoard';
import { indices, span, step } from './expansionGrid';
import { errorsCsv, fileProblems, looksLikeCsv, verdict } from './expansionImports';
import { sorted } from './expansionWhitespace';

const product = (name: string) => ({ id: name, sku: name.toUpperCase(), name });
const entry = (a: string, b: string, change: Partial<AffinityEntry> = {}): AffinityEntry => ({
  product_a: product(a), product_b: product(b), segment: 'all', n: 200, n_a: 80, n_b: 50, n_ab: 35, support: 0.175, confidence: 0.4375, lift: 1.75, leverage: 0.075, conviction: 1.333, jaccard: 0.368, phi: 0.354,
  chi_square: 25, p_value: 5.7e-7, p_method: 'chi_square', q_value: 5.7e-7, significant: true, reason: null, bundle: false, lead_share: 0.6, cross_sell_probability: 0.4, computed_at: '2026-03-01T00:00:00Z', run_id: 'r1', ...change,
});
const signal = (id: string, change: Partial<Signal> = {}): Signal => ({
  id, account: { id: `acc-${id}`, name: `Account ${id}`, segment: 'SMB', state: 'TX', territory: null }, product: product('Reader'), status: 'pending', reason: null, probability: 0.4, estimated_arr_cents: 1_000_000, expected_arr_cents: 400_000,
  unpriced: false, price_basis: 'per_student', price_segment: 'SMB', priority_score: 50, priority_basis: ['expected_arr'], readiness: 'ready', readiness_reasons: [], antecedents: [], evidence_segment: 'all', days_to_renewal: null, version: 1,
  status_changed_by: null, status_changed_at: null, created_at: '2026-03-01T00:00:00Z', updated_at: '2026-03-01T00:00:00Z', ...change,
});
const kpi: SignalKpi = { total_pending: 3, pipeline_arr_cents: 0, unpriced: 0, by_status: { pending: 3, pitched: 1, won: 0, dismissed: 0 }, by_product: [], won_arr_cents: 0, conversion: null, suppressed: { owned: 0, opted_out: 0, save_first: 0, open_opportunity: 0, already_pitched: 0, already_won: 0, recently_dismissed: 0, not_offered: 0 }, currency: 'USD', generated_at: null, run_id: null };
const list = (pages: Signal[][], more = false): SignalList => ({ pages: pages.map((signals, i) => ({ kpi, signals, next_cursor: i < pages.length - 1 || more ? `c${i}` : null })), pageParams: pages.map(() => null) });
const ids = (l: SignalList) => l.pages.map((p) => p.signals.map((s) => s.id));

test('the heat map orders products by owners and finds both directions of a pair', () => {
  const grid = buildGrid([entry('small', 'big', { n_a: 10, n_b: 90, lift: 2 }), entry('big', 'small', { n_a: 90, n_b: 10, lift: 2, confidence: 0.1 }), entry('mid', 'big', { n_a: 40, n_b: 90 })]);
  expect(grid.products.map((p) => p.name)).toEqual(['big', 'mid', 'small']);
  expect(grid.owners).toEqual([90, 40, 10]);
  expect(grid.cell(0, 2)?.confidence).toBe(0.1);
  expect(grid.cell(2, 0)?.confidence).toBe(0.4375);
  expect(grid.cell(1, 2)).toBeUndefined();
  expect(buildGrid([]).products).toEqual([]);
});

test('shades say which side of chance a lift is on', () => {
  expect([0, 0.49, 0.5, 0.8, 1, 1.25, 1.75, 2.5, 3, 40].map((v) => heat('lift', v))).toEqual([-2, -2, -1, 0, 0, 1, 2, 3, 4, 4]);
  expect([0, 0.1, 0.39, 0.6, 1].map((v) => heat('confidence', v))).toEqual([0, 1, 2, 4, 4]);
  expect(heat('lift', null)).toBeNull();
});

test('a cell says its pair, number and whether it is significant', () => {
  const a = product('Reader');
  const b = product('Maths');
  expect(cellLabel(a, b, entry('Reader', 'Maths'), 'lift')).toBe('Reader, then Maths: lift 1.75, significant');
  expect(cellLabel(a, b, entry('Reader', 'Maths', { significant: false, cross_sell_probability: null, bundle: true }), 'cross_sell_probability')).toBe('Reader, then Maths: cross-sell probability not known, not significant, sold as a bundle');
  expect(cellLabel(a, b, undefined, 'lift')).toBe('Reader, then Maths: no account owns both');
  expect(cellLabel(a, a, undefined, 'lift')).toBe('Reader: the same product');
  expect(measureText('lift', 12.34)).toBe('12.3');
});

test('small probabilities are powers of ten', () => {
  expect([0.05, 0.0012, 5.7e-7, 9.99e-5, 0].map(probability)).toEqual(['0.050', '0.001', '5.7 × 10⁻⁷', '1.0 × 10⁻⁴', 'under 10⁻³⁰⁰']);
  expect(affinityReason('insufficient_n_ab')).toBe('fewer than 3 accounts own both');
});

test('keys lead through the grid and stop at its edges', () => {
  const at = { row: 1, column: 1 };
  expect(step('ArrowUp', false, { row: 0, column: 0 }, 5)).toEqual({ row: 0, column: 0 });
  expect(step('ArrowRight', false, at, 5)).toEqual({ row: 1, column: 2 });
  expect(step('End', false, at, 5)).toEqual({ row: 1, column: 4 });
  expect(step('Home', true, at, 5)).toEqual({ row: 0, column: 0 });
  expect(step('PageDown', false, at, 5)).toEqual({ row: 4, column: 1 });
  expect(step('x', false, at, 5)).toBeNull();
});

test('only cells in view are drawn, and always the one with the keyboard', () => {
  const view = span(3000, 300, 30, 400);
  expect(view).toEqual({ from: 96, to: 116 });
  expect(span(0, 300, 30, 8)).toEqual({ from: 0, to: 8 });
  expect(indices({ from: 4, to: 6 }, 1)).toEqual([1, 4, 5]);
  expect(indices({ from: 4, to: 6 }, 9)).toEqual([4, 5, 9]);
  expect(indices({ from: 4, to: 6 }, 5)).toEqual([4, 5]);
});

test('a list has the signals that its filters ask for', () => {
  const query: ColumnQuery = { status: 'pending', segment: '', product_id: '', account_id: '', min_priority: '' };
  const s = signal('1');
  expect(fits(query, s)).toBe(true);
  expect(fits({ ...query, status: 'won' }, s)).toBe(false);
  expect(fits({ ...query, segment: 'Enterprise' }, s)).toBe(false);
  expect(fits({ ...query, min_priority: '51' }, s)).toBe(false);
  expect(fits({ ...query, min_priority: '1' }, signal('2', { priority_score: null }))).toBe(false);
});

test('cards stand in the order of the service', () => {
  const cards = [signal('unpriced', { unpriced: true, priority_score: 99 }), signal('low', { priority_score: 1 }), signal('none', { priority_score: null }), signal('late', { days_to_renewal: null }), signal('soon', { days_to_renewal: 3 })];
  expect([...cards].sort(compare).map((s) => s.id)).toEqual(['soon', 'late', 'low', 'none', 'unpriced']);
});

test('a moved card lands at its place, and not before its page is loaded', () => {
  const open = list([[signal('a', { priority_score: 90 }), signal('b', { priority_score: 70 })], [signal('c', { priority_score: 50 })]], true);
  expect(ids(withSignal(open, signal('x', { priority_score: 80 })))).toEqual([['a', 'x', 'b'], ['c']]);
  expect(ids(withSignal(open, signal('x', { priority_score: 60 })))).toEqual([['a', 'b'], ['x', 'c']]);
  expect(ids(withSignal(open, signal('x', { priority_score: 10 })))).toEqual([['a', 'b'], ['c']]);
  expect(ids(withSignal(list([[]]), signal('x')))).toEqual([['x']]);
  expect(ids(withSignal(open, signal('b', { priority_score: 95 })))).toEqual([['b', 'a'], ['c']]);
  expect(without(open, 'zz')).toBe(open);
});

test('a card that no longer fits leaves its list', () => {
  const query: ColumnQuery = { status: 'pending', segment: '', product_id: '', account_id: '', min_priority: '' };
  const before = list([[signal('a'), signal('b')]]);
  expect(ids(settled(query, before, signal('a', { status: 'won' })))).toEqual([['b']]);
  expect(ids(settled({ ...query, status: 'won' }, list([[]]), signal('a', { status: 'won' })))).toEqual([['a']]);
  expect(shifted(kpi, 'pending', 'pitched')).toMatchObject({ total_pending: 2, by_status: { pending: 2, pitched: 2, won: 0, dismissed: 0 } });
  expect(shifted(shifted(kpi, 'pending', 'won'), 'won', 'pending')).toEqual(kpi);
});

test('keys on a card walk, move and open its menu, and leave the browser its own', () => {
  const key = (k: string, more = {}) => keyAction({ key: k, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more }, 'pitched');
  expect(key('ArrowDown')).toEqual({ kind: 'walk', x: 0, y: 1 });
  expect(key('ArrowRight', { shiftKey: true })).toEqual({ kind: 'move', to: 'won' });
  expect(key('1')).toEqual({ kind: 'move', to: 'pending' });
  expect(key('2')).toBeNull();
  expect(key('m')).toEqual({ kind: 'menu' });
  expect(key('1', { ctrlKey: true })).toBeNull();
  expect(keyAction({ key: 'ArrowLeft', shiftKey: true, ctrlKey: false, metaKey: false, altKey: false }, 'pending')).toBeNull();
});

test('readiness and what is held back read as words', () => {
  expect(readinessOf({ readiness_reasons: [{ check: 'health', reason: 'below_50' }, { check: 'use_ratio', reason: 'unknown' }] })).toEqual({ failed: ['health below 50'], unknown: ['use not known'] });
  expect(suppressedOf({ owned: 9, save_first: 1, not_offered: 0, open_opportunity: 4 })).toMatchObject({ total: 5, owned: 9, reasons: [{ label: 'Open opportunity', value: 4 }, { value: 1 }, { value: 0 }] });
});

test('a dry run is told in a sentence, and its errors as a file', () => {
  const report = { resource: 'accounts', rows: 1200, valid: 1199, bad: 1, errors: [{ line: 3, column: 'state', reason: 'must be, say, TX' }], truncated: false };
  expect(verdict(report)).toMatch(/^1 row of 1,200 cannot be imported/);
  expect(verdict({ ...report, bad: 0 })).toBe('All 1,200 rows can be imported.');
  expect(verdict({ ...report, rows: 0, bad: 0 })).toBe('The file has a header and no rows.');
  expect(errorsCsv(report)).toBe('line,column,reason\r\n3,state,"must be, say, TX"\r\n');
  expect(fileProblems(new ApiError({ status: 422, code: 'invalid', detail: 'The header does not fit.', errors: [{ location: 'body.column 2', message: 'unknown' }] }))).toEqual(['The header does not fit.', 'column 2: unknown']);
  expect([looksLikeCsv({ name: 'A.CSV', type: '' }), looksLikeCsv({ name: 'a.xlsx', type: '' })]).toEqual([true, false]);
});

test('whitespace is sorted by what its header asks for', () => {
  const row = (name: string, owners: number, arr_cents: number): ProductWhitespace => ({ product_id: name, sku: '', name, owners, accounts: 10 - owners, signals: 0, arr_cents });
  const rows = [row('b', 1, 5), row('a', 1, 0), row('c', 7, 9)];
  expect(sorted(rows, 'arr').map((r) => r.name)).toEqual(['c', 'b', 'a']);
  expect(sorted(rows, 'owners').map((r) => r.name)).toEqual(['c', 'a', 'b']);
  expect(sorted(rows, 'name').map((r) => r.name)).toEqual(['a', 'b', 'c']);
});
