// Every page in both themes at 1280 and 390 px, with an axe scan and the browser's complaints. Needs a build first.
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { serve } from './serve.mjs';

const require = createRequire(import.meta.url);
const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
const only = process.argv.slice(2);
const account = '0199a000-0000-7000-8000-000000000003';
const run = '0199a000-0000-7000-8000-000000009000';
const failed = '0199a000-0000-7000-8000-000000009002';
const pages = {
  'sign-in': '/sign-in', invite: '/invite/abc', dashboard: '/dashboard', accounts: '/accounts', 'accounts-empty': '/accounts?query=zzz', 'account-panel': `/accounts?account=${account}`, account: `/accounts/${account}`, 'account-contacts': `/accounts/${account}?tab=contacts`,
  score: `/accounts/${account}?score=risk`, tasks: '/tasks', runs: '/runs', run: `/runs/${run}`, 'run-failed': `/runs/${failed}`, connectors: '/settings/connectors', connector: '/settings/connectors/crm_a?connected=1', fields: '/settings/connectors/crm_a?tab=fields', mappings: '/settings/connectors/crm_a?tab=mappings',
  integrations: '/settings/integrations', members: '/settings/members', organization: '/settings/organization', governance: '/settings/governance-log', 'not-found': '/nowhere',
};
const server = await serve();
const base = `http://127.0.0.1:${server.address().port}`;
const out = new URL('../screenshots/', import.meta.url).pathname;
await mkdir(out, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
let complaints = 0;
for (const theme of ['light', 'dark']) {
  for (const width of [1280, 390]) {
    const context = await browser.newContext({ viewport: { width, height: width === 1280 ? 800 : 844 }, colorScheme: theme, reducedMotion: 'reduce', bypassCSP: false });
    for (const [name, path] of Object.entries(pages)) {
      if (only.length && !only.includes(name)) continue;
      if (name === 'sign-in') await fetch(`${base}/api/auth/logout`, { method: 'POST' });
      const page = await context.newPage();
      const complain = (text) => { complaints += 1; console.log(`${name} ${theme} ${width}: ${text}`); };
      page.on('console', (m) => { if (['error', 'warning'].includes(m.type()) && !m.text().includes('401')) complain(m.text()); });
      page.on('pageerror', (e) => complain(String(e)));
      await page.goto(base + path);
      await page.locator('h1').first().waitFor();
      await page.waitForLoadState('load');
      await page.locator('.skeleton, [role=status][aria-label^=Loading]').first().waitFor({ state: 'detached' });
      await page.waitForTimeout(150);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (overflow > 0) complain(`the page is ${overflow} px wider than the screen`);
      const found = await (await context.newCDPSession(page)).send('Runtime.evaluate', { expression: `${axe}; axe.run().then((r) => JSON.stringify(r.violations.map((v) => [v.impact, v.id, v.nodes.slice(0, 3).map((n) => n.target.join(' ') + ' ' + n.html.slice(0, 140) + ' ' + (n.any[0]?.message ?? ''))])))`, awaitPromise: true, returnByValue: true });
      for (const [impact, id, nodes] of JSON.parse(found.result.value ?? '[]')) complain(`axe ${impact} ${id}\n  ${nodes.join('\n  ')}`);
      await page.screenshot({ path: `${out}${name}-${theme}-${width}.png` });
      await page.close();
      if (name === 'sign-in') await fetch(`${base}/api/auth/login`, { method: 'POST', body: '{}' });
    }
    await context.close();
  }
}
await browser.close();
server.closeAllConnections();
server.close();
console.log(complaints ? `${complaints} complaints` : 'no complaints');
