// Daily work in the demo organization: tasks, data issues, matches, scoring.
import assert from 'node:assert/strict';
import { call } from '../lib/product.mjs';
import { settled } from '../lib/browser.mjs';
import { go } from '../lib/steps.mjs';
import { test } from '../lib/runner.mjs';

test('a task is created for an account, done, and stays done', async (t) => {
  const { page } = t.demoAdmin;
  await go(page, t.demo, '/tasks');
  await page.getByRole('button', { name: 'New task' }).first().click();
  const form = page.getByRole('dialog', { name: 'New task' });
  await form.getByLabel('Title').fill('Call the superintendent');
  await form.getByRole('combobox', { name: 'Account' }).click();
  await page.locator('[role=option]:visible').first().click();
  await form.getByLabel('Due date').fill('2026-01-15');
  await form.getByRole('button', { name: 'Create task' }).click();
  const row = page.getByRole('row', { name: /Call the superintendent/ });
  await row.getByText('Overdue').waitFor();
  const changed = page.waitForResponse((r) => r.request().method() === 'PATCH');
  await row.getByRole('combobox', { name: /^Status of/ }).selectOption('DONE');
  assert.equal((await changed).status(), 200);
  await page.reload();
  await settled(page);
  assert.equal(await row.getByRole('combobox', { name: /^Status of/ }).inputValue(), 'DONE');
  await row.getByText('Overdue').waitFor({ state: 'detached' });
});

test('a data issue opens the accounts it is about, each with what to do', async (t) => {
  const { page } = t.demoAdmin;
  await go(page, t.demo, '/dashboard');
  const { blocking_issues: issues } = (await call(t.demo, 'GET', '/api/readiness')).json();
  await page.getByRole('table', { name: 'Data issues' }).getByRole('button', { name: 'No segment' }).click();
  await page.getByRole('table', { name: 'Affected accounts' }).locator('tr[data-index="0"]').waitFor();
  await settled(page);
  assert.equal(await page.getByRole('table', { name: 'Affected accounts' }).locator('tr[data-index]').count(), issues.find((i) => i.code === 'missing_segment').count);
});

test('scores are computed anew on request', async (t) => {
  const { page } = t.demoAdmin;
  await go(page, t.demo, '/settings/scoring');
  await page.getByRole('tab', { name: /^Risk/ }).click();
  await page.getByRole('table', { name: 'Rules of Risk' }).getByText('R-CO1').waitFor();
  await page.getByRole('button', { name: 'Score now' }).click();
  await page.getByRole('heading', { name: 'Scoring', level: 1 }).waitFor();
  await page.getByText(/^Done\./).waitFor();
  await page.getByText('Accounts scored').waitFor();
});

test('filters and sort live in the link, and Back takes a step back', async (t) => {
  const { page } = t.demoAdmin;
  await go(page, t.demo, '/accounts?segment=SMB&sort=name');
  const names = await page.locator('tr[data-index] td:nth-child(2)').allInnerTexts();
  assert.ok(names.length > 3);
  await page.locator('tr[data-index="1"]').click();
  await page.getByRole('dialog', { name: 'Account' }).getByRole('tab', { name: 'Overview' }).waitFor();
  const link = page.url();
  assert.match(link, /account=/);
  await page.goBack();
  await page.getByRole('dialog', { name: 'Account' }).waitFor({ state: 'detached' });
  await page.goto(link);
  await page.getByRole('dialog', { name: 'Account' }).getByRole('tab', { name: 'Overview' }).waitFor();
});
