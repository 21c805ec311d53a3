// Members by link, roles, settings of the organization, and the session's own turns.
import assert from 'node:assert/strict';
import { call } from '../lib/product.mjs';
import { go, signIn, switchTo } from '../lib/steps.mjs';
import { test } from '../lib/runner.mjs';

test('a member is invited by link, joins in another browser and is held to the role', async (t) => {
  const { page } = t.admin;
  await go(page, t.own, '/settings/members');
  await page.getByRole('button', { name: 'Invite member' }).click();
  const form = page.getByRole('dialog', { name: 'Invite member' });
  await form.getByLabel('E-mail').fill('riley@example.org');
  await form.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: 'Viewer' }).click();
  await form.getByRole('button', { name: 'Create invitation' }).click();
  const link = await form.getByLabel('Invitation link').inputValue();
  assert.ok(link.startsWith(t.own.url), link);
  await form.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('table', { name: 'Open invitations' }).getByText('riley@example.org').waitFor();

  const guest = await t.open();
  guest.expect(401, 403, 404, 422);
  await guest.page.goto(link);
  await guest.page.getByLabel('Your name').fill('Riley Park');
  await guest.page.getByRole('textbox', { name: 'Password' }).fill('short');
  await guest.page.getByRole('button', { name: 'Accept invitation' }).click();
  await guest.page.locator('[id$=-error], [role=alert]').first().waitFor();
  await guest.page.getByRole('textbox', { name: 'Password' }).fill('quiet-harbor-lantern-42');
  await guest.page.getByRole('button', { name: 'Accept invitation' }).click();
  await guest.page.getByRole('button', { name: /Riley Park: account menu/ }).waitFor();
  await go(guest.page, t.own, '/settings/members');
  await guest.page.getByText('You', { exact: true }).waitFor();
  assert.equal(await guest.page.getByRole('button', { name: 'Invite member' }).count(), 0);
  await go(guest.page, t.own, '/tasks');
  assert.equal(await guest.page.getByRole('button', { name: 'New task' }).count(), 0);
  const refused = await guest.page.evaluate(async () => (await fetch('/api/tasks', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"title":"No"}' })).status);
  assert.equal(refused, 403);
  await guest.page.goto(link);
  await guest.page.getByText('This invitation cannot be used').waitFor();

  await go(page, t.own, '/settings/members');
  await page.getByRole('button', { name: 'Remove Riley Park' }).click();
  await page.getByRole('dialog', { name: 'Remove Riley Park?' }).getByRole('button', { name: 'Remove member' }).click();
  await page.getByText('The member was removed.').waitFor();
  await guest.page.goto(`${t.own.url}/accounts`);
  await guest.page.getByRole('heading', { name: /Sign in/ }).waitFor();
  await guest.context.close();
});

test('settings say what is wrong beside the field and notice that someone else saved first', async (t) => {
  const { page } = t.admin;
  t.admin.expect(412, 422);
  await go(page, t.own, '/settings/organization');
  const from = page.locator('input[type=time]').first();
  const before = await from.inputValue();
  await from.fill('19:00');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('give start and end as HH:MM, start before end').waitFor();
  assert.equal(await from.getAttribute('aria-invalid'), 'true');
  await from.fill(before);
  await page.getByLabel('Renewal grace days').fill('75');

  const current = await call(t.own, 'GET', '/api/settings/organization');
  const theirs = current.json();
  delete theirs.id;
  const saved = await call(t.own, 'PUT', '/api/settings/organization', { body: { ...theirs, renewal_grace_days: 60 }, headers: { 'If-Match': current.headers.get('etag') } });
  assert.equal(saved.status, 200, saved.text);
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Someone else changed the settings meanwhile.').waitFor();
  await page.getByRole('button', { name: 'Load theirs' }).click();
  await page.waitForFunction(() => [...document.querySelectorAll('input')].some((i) => i.value === '60'));
  await page.getByLabel('Renewal grace days').fill('75');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Everything is saved').waitFor();
  assert.equal((await call(t.own, 'GET', '/api/settings/organization')).json().renewal_grace_days, 75);
});

test('after a session ends, signing in leads back to where one was', async (t) => {
  const { page, context } = t.admin;
  await go(page, t.own, '/accounts?sort=arr&state=TX');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Health', exact: true }).click();
  await page.getByRole('heading', { name: /Sign in/ }).waitFor();
  await signIn(page, t.own);
  await page.waitForURL(/\/accounts\?.*state=TX/);
});

test('the theme is kept, and signing out ends the session', async (t) => {
  const { page } = t.admin;
  await go(page, t.own, '/dashboard');
  await page.getByRole('button', { name: 'Use dark theme' }).click();
  await page.waitForFunction(() => document.documentElement.dataset.mantineColorScheme === 'dark');
  await go(page, t.own, '/runs');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.mantineColorScheme), 'dark');
  await page.getByRole('button', { name: /account menu/ }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: /Sign in/ }).waitFor();
  await page.goto(`${t.own.url}/accounts`);
  await page.waitForURL('**/sign-in?return=%2Faccounts');
  await t.admin.context.close();
});

test('two organizations of one person show their own accounts', async (t) => {
  t.demoAdmin = await t.open();
  t.demoAdmin.expect(401);
  const { page } = t.demoAdmin;
  await signIn(page, t.demo);
  await go(page, t.demo, '/accounts');
  await page.locator('tr[data-index="0"]').waitFor();
  await switchTo(page, 'My organization');
  await go(page, t.demo, '/accounts');
  await page.getByText('No accounts yet').waitFor();
  await switchTo(page, 'Demo organization');
});
