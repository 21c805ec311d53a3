// Drives the whole product as people use it: `npm test`, or `node run.mjs word…` for the tests whose name holds a word.
import { launch, open, picture } from './lib/browser.mjs';
import { requireBuild, start, stop, stopAll } from './lib/product.mjs';
import { runAll } from './lib/runner.mjs';

const began = Date.now();
let browser;
let ending;
const end = (code) => (ending ??= (async () => {
  await browser?.close().catch(() => undefined);
  await stopAll();
  process.exit(code);
})());
// A wait that its test gave up on may still fail when the browser closes; anything else is a defect of these tests.
process.on('unhandledRejection', (error) => { if (!/has been closed|Timeout/.test(String(error))) { console.error(error); void end(1); } });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void end(1));

try {
  requireBuild();
  const complaints = [];
  const [demo, own] = await Promise.all([start('demo', ['--demo']), start('own', ['--sandbox-accounts', '3000'])]);
  browser = await launch();
  console.log(`two copies side by side, ready after ${((Date.now() - began) / 1000).toFixed(1)} s`);
  const context = {
    browser, complaints, demo, own, stop, pages: [],
    takeComplaints: () => complaints.splice(0),
    open: async (options) => { const opened = await open(browser, complaints, options); context.pages.push(opened.page); return opened; },
    onFailure: async (name) => { for (const page of context.pages.filter((p) => !p.isClosed())) await picture(page, `failed-${name.replace(/\W+/g, '-').slice(0, 60)}-${context.pages.indexOf(page)}`).catch(() => undefined); },
  };
  for (const file of ['connect', 'scores', 'keys', 'people', 'work', 'expansion', 'platform', 'pages']) await import(`./tests/${file}.mjs`);
  const { passed, failed } = await runAll(context, process.argv.slice(2));
  console.log(`took ${((Date.now() - began) / 1000).toFixed(0)} s`);
  console.log(`${passed} passed, ${failed} failed`);
  await end(failed || !passed ? 1 : 0);
} catch (error) {
  console.error(error.message);
  console.log('0 passed, 1 failed');
  await end(1);
}
