// The board's rules: which columns there are, where a card stands in one, and what a move does to what is on screen.
import type { InfiniteData } from '@tanstack/react-query';
import type { Antecedent, Signal, SignalKpi, SignalPage, SignalStatus } from '../api/expansion';
import type { Tone } from '../components/icons';

export const columns: { status: SignalStatus; label: string; empty: string }[] = [
  { status: 'pending', label: 'Pending', empty: 'Nothing waits to be pitched.' },
  { status: 'pitched', label: 'Pitched', empty: 'Nothing is pitched yet. Move a card here once the account has heard of it.' },
  { status: 'won', label: 'Won', empty: 'Nothing is won yet.' },
  { status: 'dismissed', label: 'Dismissed', empty: 'Nothing is dismissed.' },
];
export const statusLabel = (status: SignalStatus) => columns.find((c) => c.status === status)?.label ?? status;
export const statusTone: Record<SignalStatus, Tone> = { pending: 'info', pitched: 'warn', won: 'good', dismissed: 'none' };

export interface SignalFilters { segment: string; product_id: string; account_id: string; min_priority: string }
export type ColumnQuery = SignalFilters & { status: SignalStatus };
export type SignalList = InfiniteData<SignalPage, string | null>;

/** Whether a list with these filters holds the signal. */
export function fits(query: ColumnQuery, s: Signal): boolean {
  return query.status === s.status
    && (!query.segment || query.segment === s.account.segment)
    && (!query.product_id || query.product_id === s.product.id)
    && (!query.account_id || query.account_id === s.account.id)
    && (!query.min_priority || (s.priority_score ?? -1) >= Number(query.min_priority));
}

const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The service's order: priced first, then priority, expected ARR and probability falling, days to renewal rising, ids. */
export function compare(a: Signal, b: Signal): number {
  return Number(a.unpriced) - Number(b.unpriced)
    || (b.priority_score ?? -1) - (a.priority_score ?? -1)
    || (b.expected_arr_cents ?? -1) - (a.expected_arr_cents ?? -1)
    || b.probability - a.probability
    || (a.days_to_renewal ?? Infinity) - (b.days_to_renewal ?? Infinity) || text(a.account.id, b.account.id) || text(a.product.id, b.product.id);
}

export function without(list: SignalList, id: string): SignalList {
  if (!list.pages.some((p) => p.signals.some((s) => s.id === id))) return list;
  return { ...list, pages: list.pages.map((p) => ({ ...p, signals: p.signals.filter((s) => s.id !== id) })) };
}

/** Puts a signal where it belongs among the loaded pages; one that belongs behind them comes with its own page. */
export function withSignal(list: SignalList, signal: Signal): SignalList {
  const clean = without(list, signal.id);
  const last = clean.pages.length - 1;
  for (const [i, page] of clean.pages.entries()) {
    const found = page.signals.findIndex((s) => compare(signal, s) < 0);
    const at = found >= 0 ? found : i === last && !page.next_cursor ? page.signals.length : -1;
    if (at < 0) continue;
    return { ...clean, pages: clean.pages.map((p, j) => (j === i ? { ...p, signals: [...p.signals.slice(0, at), signal, ...p.signals.slice(at)] } : p)) };
  }
  return clean;
}

/** A list after a signal has become what it now is. */
export const settled = (query: ColumnQuery, list: SignalList, signal: Signal) => (fits(query, signal) ? withSignal(list, signal) : without(list, signal.id));

/** The counts after one signal went from one column to another; sums are the service's and follow with the next read. */
export function shifted(kpi: SignalKpi, from: SignalStatus, to: SignalStatus): SignalKpi {
  if (from === to) return kpi;
  const by = { ...kpi.by_status, [from]: kpi.by_status[from] - 1, [to]: kpi.by_status[to] + 1 };
  return { ...kpi, by_status: by, total_pending: by.pending };
}

export type KeyAction = { kind: 'move'; to: SignalStatus } | { kind: 'walk'; x: number; y: number } | { kind: 'menu' };

