import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import type { Mapping } from '../api/types';
import { RequireSession } from '../app/session';
import { json, me, network, problem, renderRoutes, type Handler } from '../test/render';
import MappingEditor from './MappingEditor';

const mapping = (source_field: string, target_field: string): Mapping => ({ object: 'Account', source_field, target_field, required: false, source_type: 'string' });
const field = (name: string) => ({ name, label: name, type: 'string', custom: false, nullable: true, picklist_values: [] });
const target = (target_field: string, label: string) => ({ object: 'Account', target_field, label, type: 'text', required: false, description: '' });
let saved: Mapping[];
beforeEach(() => { saved = [mapping('Name', 'name')]; });

function show(put: Handler) {
  const calls = network({
    'GET /api/auth/me': () => json(me),
    'GET /api/connectors/crm_a/discover': () => json({ provider: 'crm_a', discovered_at: '2026-01-01T00:00:00Z', objects: [{ name: 'Account', label: 'Account', custom: false, supported: true, fields: [field('Name'), field('Seats__c')] }] }),
    'GET /api/connectors/crm_a/mappings': () => json({ provider: 'crm_a', version: 4, mappings: saved, targets: [target('name', 'Account name'), target('seats', 'Licensed seats')], suggestions: [mapping('Seats__c', 'seats')] }, { ETag: '"4"' }),
    'PUT /api/connectors/crm_a/mappings': put,
  });
  renderRoutes([{ path: '/', element: <RequireSession><MappingEditor provider="crm_a" /></RequireSession> }], '/');
  return calls;
}

test('shows what changes before it saves, and saves with the version it read', async () => {
  const calls = show((call) => { saved = (call.body as { mappings: Mapping[] }).mappings; return json({ provider: 'crm_a', version: 5, mappings: saved, targets: [], suggestions: [] }, { ETag: '"5"' }); });
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Use Seats__c for Licensed seats' }));
  expect(screen.getByText('1 unsaved change')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Review changes' }));
  const changes = within(await screen.findByRole('table', { name: 'Changes' }));
  expect(changes.getByText('Account: seats')).toBeInTheDocument();
  expect(changes.getByText('not mapped')).toBeInTheDocument();
  expect(calls.filter((c) => c.method === 'PUT')).toHaveLength(0);
  await user.click(screen.getByRole('button', { name: 'Save 1 change' }));
  expect(await screen.findByText('No unsaved changes')).toBeVisible();
  const put = calls.find((c) => c.method === 'PUT');
  expect(put?.headers.get('If-Match')).toBe('"4"');
  expect(put?.body).toEqual({ mappings: [mapping('Name', 'name'), mapping('Seats__c', 'seats')] });
});

test('puts a refused mapping’s error beside its field and keeps the draft', async () => {
  show(() => problem(422, 'invalid', { errors: [{ location: 'body.mappings[1].source_field', message: 'Seats__c is not a number' }] }));
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Use Seats__c for Licensed seats' }));
  await user.click(screen.getByRole('button', { name: 'Review changes' }));
  await user.click(await screen.findByRole('button', { name: 'Save 1 change' }));
  expect(await screen.findByText('Seats__c is not a number')).toBeVisible();
  expect(screen.getByText('1 unsaved change')).toBeVisible();
});

test('says when someone else saved first', async () => {
  show(() => problem(412, 'stale'));
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Use all suggestions' }));
  await user.click(screen.getByRole('button', { name: 'Review changes' }));
  await user.click(await screen.findByRole('button', { name: 'Save 1 change' }));
  expect(await screen.findByText(/Someone else changed these mappings/)).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Load theirs' }));
  expect(await screen.findByText('No unsaved changes')).toBeVisible();
});
