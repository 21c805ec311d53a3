import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import type { Run } from '../api/types';
import { RequireSession } from '../app/session';
import { json, me, network, renderRoutes } from '../test/render';
import { RunView } from './RunView';

const run = {
  id: 'r1', kind: 'connector_sync', subject: 'crm_a', status: 'succeeded', phase: '', progress: { done: 0, total: null, unit: 'records' }, counts: {},
  warnings: [{ code: 'deletions_refused', count: 31, message: '31 of 40 stored records of Task were not found at the provider.' }],
  error: null, started_by: null, started_at: null, finished_at: null, workflow_id: null, temporal_url: null,
} as unknown as Run;

test('a refused deletion is confirmed by a second full sync', async () => {
  const calls = network({
    'GET /api/auth/me': () => json(me),
    'GET /api/runs/r1': () => json(run),
    'POST /api/connectors/crm_a/sync': () => json({ run: { ...run, id: 'r2', status: 'queued', warnings: [] } }),
  });
  const { router } = renderRoutes([{ path: '/runs/:id', element: <RequireSession><RunView id="r1" /></RequireSession> }], '/runs/r1');
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Delete what is gone' }));
  expect(await screen.findByText('Delete 31 records?')).toBeVisible();
  expect(calls.some((c) => c.method === 'POST')).toBe(false);
  await user.click(screen.getByRole('button', { name: 'Sync and delete' }));
  await expect.poll(() => router.state.location.pathname).toBe('/runs/r2');
  expect(calls.find((c) => c.method === 'POST')?.body).toEqual({ mode: 'full', confirm_deletions: true });
});
