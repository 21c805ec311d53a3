import { describe, expect, test } from 'vitest';
import type { Mapping, Run } from '../api/types';
import { toCsv } from './csv';
import { duration, exact, money, moneyShort, plural, relative, words } from './format';
import { diff, errorsByRow, mappingKey, toDraft, transformChoices } from './mappings';
import { atLeast } from './roles';
import { visibleRange } from './rowWindow';
import { addSample, countsOf, fraction, progressText, rate, secondsLeft } from './runs';
import { formulaText, levelOf, leverText, severity } from './scores';

const run = (change: Partial<Run>): Run => ({
  id: 'r', kind: 'connector_sync', subject: 'crm_a', status: 'running', phase: 'pulling', progress: { done: 0, total: null, unit: 'rows' }, counts: {}, warnings: [], error: null, trigger: 'manual', started_by: '', created_at: '2026-03-01T12:00:00Z', started_at: null, finished_at: null, cancelling: false, workflow_id: '', temporal_url: null, ...change,
});

describe('format', () => {
  test('shows money short in tiles and exact elsewhere', () => {
    expect(moneyShort(124_000_000, 'USD')).toBe('$1.24M');
    expect(money(124_000_000, 'USD')).toBe('$1,240,000');
    expect(money(12_345, 'USD')).toBe('$123.45');
    expect(money(-500, 'USD')).toBe('-$5');
    expect(money(12_345, 'QQ1')).toBe('QQ1 123.45');
  });
  test('tells times relative to now', () => {
    const now = Date.parse('2026-03-01T12:00:00Z');
    expect(relative('2026-03-01T11:58:00Z', now)).toBe('2 minutes ago');
    expect(relative('2026-02-28T12:00:00Z', now)).toBe('yesterday');
    expect(relative('2026-03-01T12:26:00Z', now)).toBe('in 26 minutes');
    expect(relative('2026-03-01T11:59:58Z', now)).toBe('just now');
  });
  test('keeps a calendar date on its day in every time zone', () => {
    expect(exact('2027-06-30')).toBe('Jun 30, 2027');
  });
  test('turns codes into words', () => {
    expect(words('IN_PROGRESS')).toBe('In progress');
    expect(words('reauthorization_required')).toBe('Reauthorization required');
    expect(words('NBA')).toBe('Nba');
    expect(plural(1, 'row')).toBe('1 row');
    expect(plural(1200, 'row')).toBe('1,200 rows');
    expect(duration(3725)).toBe('1 h 2 min');
  });
});

describe('a run', () => {
  test('has a share only when its total is known', () => {
    expect(fraction(run({ progress: { done: 5, total: 20, unit: 'rows' } }))).toBe(0.25);
    expect(fraction(run({ progress: { done: 5, total: null, unit: 'rows' } }))).toBeNull();
    expect(fraction(run({ progress: { done: 30, total: 20, unit: 'rows' } }))).toBe(1);
    expect(fraction(run({ status: 'succeeded' }))).toBe(1);
  });
  test('says how far it is without inventing a total', () => {
    expect(progressText(run({ phase: 'pulling', progress: { done: 1200, total: null, unit: 'rows' } }))).toBe('Pulling: 1,200 rows');
  });
  test('measures its rate over recent samples and starts over in a new phase', () => {
    let samples = addSample([], { at: 0, done: 0 });
    expect(rate(samples)).toBeNull();
    samples = addSample(samples, { at: 2000, done: 500 });
    expect(rate(samples)).toBe(250);
    expect(secondsLeft(run({ progress: { done: 500, total: 1000, unit: 'rows' } }), 250)).toBe(2);
    expect(secondsLeft(run({ progress: { done: 500, total: null, unit: 'rows' } }), 250)).toBeNull();
    expect(addSample(samples, { at: 3000, done: 3 })).toEqual([{ at: 3000, done: 3 }]);
  });
});

