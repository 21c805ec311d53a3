import { Anchor, Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, type ReactNode } from 'react';
import { Link } from 'react-router';
import { api } from '../api/client';
import type { Run } from '../api/types';
import { useMay } from '../app/session';
import { count, decimal, duration, percent, plural, words } from '../lib/format';
import { runKey, useRunEvents } from '../lib/live';
import { useNow } from '../lib/hooks';
import { countsOf, fraction, isActive, progressText, rate, runTitle, runTone, secondsLeft, type Sample } from '../lib/runs';
import { Bar, Facts, Loading, Missing, Note, Or, Problem, Tag, When } from './basics';
import { Icon } from './icons';
import { useToasts } from './toasts';

const RunFailures = lazy(() => import('./RunFailures'));
const ConfirmDeletions = lazy(() => import('./ConfirmDeletions'));

export function useRun(id: string) {
  return useQuery({
    queryKey: runKey(id),
    queryFn: ({ signal }) => api.get<Run>(`/api/runs/${encodeURIComponent(id)}`, undefined, signal),
    enabled: id !== '',
  });
}

/** One run, live: phase, bar, rows, rate, time left, warnings, and when done what it changed. */
export function RunView({ id }: { id: string }) {
  const query = useRun(id);
  const active = query.data !== undefined && isActive(query.data);
  const { connected, samples } = useRunEvents(id, active);
  if (query.isPending) return <Loading lines={6} />;
  if (query.isError) return <Problem what="The run could not be loaded" error={query.error} retry={() => void query.refetch()} />;
  const run = query.data;
  return (
    <div className="stack">
      <div className="row apart">
        <Tag tone={runTone[run.status]}>{run.cancelling && active ? 'Cancelling' : words(run.status)}</Tag>
        {active && !run.cancelling && <CancelButton run={run} />}
      </div>
      <Progress run={run} samples={samples} />
      {active && !connected && samples.length > 0 && <Note tone="info">The live connection was lost; reconnecting. The run itself goes on.</Note>}
      <Outcome run={run} />
      <Counts run={run} />
      <Warnings run={run} />
      {run.warnings.some((w) => w.code === 'deletions_refused') && !isActive(run) && <Suspense fallback={null}><ConfirmDeletions run={run} /></Suspense>}
      {(run.counts.failed ?? 0) > 0 && <Suspense fallback={null}><RunFailures run={run} /></Suspense>}
      <RunFacts run={run} />
    </div>
  );
}

function Progress({ run, samples }: { run: Run; samples: Sample[] }) {
  const active = isActive(run);
  const now = useNow(1000, active);
  const perSecond = active ? rate(samples) : null;
  const left = secondsLeft(run, perSecond);
  const share = fraction(run);
  const elapsed = run.started_at ? ((run.finished_at ? Date.parse(run.finished_at) : now) - Date.parse(run.started_at)) / 1000 : null;
  return (
    <div className="stack tight">
      <Bar value={share} tone={runTone[run.status] === 'none' ? undefined : runTone[run.status]} label={`Progress of ${runTitle(run)}`} />
      <div className="row apart" style={{ fontSize: '0.8125rem' }}>
        <span>{progressText(run)}{share !== null && active ? ` (${percent(share)})` : ''}</span>
        <span className="dim">
          {perSecond !== null && `${count(perSecond)} ${run.progress.unit || 'rows'}/s`}
          {left !== null && `, about ${duration(left)} left`}
          {elapsed !== null && `${perSecond !== null ? ', ' : ''}${duration(elapsed)}${active ? ' so far' : ''}`}
        </span>
      </div>
    </div>
  );
}

