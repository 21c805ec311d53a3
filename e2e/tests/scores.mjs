// Story 2, the end of it: accounts with scores, and one score taken apart.
import assert from 'node:assert/strict';
import { inspect, picture, settled } from '../lib/browser.mjs';
import { go } from '../lib/steps.mjs';
import { test } from '../lib/runner.mjs';

test('accounts are listed with their scores, the riskiest first', async (t) => {
  const { page } = t.admin;
  await go(page, t.own, '/accounts');
  const table = page.getByRole('table', { name: 'Accounts' });
  const risks = (await table.locator('tbody tr[data-index] td:nth-child(3)').allInnerTexts()).map((s) => Number(/\d+/.exec(s)?.[0]));
  assert.ok(risks.length > 20 && risks[0] > 0, `risks ${risks.slice(0, 5)}`);
  assert.deepEqual(risks.slice(0, 20), [...risks.slice(0, 20)].sort((a, b) => b - a));
  await page.getByText(/of \d,\d{3}$/).waitFor();
});

test('a score opens into every part of its decomposition', async (t) => {
  const { page } = t.admin;
  await page.getByRole('button', { name: /^Risk of / }).first().click();
  const score = page.getByRole('dialog', { name: /^Risk score of / });
  await score.getByTestId('composite').waitFor();
  const id = new URL(page.url()).searchParams.get('account');
  const stored = await page.evaluate(async (account) => (await (await fetch(`/api/accounts/${account}`)).json()).scores.risk, id);
  assert.equal(await score.getByTestId('composite').innerText(), stored.composite_score.toFixed(1));
  const text = await score.innerText();
  const fact = (name) => new RegExp(`^${name}\\n+(.+)`, 'm').exec(text)?.[1];
  assert.equal(fact('Confidence')?.toLowerCase(), stored.confidence);
  assert.equal(fact('Coverage'), `${Math.round(stored.coverage * 100)}%`);
  assert.equal(Number(fact('Rules evaluated')), stored.rules_evaluated);
  assert.equal(Number(fact('Rules triggered')), stored.rules_triggered.length);
  assert.match(fact('Computation time') ?? '', /ms$/);
  assert.equal(fact('Model version'), stored.model_version);
  assert.match(fact('Computed at') ?? '', /\d{4}/);
  const categories = await score.locator('section[aria-labelledby=decomp-categories] li').allInnerTexts();
  assert.equal(categories.length, 8);
  stored.category_scores.forEach((c, i) => {
    assert.match(categories[i].toLowerCase(), new RegExp(`^${c.category}`));
    assert.ok(categories[i].includes(`${c.weight}%`), categories[i]);
  });
  const rows = await score.getByRole('table', { name: 'Rules that fired' }).locator('tbody tr').count();
  assert.equal(rows, stored.rules_triggered.length);
  await score.getByText(/^Other rules/).click();
  const others = await score.getByRole('table', { name: 'Other rules' }).locator('tbody tr').count();
  assert.equal(rows + others + stored.rule_results.filter((r) => r.missing).length, stored.rule_results.length);
  await score.getByRole('heading', { name: 'What would change this most' }).waitFor();
  assert.deepEqual(await inspect(page), []);
  await picture(page, 'score-open');
  await page.keyboard.press('Escape');
  await score.waitFor({ state: 'detached' });
});

test('the keyboard finds an account, walks the table and opens a row', async (t) => {
  const { page } = t.admin;
  await go(page, t.own, '/accounts?sort=name');
  const name = (await page.locator('tr[data-index="2"] a').first().innerText()).trim();
  await page.locator('tr[data-index="0"]').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(() => document.activeElement?.getAttribute('data-index') === '2');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Account' }).getByRole('heading', { name, level: 2 }).waitFor();
  await page.goBack();
  await page.getByRole('dialog', { name: 'Account' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search accounts and pages' }).fill(name);
  await page.getByRole('listbox', { name: 'Results' }).getByRole('option', { name }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/accounts/*');
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search accounts and pages' }).fill('govern');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Governance log', level: 1 }).waitFor();
  await settled(page);
});