describe('mappings', () => {
  const m = (target_field: string, source_field: string, transform?: string): Mapping => ({ object: 'Account', target_field, source_field, transform, required: false, source_type: 'string' });
  test('differ by what was added, changed and removed', () => {
    const changes = diff(toDraft([m('name', 'Name'), m('domain', 'Website')]), toDraft([m('name', 'Legal_Name'), m('seats', 'Seats')]));
    expect(changes.map((c) => [c.kind, (c.after ?? c.before)?.target_field])).toEqual([['changed', 'name'], ['added', 'seats'], ['removed', 'domain']]);
  });
  test('do not differ by an empty transform', () => {
    expect(diff(toDraft([m('name', 'Name', undefined)]), toDraft([m('name', 'Name', '')]))).toEqual([]);
  });
  test('get their errors beside the row they were sent in', () => {
    const sent = [m('name', 'Name'), m('seats', 'Nope')];
    const found = errorsByRow([{ location: 'body.mappings[1].source_field', message: 'There is no Nope' }, { location: 'mappings[9].transform', message: 'odd' }], sent);
    expect(found.get(mappingKey(sent[1] as Mapping))).toBe('There is no Nope');
    expect(found.get('')).toBe('odd');
  });
});

describe('a list of many rows', () => {
  test('draws what is in view with some to spare, and never outside the list', () => {
    expect(visibleRange(0, 720, 36, 5000)).toEqual({ from: 0, to: 40 });
    expect(visibleRange(36_000, 720, 36, 5000)).toEqual({ from: 984, to: 1040 });
    expect(visibleRange(10_000_000, 720, 36, 100).to).toBe(100);
    expect(visibleRange(0, 720, 36, 0)).toEqual({ from: 0, to: 0 });
  });
});

describe('csv', () => {
  test('quotes separators and disarms formulas', () => {
    expect(toCsv(['a', 'b'], [['=HYPERLINK("x")', 'say "hi", twice'], [null, -3]])).toBe('a,b\r\n"\'=HYPERLINK(""x"")","say ""hi"", twice"\r\n,-3\r\n');
  });
});

describe('roles and severities', () => {
  test('a higher role may what a lower one may', () => {
    expect(atLeast('admin', 'manager')).toBe(true);
    expect(atLeast('rep', 'manager')).toBe(false);
    expect(atLeast(undefined, 'rep')).toBe(false);
  });
  test('low health and high risk are bad', () => {
    expect(severity('health', 39.9).tone).toBe('bad');
    expect(severity('health', 40).tone).toBe('warn');
    expect(severity('risk', 75).tone).toBe('bad');
    expect(severity('risk', 34).tone).toBe('good');
  });
});

describe('what the service says in codes', () => {
  test('counts read in the order of the work, without what did not happen', () => {
    const counts = { accounts_scored: 12, match_ambiguous: 0, failed: 0, read: 40, invented: 3, created: 40 };
    expect(countsOf({ counts }).map((c) => c.label)).toEqual(['Read', 'Created', 'Failed', 'Accounts scored', 'Invented']);
  });
  test('a lever moves the score or asks for data', () => {
    const lever = { rule_id: 'H-AD1', category: 'adoption', points: 4.25, coverage_gain: 0, missing: false };
    expect(leverText(lever)).toBe('+4.3 points at best');
    expect(leverText({ ...lever, points: -4.2 })).toBe('−4.2 points at best');
    expect(leverText({ ...lever, points: 0, missing: true, coverage_gain: 0.061 })).toBe('no value yet: adds 6.1% coverage');
  });
  test('a formula reads as a sentence', () => {
    expect(formulaText('lin 0.1->0, 0.8->100')).toBe('0.1 gives 0, 0.8 gives 100, straight between');
    expect(formulaText('map 0:0, 1:60, 2+:100')).toBe('0 gives 0, 1 gives 60, 2 or more gives 100');
    expect(formulaText('bool 80, 0')).toBe('80 when true, 0 when not');
  });
  test('the level that the service gives a score wins over our thresholds', () => {
    expect(levelOf('risk', 80, 'WARNING').word).toBe('Warning');
    expect(levelOf('risk', 80, null).word).toBe('Critical');
  });
  test('a mapping offers the transforms that fit its field', () => {
    expect(transformChoices({ type: 'money' }, null).map((t) => t.value)).toEqual(['', 'cents', 'round_cents']);
    const odd = { object: 'Account', source_field: 'A', target_field: 'b', transform: 'later', required: false };
    expect(transformChoices({ type: 'integer' }, odd).map((t) => t.value)).toEqual(['', 'later']);
  });
});
