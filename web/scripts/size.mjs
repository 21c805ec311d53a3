// Measures what a browser downloads before the first screen is usable: the entry, the frame and one page, each with
// everything it imports statically. Fails above the budget.
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const budget = 200 * 1024;
const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist');
const manifest = JSON.parse(readFileSync(join(dist, '.vite', 'manifest.json'), 'utf8'));

const screens = {
  'sign-in': ['index.html', 'src/pages/SignIn.tsx'],
  accounts: ['index.html', 'src/app/Frame.tsx', 'src/pages/Accounts.tsx'],
};

function closure(keys) {
  const seen = new Set();
  const visit = (key) => {
    if (seen.has(key)) return;
    const chunk = manifest[key];
    if (!chunk) throw new Error(`${key} is not in the manifest: update scripts/size.mjs`);
    seen.add(key);
    (chunk.imports ?? []).forEach(visit);
  };
  keys.forEach(visit);
  return [...seen].map((key) => manifest[key].file);
}

const gzipped = (file) => statSync(join(dist, `${file}.gz`)).size; // what the server sends
let failed = false;
for (const [screen, keys] of Object.entries(screens)) {
  const files = closure(keys);
  const total = files.reduce((sum, file) => sum + gzipped(file), 0);
  const over = total > budget;
  failed ||= over;
  console.log(`${screen}: ${(total / 1024).toFixed(1)} KB of compressed script in ${files.length} files${over ? ' (over the budget of 200 KB)' : ''}`);
}
process.exit(failed ? 1 : 0);
