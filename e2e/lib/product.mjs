// Starts and stops copies of the product, each with its own data folder and ports. Only what was started here is stopped.
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './wait.mjs';

const bin = fileURLToPath(new URL('../../bin/', import.meta.url));
const running = new Set();

/** Says what to do when the binaries are not there yet. */
export function requireBuild() {
  const missing = ['revarch', 'temporal'].filter((name) => !existsSync(join(bin, name)));
  if (missing.length) throw new Error(`bin/${missing.join(' and bin/')} missing: run "make build" first`);
}

/** Starts `revarch up` and answers its addresses and credentials once it is ready. */
export async function start(name, flags) {
  const data = await mkdtemp(join(tmpdir(), `revarch-e2e-${name}-`));
  await chmod(data, 0o755); // PostgreSQL runs as another user where this one is root
  const ready = join(data, 'ready.json');
  const child = spawn(join(bin, 'revarch'), ['up', '--data', join(data, 'data'), '--port', '0', '--ready-file', ready, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  const log = [];
  const note = (chunk) => { log.push(String(chunk)); if (log.length > 400) log.shift(); };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  const product = { name, child, data, ended: new Promise((resolve) => child.once('exit', resolve)), tail: () => log.join('').split('\n').slice(-25).join('\n') };
  running.add(product);
  const addresses = await until(`${name} to be ready`, 90_000, async () => {
    if (child.exitCode !== null) throw new Error(`revarch up ended with ${child.exitCode}:\n${product.tail()}`);
    return existsSync(ready) ? JSON.parse(await readFile(ready, 'utf8')) : null;
  });
  return Object.assign(product, { url: addresses.app_url, email: addresses.admin_email, password: addresses.admin_password, key: addresses.api_key, addresses });
}

/** Asks a copy to end as Ctrl-C does, waits for it and removes its data. */
export async function stop(product) {
  if (!running.delete(product)) return;
  if (product.child.exitCode === null) product.child.kill('SIGINT');
  const late = setTimeout(() => product.child.kill('SIGKILL'), 30_000);
  await product.ended;
  clearTimeout(late);
  await rm(product.data, { recursive: true, force: true, maxRetries: 5 });
}

export const stopAll = () => Promise.all([...running].map(stop));

/** Calls the API with the copy's key, or as said. */
export async function call(product, method, path, { body, key = product.key, headers = {} } = {}) {
  const response = await fetch(product.url + path, {
    method,
    headers: { ...(key ? { Authorization: `Bearer ${key}` } : {}), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}