function CancelButton({ run }: { run: Run }) {
  const [asking, ask] = useDisclosure(false);
  const may = useMay('manager');
  const client = useQueryClient();
  const toasts = useToasts();
  const cancel = useMutation({
    mutationFn: () => api.post(`/api/runs/${run.id}/cancel`),
    onSuccess: () => {
      ask.close();
      toasts.good('The run is being cancelled.');
      void client.invalidateQueries({ queryKey: runKey(run.id) });
    },
    onError: (error) => toasts.bad('The run was not cancelled', error),
  });
  if (!may) return null;
  return (
    <>
      <Button variant="default" onClick={ask.open}>Cancel run</Button>
      <Modal opened={asking} onClose={ask.close} title="Cancel this run?" closeButtonProps={{ 'aria-label': 'Close' }} zIndex={220}>
        <div className="stack">
          <span>It stops within seconds. What it has stored so far is kept, and the next run goes on from there.</span>
          <div className="row" style={{ justifyContent: 'flex-end' }}>
            <Button variant="default" onClick={ask.close}>Let it run</Button>
            <Button color="red.9" loading={cancel.isPending} onClick={() => cancel.mutate()}>Cancel run</Button>
          </div>
        </div>
      </Modal>
    </>
  );
}

function Outcome({ run }: { run: Run }) {
  if (run.status === 'failed') {
    const kept = Object.values(run.counts).some((n) => n > 0);
    return (
      <Note tone="bad" title={`Failed: ${words(run.error?.code ?? 'unknown')}.`}>
        {run.error?.message ?? 'No reason was recorded.'} {kept ? 'What was stored before is kept; the next run goes on from there.' : 'Nothing was changed.'}
      </Note>
    );
  }
  if (run.status === 'cancelled') return <Note tone="info">Cancelled. What was stored before is kept.</Note>;
  if (run.status === 'succeeded') {
    const { to, label } = resultOf(run);
    return <Note tone="good">Done. <Link to={to}>{label}</Link></Note>;
  }
  return null;
}

function resultOf(run: Run): { to: string; label: string } {
  switch (run.kind) {
    case 'match_accounts': return { to: '/accounts?view=matches', label: 'See the matches' };
    case 'ingest_dataset': return { to: '/settings/datasets', label: 'See the datasets' };
    case 'recompute_affinity': return { to: '/expansion/affinity', label: 'See the affinity matrix' };
    case 'regenerate_expansion': return { to: '/expansion/board', label: 'See the expansion board' };
    default: return { to: '/accounts', label: 'See the accounts' };
  }
}

function Counts({ run }: { run: Run }) {
  const entries = countsOf(run);
  if (!entries.length) return null;
  return (
    <section aria-labelledby="run-counts">
      <h2 id="run-counts" style={{ marginBottom: 8 }}>{isActive(run) ? 'So far' : 'What it did'}</h2>
      <Facts items={entries.map((c) => [c.label, count(c.value)])} />
    </section>
  );
}

function Warnings({ run }: { run: Run }) {
  if (!run.warnings.length) return null;
  return (
    <section aria-labelledby="run-warnings">
      <h2 id="run-warnings">Warnings ({count(run.warnings.length)})</h2>
      <ul className="list">
        {run.warnings.map((w) => (
          <li key={w.code + w.message} className="row apart"><span><Tag tone="warn">{words(w.code)}</Tag> {w.message}</span><span className="dim nowrap">{plural(w.count, 'time')}</span></li>
        ))}
      </ul>
    </section>
  );
}

function RunFacts({ run }: { run: Run }) {
  const took = run.started_at && run.finished_at ? (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000 : null;
  return (
    <Facts items={[
      ['Started', <When key="s" at={run.started_at} reason="Not started yet" />],
      ['Finished', <When key="f" at={run.finished_at} reason={isActive(run) ? 'Still at work' : 'Not recorded'} />],
      ['Took', took === null ? <Missing key="t" reason="Not finished" /> : took < 10 ? `${decimal(took)} s` : duration(took)],
      ['Started by', <Or key="b" value={run.started_by} reason="Not recorded" />],
      ['Workflow', run.workflow_id ? <span key="w" className="mono">{run.workflow_id}</span> : <Missing key="w" reason="Not started yet" />],
      ...(run.temporal_url ? [['For operators', <Anchor key="o" href={run.temporal_url} target="_blank" rel="noreferrer" size="sm">Open in Temporal <Icon name="open" size={12} /></Anchor>] as [string, ReactNode]] : []),
    ]} />
  );
}
