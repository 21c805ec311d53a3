import type { Run, RunStatus } from '../api/types';
import type { Tone } from '../components/icons';
import { count, words } from './format';
import { providerName } from './providers';

export const isActive = (run: Pick<Run, 'status'>) => run.status === 'queued' || run.status === 'running';

export const runTone: Record<RunStatus, Tone> = { queued: 'none', running: 'info', succeeded: 'good', failed: 'bad', cancelled: 'none' };

const kinds: Record<string, string> = {
  connector_sync: 'Sync', remap_records: 'Remap', score_accounts: 'Scoring', match_accounts: 'Matching', ingest_dataset: 'Dataset',
  recompute_affinity: 'Affinity', regenerate_expansion: 'Expansion signals', import_file: 'Import',
};
export const kindName = (kind: string) => kinds[kind] ?? words(kind);
export const runTitle = (run: Pick<Run, 'kind' | 'subject'>) => (run.subject ? `${kindName(run.kind)} · ${providerName(run.subject)}` : kindName(run.kind));

/** The share done, or null while the total is not known. */
export function fraction(run: Run): number | null {
  const { done, total } = run.progress;
  if (run.status === 'succeeded') return 1;
  if (total === null) return isActive(run) ? null : 0;
  return total === 0 ? (isActive(run) ? null : 1) : Math.min(1, done / total);
}

export function progressText(run: Run): string {
  const { done, total, unit } = run.progress;
  if (run.status === 'queued') return 'Waiting to start';
  const rows = !unit ? '' : total === null ? `${count(done)} ${unit}` : `${count(done)} of ${count(total)} ${unit}`;
  if (!isActive(run) || !run.phase) return rows;
  return rows ? `${words(run.phase)}: ${rows}` : words(run.phase);
}

interface Count { key: string; label: string; value: number }

// In the order of the work. The first group adds up: read is created, updated, unchanged, deleted and failed.
const countNames: Record<string, string> = {
  read: 'Read', created: 'Created', updated: 'Updated', unchanged: 'Unchanged', deleted: 'Deleted', failed: 'Failed', rows: 'Rows', bad_rows: 'Rows left out', mapped: 'Mapped anew',
  links_resolved: 'Linked to accounts later', orphans: 'Without their account', matched_by_id: 'Matched by ID', matched_by_name: 'Matched by name and state', matched_by_hand: 'Matched by a person',
  match_ambiguous: 'Ambiguous matches', match_none: 'Without a match', matches_changed: 'Matches changed', accounts_scored: 'Accounts scored', insufficient_data: 'Scored with too little data',
  tracked_accounts: 'Accounts tracked', scoring_ready_accounts: 'Accounts ready for scoring',
};
const always = new Set(['read', 'created', 'updated', 'unchanged', 'deleted', 'failed', 'accounts_scored']);

/** What a run did, in reading order; what did not happen is left out unless people look for it. */
export function countsOf(run: Pick<Run, 'counts'>): Count[] {
  const order = Object.keys(countNames);
  const place = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  return Object.entries(run.counts)
    .filter(([key, value]) => value !== 0 || always.has(key))
    .sort(([a], [b]) => place(a) - place(b))
    .map(([key, value]) => ({ key, value, label: countNames[key] ?? words(key) }));
}

export interface Sample { at: number; done: number }

/** Rows a second over the last samples; null until there are two. A lower count means a new phase began. */
export function rate(samples: Sample[]): number | null {
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last || last.at - first.at < 500 || last.done < first.done) return null;
  return ((last.done - first.done) * 1000) / (last.at - first.at);
}

/** Keeps the samples of the last 15 seconds; starts over when the count falls. */
export function addSample(samples: Sample[], next: Sample): Sample[] {
  const last = samples.at(-1);
  if (last && next.done < last.done) return [next];
  return [...samples.filter((s) => next.at - s.at <= 15_000), next];
}

/** Seconds left at this rate, or null when it cannot be said. */
export function secondsLeft(run: Run, perSecond: number | null): number | null {
  const p = run.progress;
  if (p.total === null || !perSecond || perSecond <= 0) return null;
  return Math.max(0, p.total - p.done) / perSecond;
}
