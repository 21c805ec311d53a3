// Story 2: an organization with nothing connects its CRM, maps it, syncs it and watches.
import assert from 'node:assert/strict';
import { call } from '../lib/product.mjs';
import { until } from '../lib/wait.mjs';
import { go, signIn } from '../lib/steps.mjs';
import { test } from '../lib/runner.mjs';

test('a wrong password is refused, the right one leads to where one wanted to go', async (t) => {
  const session = await t.open();
  t.admin = session;
  session.expect(401);
  const { page } = session;
  await page.goto(`${t.own.url}/settings/connectors`);
  await page.getByLabel('E-mail').fill(t.own.email);
  await page.getByRole('textbox', { name: 'Password' }).fill('not-the-password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The e-mail or the password is not right.').waitFor();
  await signIn(page, t.own);
  await page.waitForURL('**/settings/connectors');
  await page.getByRole('heading', { name: 'Connectors', level: 1 }).waitFor();
});

test('declining on the provider’s page connects nothing and says so', async (t) => {
  const { page } = t.admin;
  await page.getByRole('link', { name: 'Connect Salesforce' }).click();
  await page.getByRole('heading', { name: /Allow .* to use your data/ }).waitFor();
  assert.ok(!page.url().startsWith(t.own.url), 'the consent page is the provider’s own');
  assert.match(new URL(page.url()).search, /code_challenge_method=S256/);
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByText(/The connection was declined/).waitFor();
  await page.locator('.tag', { hasText: 'Not connected' }).waitFor();
});

test('allowing connects it', async (t) => {
  const { page } = t.admin;
  await page.getByRole('link', { name: 'Connect', exact: true }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByText(/Salesforce is connected/).waitFor();
  assert.ok(page.url().startsWith(`${t.own.url}/settings/connectors/crm_a`));
});

test('objects and fields are shown as the provider describes them', async (t) => {
  const { page } = t.admin;
  await page.getByRole('tab', { name: 'Objects and fields' }).click();
  const fields = page.getByRole('table', { name: 'Fields of Account' });
  await fields.getByRole('cell', { name: 'Active_Users_28d__c' }).waitFor();
  assert.ok((await fields.getByText('Custom').count()) > 3, 'custom fields are marked');
});

test('a mapping is changed after a look at the difference, and stored records are mapped again', async (t) => {
  const { page } = t.admin;
  await page.getByRole('tab', { name: 'Mappings' }).click();
  const seats = page.getByRole('combobox', { name: /^Provider field for .*[Ss]eats/ }).first();
  await seats.waitFor();
  if (await page.getByRole('button', { name: 'Use all suggestions' }).isVisible()) await page.getByRole('button', { name: 'Use all suggestions' }).click();
  const city = page.getByRole('combobox', { name: 'Provider field for City' });
  assert.match(await city.inputValue(), /BillingCity/, 'the suggested mapping is there');
  await city.click();
  await page.getByRole('option', { name: /\(BillingState\)/ }).click();
  await page.getByRole('combobox', { name: 'Transform for City' }).selectOption('lowercase');
  await page.getByRole('button', { name: 'Review changes' }).click();
  const changes = page.getByRole('table', { name: 'Changes' });
  await changes.getByRole('cell', { name: 'BillingState (lowercase)' }).waitFor();
  await page.getByRole('button', { name: /^Save \d+ changes?$/ }).click();
  await page.getByText('No unsaved changes').waitFor();
  await page.getByRole('link', { name: 'Watch the run' }).click();
  await page.getByRole('heading', { name: /^Remap/ }).waitFor();
  await page.getByText(/^Done\./).waitFor();
  await go(page, t.own, '/settings/connectors/crm_a?tab=mappings');
  await city.click();
  await page.getByRole('option', { name: /\(BillingCity\)/ }).click();
  await page.getByRole('combobox', { name: 'Transform for City' }).selectOption('');
  await page.getByRole('link', { name: 'Accounts' }).click();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay here' }).click();
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('button', { name: /^Save \d+ changes?$/ }).click();
  await page.getByText('No unsaved changes').waitFor();
});

test('a sync moves its bar live, by events of the server', async (t) => {
  const { page } = t.admin;
  await go(page, t.own, '/settings/connectors/crm_a');
  const stream = page.waitForResponse((r) => /\/api\/runs\/[^/]+\/events$/.test(r.url()));
  await page.getByRole('button', { name: 'Sync now' }).click();
  await page.getByRole('heading', { name: 'Sync at work' }).waitFor();
  assert.match((await stream).headers()['content-type'], /^text\/event-stream/);
  const polled = [];
  page.on('request', (r) => { if (/\/api\/runs\/[0-9a-f-]{36}$/.test(r.url())) polled.push(r.url()); });
  const seen = await page.waitForFunction(() => {
    const bar = document.querySelector('main [role=progressbar]');
    const text = bar?.parentElement?.innerText ?? '';
    const seen = (globalThis.seenProgress ??= new Set());
    const share = bar?.getAttribute('aria-valuenow');
    if (share && share !== '0' && share !== '100') seen.add(share);
    globalThis.seenText ??= new Set();
    if (text) globalThis.seenText.add(text);
    return seen.size >= 2 ? [...seen] : null;
  }, undefined, { polling: 'raf', timeout: 40_000 });
  const values = await seen.jsonValue();
  assert.ok(values.length >= 2, `bar values ${values}`);
  assert.equal(polled.length, 0, 'the run is followed by events, not by asking again');
  t.progress = values;
}, 60_000);

test('a finished sync tells what it did', async (t) => {
  const { page } = t.admin;
  await go(page, t.own, '/runs');
  await page.getByRole('row', { name: /^Sync · Salesforce/ }).first().getByRole('link').click();
  const panel = page.getByRole('dialog', { name: 'Run' });
  await panel.getByText(/^Done\./).waitFor({ timeout: 60_000 });
  await panel.getByText('Accounts scored').waitFor();
  const counts = await panel.locator('section[aria-labelledby=run-counts]').innerText();
  const value = (name) => Number((new RegExp(`^${name}\\n+([\\d,]+)`, 'm').exec(counts)?.[1] ?? '0').replaceAll(',', ''));
  assert.ok(value('Read') >= 3000, counts);
  assert.equal(value('Read'), ['Created', 'Updated', 'Unchanged', 'Deleted', 'Failed'].reduce((sum, name) => sum + value(name), 0), counts);
}, 75_000);

test('a run is cancelled within seconds', async (t) => {
  const { page } = t.admin;
  // A second full sync finds nothing new and may be over before the click; then there is nothing to cancel, and one tries again.
  for (let attempt = 1; ; attempt += 1) {
    await go(page, t.own, '/settings/connectors/crm_a');
    const started = page.waitForResponse((r) => r.url().endsWith('/crm_a/sync'));
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Sync everything again' }).click();
    const { run } = await (await started).json();
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('dialog', { name: 'Cancel this run?' }).getByRole('button', { name: 'Cancel run' }).click();
    const status = await until('the run to end', 15_000, async () => {
      const now = (await call(t.own, 'GET', `/api/runs/${run.id}`)).json();
      return ['queued', 'running'].includes(now.status) ? null : now.status;
    });
    if (status !== 'cancelled' && attempt < 3) continue;
    assert.equal(status, 'cancelled');
    break;
  }
  await go(page, t.own, '/runs?kind=connector_sync');
  await page.getByRole('row', { name: /Cancelled/ }).first().waitFor();
}, 60_000);
