// Story 3: a key for an assistant, shown once, used, revoked.
import assert from 'node:assert/strict';
import { call } from '../lib/product.mjs';
import { go } from '../lib/steps.mjs';
import { test } from '../lib/runner.mjs';

const rpc = (product, key) => call(product, 'POST', '/api/mcp', {
  key, headers: { Accept: 'application/json, text/event-stream' }, body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
});

test('an API key is made with scopes, shown once, works over MCP and fails at once when revoked', async (t) => {
  const { page } = t.admin;
  await go(page, t.own, '/settings/integrations');
  await page.getByRole('button', { name: 'Create API key' }).click();
  const form = page.getByRole('dialog', { name: 'Create API key' });
  await form.getByLabel('Name').fill('Assistant');
  await form.getByRole('checkbox', { name: /^Write/ }).check();
  await form.getByRole('button', { name: 'Create key' }).click();
  const shown = page.getByRole('dialog', { name: 'Copy your API key' });
  const secret = await shown.getByLabel('API key').inputValue();
  assert.match(secret, /^rk_/);
  await shown.getByRole('button', { name: 'Copy configuration' }).click();
  const config = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  const server = Object.values(config.mcpServers)[0];
  assert.equal(server.url, `${t.own.url}/api/mcp`);
  assert.equal(server.headers.Authorization, `Bearer ${secret}`);
  await shown.getByRole('button', { name: 'I have copied it' }).click();
  const row = page.getByRole('table', { name: 'API keys' }).getByRole('row', { name: /Assistant/ });
  await row.getByText('Read, Write').waitFor();
  assert.ok(!(await page.content()).includes(secret), 'the secret is gone from the page');

  const listed = await rpc(t.own, secret);
  assert.equal(listed.status, 200, listed.text);
  const message = JSON.parse(listed.text.startsWith('{') ? listed.text : /^data: (.*)$/m.exec(listed.text)[1]);
  const tools = message.result.tools.map((tool) => tool.name);
  for (const name of ['get_dashboard', 'search_accounts', 'get_account_360', 'create_task']) assert.ok(tools.includes(name), `${name} in ${tools}`);
  assert.equal((await call(t.own, 'GET', '/api/settings/api-keys', { key: secret })).status, 403, 'its scopes hold');

  await row.getByRole('button', { name: 'Revoke Assistant' }).click();
  await page.getByRole('dialog', { name: 'Revoke Assistant?' }).getByRole('button', { name: 'Revoke key' }).click();
  await row.getByText('Revoked').waitFor();
  assert.equal((await rpc(t.own, secret)).status, 401);
});