/** What a key does on a card: arrows walk, with Shift they move the card, 1 to 4 name its column, M opens its menu. */
export function keyAction(event: { key: string; shiftKey: boolean; ctrlKey: boolean; metaKey: boolean; altKey: boolean }, status: SignalStatus): KeyAction | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const at = columns.findIndex((c) => c.status === status);
  const move = (i: number): KeyAction | null => {
    const to = columns[i]?.status;
    return to && to !== status ? { kind: 'move', to } : null;
  };
  switch (event.key) {
    case 'ArrowLeft': return event.shiftKey ? move(at - 1) : { kind: 'walk', x: -1, y: 0 };
    case 'ArrowRight': return event.shiftKey ? move(at + 1) : { kind: 'walk', x: 1, y: 0 };
    case 'ArrowUp': return { kind: 'walk', x: 0, y: -1 };
    case 'ArrowDown': return { kind: 'walk', x: 0, y: 1 };
    case '1': case '2': case '3': case '4': return move(Number(event.key) - 1);
    case 'm': case 'M': return { kind: 'menu' };
    default: return null;
  }
}

const checks: Record<string, Record<string, string>> = {
  onboarding: { onboarding: 'still onboarding', unknown: 'onboarding not known' },
  health: { below_50: 'health below 50', unknown: 'health not known' },
  p1_open: { open: 'an urgent ticket is open', unknown: 'tickets not known' },
  overdue_days: { 'above_60': 'an invoice is over 60 days late', unknown: 'invoices not known' },
  use_ratio: { 'below_0.3': 'under 30% of seats used', unknown: 'use not known' },
};
export const checkText = (r: { check: string; reason: string }) => checks[r.check]?.[r.reason] ?? `${r.check} ${r.reason}`.replaceAll('_', ' ');

/** What speaks against pitching now, and what nobody knows. */
export function readinessOf(s: Pick<Signal, 'readiness_reasons'>): { failed: string[]; unknown: string[] } {
  const failed = s.readiness_reasons.filter((r) => r.reason !== 'unknown').map(checkText);
  return { failed, unknown: s.readiness_reasons.filter((r) => r.reason === 'unknown').map(checkText) };
}

/** What speaks for a signal, the most telling first. */
export const strongest = (antecedents: Antecedent[]) => [...antecedents].sort((a, b) => b.share - a.share || text(a.product.id, b.product.id));

const suppressedNames: Record<string, string> = {
  save_first: 'At risk, save first', open_opportunity: 'Open opportunity', already_pitched: 'Pitched already', already_won: 'Won already',
  recently_dismissed: 'Dismissed in the last 180 days', not_offered: 'Not offered there', opted_out: 'Opted out',
};

/** Why signals were held back, the most frequent first. What accounts own already is no loss and comes apart. */
export function suppressedOf(suppressed: Record<string, number>): { total: number; owned: number; reasons: { key: string; label: string; value: number }[] } {
  const reasons = Object.entries(suppressed)
    .filter(([k]) => k !== 'owned')
    .map(([k, value]) => ({ key: k, value, label: suppressedNames[k] ?? k.replaceAll('_', ' ') }))
    .sort((a, b) => b.value - a.value || text(a.label, b.label));
  return { total: reasons.reduce((sum, r) => sum + r.value, 0), owned: suppressed.owned ?? 0, reasons };
}

const bases: Record<string, string> = { expected_arr: 'expected ARR', expansion: 'expansion score', readiness: 'readiness score', window: 'buying window', icp_fit: 'fit to the ideal customer' };
export const basisText = (keys: string[]) => keys.map((k) => bases[k] ?? k.replaceAll('_', ' ')).join(', ');
const prices: Record<string, string> = { per_student: 'median price per student', per_license: 'median price per license', list_price: 'list price', unpriced: 'no price to go by' };
export const priceText = (s: Pick<Signal, 'price_basis' | 'price_segment'>) =>
  (s.price_basis.startsWith('per_') ? `${prices[s.price_basis] ?? s.price_basis} of owners in ${s.price_segment === 'all' ? 'all segments' : s.price_segment}` : (prices[s.price_basis] ?? s.price_basis));
