import type { Run, RunStatus } from '../api/types';
import type { Tone } from '../components/icons';
import { count, words } from './format';

export const isActive = (run: Pick<Run, 'status'>) => run.status === 'queued' || run.status === 'running';

export const runTone: Record<RunStatus, Tone> = { queued: 'none', running: 'info', succeeded: 'good', failed: 'bad', cancelled: 'none' };

const kinds: Record<string, string> = {
  sync: 'Sync', connector_sync: 'Sync', remap: 'Remap', remap_records: 'Remap', score: 'Scoring', score_accounts: 'Scoring', ingest: 'Ingest', ingest_dataset: 'Ingest', import: 'Import', import_file: 'Import',
};
export const kindName = (kind: string) => kinds[kind.replaceAll('-', '_')] ?? words(kind);
export const runTitle = (run: Pick<Run, 'kind' | 'subject'>) => (run.subject ? `${kindName(run.kind)} · ${run.subject}` : kindName(run.kind));

/** The share done, or null while the total is not known. */
export function fraction(run: Run): number | null {
  const p = run.progress;
  if (run.status === 'succeeded') return 1;
  if (!p || p.total === null) return isActive(run) ? null : 0;
  return p.total === 0 ? 1 : Math.min(1, p.done / p.total);
}

export function progressText(run: Run): string {
  const p = run.progress;
  if (!p) return run.phase ? words(run.phase) : 'Waiting to start';
  const rows = p.total === null ? `${count(p.done)} ${p.unit}` : `${count(p.done)} of ${count(p.total)} ${p.unit}`;
  return run.phase ? `${words(run.phase)}: ${rows}` : rows;
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
  if (!p || p.total === null || !perSecond || perSecond <= 0) return null;
  return Math.max(0, p.total - p.done) / perSecond;
}
