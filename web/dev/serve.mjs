// Serves the built app as the product does (nonce per request, strict content security policy), over the mock API.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handle } from './mock.mjs';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist');
const types = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.html': 'text/html' };

export function policy(nonce) {
  return `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
}

async function file(req, res) {
  const path = normalize(new URL(req.url, 'http://mock').pathname);
  if (extname(path)) {
    try {
      const bytes = await readFile(join(dist, path));
      res.writeHead(200, { 'Content-Type': types[extname(path)] ?? 'application/octet-stream' });
      return res.end(bytes);
    } catch {
      res.writeHead(404);
      return res.end();
    }
  }
  const nonce = randomBytes(16).toString('base64');
  const page = (await readFile(join(dist, 'index.html'), 'utf8')).replaceAll('__CSP_NONCE__', nonce);
  res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy(nonce), 'Cache-Control': 'no-store' });
  res.end(page);
}

export function serve(port = 0) {
  const server = createServer((req, res) => void handle(req, res, () => file(req, res)));
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}
