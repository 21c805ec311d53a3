import { act, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Run } from '../api/types';
import { RequireSession } from '../app/session';
import { RunView } from '../components/RunView';
import { json, me, network, renderRoutes } from '../test/render';

class Stream extends EventTarget {
  static readonly CLOSED = 2;
  static all: Stream[] = [];
  readyState = 1;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  readonly url: string;
  constructor(url: string) {
    super();
    this.url = url;
    Stream.all.push(this);
  }
  close() { this.readyState = 2; }
  send(run: Run) { this.dispatchEvent(new MessageEvent('run', { data: JSON.stringify(run) })); }
}
beforeEach(() => { Stream.all = []; vi.stubGlobal('EventSource', Stream); });
afterEach(() => { vi.unstubAllGlobals(); vi.useRealTimers(); });

const run: Run = {
  id: 'r1', kind: 'connector_sync', trigger: 'manual', created_at: '2026-03-01T12:00:00Z', cancelling: false, subject: 'crm_a', status: 'running', phase: 'pulling', progress: { done: 10, total: 100, unit: 'rows' }, counts: { read: 10 }, warnings: [], error: null, started_by: 'ada@example.org', started_at: '2026-03-01T12:00:00Z', finished_at: null, workflow_id: 'sync/o/crm_a', temporal_url: null,
};
async function show(first: Run) {
  network({ 'GET /api/auth/me': () => json(me), 'GET /api/runs/r1': () => json(first) });
  renderRoutes([{ path: '/', element: <RequireSession><RunView id="r1" /></RequireSession> }], '/');
  await screen.findByRole('progressbar');
}

test('a run moves with its events and ends with what it did', async () => {
  await show(run);
  expect(screen.getByRole('progressbar')).toHaveAttribute('aria-valuenow', '10');
  const stream = Stream.all[0];
  act(() => { stream?.onopen?.(); stream?.send({ ...run, progress: { done: 60, total: 100, unit: 'rows' } }); });
  await vi.waitFor(() => expect(screen.getByRole('progressbar')).toHaveAttribute('aria-valuenow', '60'));
  act(() => stream?.send({ ...run, status: 'failed', finished_at: '2026-03-01T12:01:00Z', error: { code: 'grant_revoked', message: 'Connect again.' } }));
  expect(await screen.findByText(/What was stored before is kept/)).toBeVisible();
  expect(stream?.readyState).toBe(2);
  expect(screen.queryByRole('button', { name: 'Cancel run' })).toBeNull();
});

test('a refused stream is opened anew', async () => {
  await show(run);
  vi.useFakeTimers();
  const first = Stream.all.at(-1);
  act(() => { if (first) first.readyState = 2; first?.onerror?.(); });
  const before = Stream.all.length;
  act(() => { vi.advanceTimersByTime(1100); });
  expect(Stream.all.length).toBe(before + 1);
});

test('a run that is over opens no stream', async () => {
  await show({ ...run, status: 'succeeded', finished_at: '2026-03-01T12:01:00Z' });
  expect(Stream.all).toHaveLength(0);
});
