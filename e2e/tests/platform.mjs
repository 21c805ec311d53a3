// What operators do: load an official file, here a wrong one, which must be told in words and change nothing.
import assert from 'node:assert/strict';
import { go, switchTo } from '../lib/steps.mjs';
import { test } from '../lib/runner.mjs';

test('a wrong file is sent, refused in words, and nothing is loaded', async (t) => {
  const { page } = t.demoAdmin;
  t.demoAdmin.expect(422);
  await go(page, t.demo, '/dashboard');
  await switchTo(page, 'Platform');
  await go(page, t.demo, '/settings/datasets');
  await page.getByText('Nothing loaded').first().waitFor();
  await page.getByRole('button', { name: 'Load a file' }).click();
  const form = page.getByRole('dialog', { name: 'Load an official file' });
  await form.locator('input[type=file]').setInputFiles({ name: 'lunch.csv', mimeType: 'text/csv', buffer: Buffer.from('dish,price\nsoup,4\n') });
  await form.getByRole('button', { name: 'Load file' }).click();
  await page.getByText(/^(Failed:|Not loaded\.)/).first().waitFor();
  await go(page, t.demo, '/settings/datasets');
  await page.getByText('Nothing loaded').first().waitFor();
  await switchTo(page, 'Demo organization');
});

test('the first screen takes less than 200 KB of script over the wire', async (t) => {
  const { context, page, expect } = await t.open();
  expect(401);
  const scripts = [];
  page.on('requestfinished', (request) => { if (request.resourceType() === 'script') scripts.push(request); });
  await page.goto(`${t.demo.url}/sign-in`);
  await page.getByLabel('E-mail').waitFor();
  await page.waitForLoadState('networkidle');
  const sizes = await Promise.all(scripts.map(async (request) => (await request.sizes()).responseBodySize));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(scripts.length > 1 && total > 0 && total < 200 * 1024, `${scripts.length} scripts of ${total} bytes`);
  await context.close();
});
