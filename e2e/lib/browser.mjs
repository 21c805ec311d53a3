// Headless Chromium, with everything it complains about written down.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pictures = fileURLToPath(new URL('../screenshots/', import.meta.url));

export async function launch() {
  mkdirSync(pictures, { recursive: true });
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags });
}

/** A context whose pages report console errors, exceptions and CSP violations; expect(401) allows a refused request. */
export async function open(browser, complaints, { theme = 'light', width = 1280, storageState } = {}) {
  const context = await browser.newContext({ viewport: { width, height: width > 600 ? 800 : 844 }, colorScheme: theme, reducedMotion: 'reduce', storageState, permissions: ['clipboard-read', 'clipboard-write'] });
  context.setDefaultTimeout(15_000);
  const allowed = new Set();
  await context.addInitScript(() => document.addEventListener('securitypolicyviolation', (e) => console.error(`CSP violation: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`)));
  await context.addInitScript({ content: axe });
  context.on('page', (page) => {
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error}`));
    page.on('console', (message) => {
      if (!['error', 'warning'].includes(message.type())) return;
      const status = /status of (\d+)/.exec(message.text())?.[1];
      if (status && allowed.has(Number(status))) return;
      complaints.push(`${page.url()}: ${message.text()} ${message.location().url ?? ''}`);
    });
  });
  return { context, page: await context.newPage(), expect: (...statuses) => statuses.forEach((s) => allowed.add(s)) };
}

/** Waits until the page shows its data: a heading, no skeleton, nothing loading. */
export async function settled(page) {
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(() => !document.querySelector('.skeleton, .mantine-Skeleton-root, [role=status][aria-label^=Loading], [aria-busy=true]'));
}

/** What axe finds serious or critical, and what is wider than the screen. */
export async function inspect(page, { axe: scan = true } = {}) {
  const found = await page.evaluate(async (scan) => {
    const { violations } = scan ? await globalThis.axe.run(document, { resultTypes: ['violations'], iframes: false }) : { violations: [] };
    return {
      wide: document.documentElement.scrollWidth - window.innerWidth,
      serious: violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `axe ${v.impact} ${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target.join(' ')} ${n.any[0]?.message ?? ''}`).join(' | ')}`),
    };
  }, scan);
  return [...found.serious, ...(found.wide > 0 ? [`the page is ${found.wide} px wider than the screen`] : [])];
}

export const picture = (page, name) => page.screenshot({ path: `${pictures}${name}.png` });
