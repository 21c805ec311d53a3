// What accounts could buy next: affinity, the board, whitespace, and products from files.
import assert from 'node:assert/strict';
import { call } from '../lib/product.mjs';
import { inspect, picture, settled } from '../lib/browser.mjs';
import { go } from '../lib/steps.mjs';
import { test } from '../lib/runner.mjs';

const column = (page, name) => page.getByRole('region', { name: new RegExp(`^${name}`) });
const titles = (page, name) => column(page, name).locator('.card-title');
const signalsOf = async (t, status) => (await call(t.demo, 'GET', `/api/expansion/signals?status=${status}`)).json().signals;

test('affinity is computed on request, and the keyboard reads the numbers behind a cell', async (t) => {
  const { page } = t.demoAdmin;
  await go(page, t.demo, '/expansion');
  await page.waitForURL('**/expansion/board');
  await page.getByRole('navigation', { name: 'Expansion' }).getByRole('link', { name: 'Affinity' }).click();
  await page.getByRole('button', { name: /^(Compute affinity|Recompute)$/ }).first().click();
  const map = page.getByRole('grid', { name: 'Lift of products owned together' });
  await map.waitFor();
  await settled(page);
  const [pair] = (await call(t.demo, 'GET', '/api/expansion/affinity?segment=all&significant=true&limit=1')).json().matrix;
  const cell = page.getByRole('gridcell', { name: `${pair.product_a.name}, then ${pair.product_b.name}: lift ${pair.lift.toFixed(2)}, significant` });
  const [row, col] = [Number(await cell.getAttribute('data-row')), Number(await cell.getAttribute('data-column'))];
  await map.locator('[role=gridcell][tabindex="0"]').focus();
  await page.keyboard.press('Control+Home');
  for (let i = 0; i < row; i += 1) await page.keyboard.press('ArrowDown');
  for (let i = 0; i < col; i += 1) await page.keyboard.press('ArrowRight');
  assert.ok(await cell.evaluate((c) => c === document.activeElement), 'the arrows lead to the cell');
  await page.keyboard.press('Enter');
  const numbers = page.getByRole('region', { name: `${pair.product_a.name} and ${pair.product_b.name}` });
  const text = (await numbers.innerText()).replace(/\s+/g, ' ');
  assert.ok(text.includes(`Of ${pair.n_a} owners of ${pair.product_a.name}, ${pair.n_ab} also own ${pair.product_b.name}`), text);
  assert.equal(await numbers.getByRole('row', { name: /^Lift/ }).getByRole('cell').first().innerText(), pair.lift.toFixed(2));
  assert.match(page.url(), /cell=/);
  assert.deepEqual(await inspect(page), []);
  await picture(page, 'affinity-cell');
  await page.keyboard.press('Escape');
  await numbers.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Show as table' }).click();
  const first = page.getByRole('table', { name: 'Affinity' }).locator('tbody tr[data-index="0"]');
  await first.waitFor();
  assert.ok((await first.innerText()).includes(pair.lift.toFixed(2)));
});

test('signals are generated and stand on the board, the best first', async (t) => {
  const { page } = t.demoAdmin;
  await go(page, t.demo, '/expansion/board');
  await page.getByRole('button', { name: /^(Generate signals|Regenerate)$/ }).first().click();
  await titles(page, 'Pending').first().waitFor();
  await settled(page);
  const { kpi, signals } = (await call(t.demo, 'GET', '/api/expansion/signals?status=pending')).json();
  assert.ok(kpi.total_pending > 10, `${kpi.total_pending} pending`);
  const shown = await titles(page, 'Pending').evaluateAll((all) => all.map((card) => [...card.children].map((part) => part.textContent)));
  assert.deepEqual(shown, signals.map((s) => [s.account.name, s.product.name]));
  const held = Object.entries(kpi.suppressed).filter(([k]) => k !== 'owned').reduce((sum, [, n]) => sum + n, 0);
  const figures = await page.getByRole('group', { name: 'Figures over all signals' }).innerText();
  assert.match(figures, new RegExp(`Pending\\n${kpi.total_pending.toLocaleString('en-US')}\\n`));
  assert.match(figures, new RegExp(`Held back\\n${held.toLocaleString('en-US')}\\n`));
});

