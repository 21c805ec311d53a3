import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { json, network, renderRoutes } from '../test/render';
import GovernanceLog from './GovernanceLog';

const entry = (id: string, outcome: string) => ({
  entry_id: id, at: '2026-01-05T10:00:00Z', actor: 'reader', actor_kind: 'key', key_prefix: 'rk_abcde', surface: 'mcp', tool: `tool_${id}`, outcome,
  subject_type: '', subject_id: '', before: null, after: null, reason: '', request_id: '', prev_hash: '', hash: '',
});

test('a write that was denied or failed does not look like one that was made', async () => {
  network({ 'GET /api/governance-log': () => json({ entries: [entry('a', 'ok'), entry('b', 'denied'), entry('c', 'failed')], chain_ok: true, next_cursor: null }) });
  renderRoutes([{ path: '/', element: <GovernanceLog /> }], '/');
  const row = async (tool: string) => within(await screen.findByRole('row', { name: new RegExp(tool) }));
  expect((await row('tool_a')).getByText('Done')).toBeVisible();
  expect((await row('tool_b')).getByText('Denied')).toBeVisible();
  expect((await row('tool_c')).getByText('Failed')).toBeVisible();
});