test('a card is moved by keyboard, and taken back', async (t) => {
  const { page } = t.demoAdmin;
  await go(page, t.demo, '/expansion/board');
  const [best] = await signalsOf(t, 'pending');
  const name = `${best.account.name} ${best.product.name}`;
  await titles(page, 'Pending').first().focus();
  const saved = page.waitForResponse((r) => r.request().method() === 'PATCH');
  await page.keyboard.press('Shift+ArrowRight');
  assert.equal((await saved).status(), 200);
  await column(page, 'Pitched').getByRole('button', { name }).waitFor();
  assert.ok((await signalsOf(t, 'pitched')).some((s) => s.id === best.id));
  const back = page.waitForResponse((r) => r.request().method() === 'PATCH');
  await page.keyboard.press('Control+z');
  assert.equal((await back).status(), 200);
  await column(page, 'Pending').getByRole('button', { name }).waitFor();
  assert.ok(!(await signalsOf(t, 'pitched')).some((s) => s.id === best.id));
});

test('a card is dragged to another column and stays there', async (t) => {
  const { page } = t.demoAdmin;
  await go(page, t.demo, '/expansion/board');
  const [best] = await signalsOf(t, 'pending');
  const from = await titles(page, 'Pending').first().boundingBox();
  const to = await column(page, 'Won').boundingBox();
  const saved = page.waitForResponse((r) => r.request().method() === 'PATCH');
  await page.mouse.move(from.x + 20, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(to.x + 60, to.y + 60, { steps: 8 });
  await page.getByText('Move to Won', { exact: true }).waitFor();
  await picture(page, 'board-drag');
  await page.mouse.up();
  assert.equal((await saved).status(), 200);
  await page.reload();
  await settled(page);
  await column(page, 'Won').getByRole('button', { name: `${best.account.name} ${best.product.name}` }).waitFor();
});

test('a signal is dismissed with a reason, which its numbers show', async (t) => {
  const { page } = t.demoAdmin;
  await go(page, t.demo, '/expansion/board');
  const [best] = await signalsOf(t, 'pending');
  await page.getByRole('button', { name: `Move ${best.product.name} for ${best.account.name}` }).click();
  await page.getByRole('menuitem', { name: /^Dismissed/ }).click();
  await page.getByLabel('Reason').fill('Bought from a neighbor');
  await page.getByRole('button', { name: 'Dismiss', exact: true }).click();
  await column(page, 'Dismissed').getByRole('button', { name: `${best.account.name} ${best.product.name}` }).click();
  const panel = page.getByRole('dialog', { name: `${best.product.name} for ${best.account.name}` });
  await panel.getByText('Bought from a neighbor').waitFor();
  await panel.getByRole('table', { name: 'What speaks for it' }).waitFor();
  assert.match(page.url(), /signal=/);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
});

test('whitespace leads from a product to the accounts without it', async (t) => {
  const { page } = t.demoAdmin;
  await go(page, t.demo, '/expansion/whitespace');
  const row = page.getByRole('table', { name: 'Whitespace by product' }).locator('tbody tr[data-index="0"]');
  const product = await row.locator('td').first().innerText();
  await row.locator('td').first().click();
  const accounts = page.getByRole('table', { name: 'Whitespace by account' });
  await accounts.locator('tbody tr[data-index="0"]').waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Without the product' }).evaluate((s) => s.selectedOptions[0]?.label), product);
});

const file = (rows) => ({ name: 'products.csv', mimeType: 'text/csv', buffer: Buffer.from(['sku,name,list_price_usd,active', ...rows, ''].join('\n')) });

test('every bad row of a file is told before anything is imported, then the whole file is', async (t) => {
  const { page } = t.demoAdmin;
  await go(page, t.demo, '/settings/imports?resource=products');
  const choose = page.locator('input[type=file]');
  await choose.setInputFiles(file(['E2E-1,Signal Lamp,12.50,true', ',No Code,1,true', 'E2E-3,Odd Price,twelve,perhaps']));
  const bad = page.getByRole('table', { name: 'Bad rows' });
  await bad.locator('tbody tr[data-index="2"]').waitFor();
  const rows = (await bad.locator('tbody tr[data-index]').allInnerTexts()).map((r) => r.split('\t').slice(0, 2).join(' '));
  assert.deepEqual(rows.sort(), ['3 sku', '4 active', '4 list_price_usd']);
  assert.equal(await page.getByRole('button', { name: /^Import / }).count(), 0);
  assert.deepEqual(await inspect(page), []);
  await picture(page, 'import-bad-rows');
  await choose.setInputFiles(file(['E2E-1,Signal Lamp,12.50,true', 'E2E-2,Night Lamp,,']));
  await page.getByText('All 2 rows can be imported.').waitFor();
  await page.getByRole('button', { name: 'Import 2 rows' }).click();
  await page.getByText(/^Done\./).waitFor();
  assert.match((await page.locator('main').innerText()).replace(/\s+/g, ' '), /Created 2/);
  await go(page, t.demo, '/expansion/whitespace?sort=name');
  await page.getByRole('cell', { name: 'Signal Lamp' }).waitFor();
});
