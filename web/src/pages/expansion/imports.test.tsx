import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { RequireSession } from '../../app/session';
import { json, me, network, renderRoutes } from '../../test/render';
import Imports from './Imports';

afterEach(() => vi.unstubAllGlobals());

/** Answers uploads, which do not go through fetch. */
function uploads(answer: (path: string) => unknown): string[] {
  const sent: string[] = [];
  vi.stubGlobal('XMLHttpRequest', class {
    upload = {};
    status = 202;
    responseText = '';
    onload: () => void = () => undefined;
    private path = '';
    open(_: string, path: string) { this.path = path; }
    setRequestHeader() { /* not looked at */ }
    abort() { /* nothing is on its way */ }
    send() {
      sent.push(this.path);
      this.responseText = JSON.stringify(answer(this.path));
      queueMicrotask(() => this.onload());
    }
  });
  return sent;
}

test('a file that was not taken because another one is being imported says so', async () => {
  network({ 'GET /api/auth/me': () => json(me), 'GET /api/runs': () => json({ runs: [], next_cursor: null }) });
  const other = { id: 'r9', kind: 'import_file', subject: 'accounts', status: 'running', phase: 'reading' };
  const sent = uploads((path) => (path.includes('dry_run=true') ? { resource: 'accounts', rows: 2, valid: 2, bad: 0, errors: [], truncated: false } : { run: other, already_running: true }));
  const { router } = renderRoutes([{ path: '/', element: <RequireSession><Imports /></RequireSession> }], '/');
  const user = userEvent.setup();
  await user.upload(await screen.findByLabelText(/^Drop a CSV file here/), new File(['external_id,name\nA,B\n'], 'mine.csv', { type: 'text/csv' }));
  await user.click(await screen.findByRole('button', { name: 'Import 2 rows' }));
  expect(await screen.findByText(/mine\.csv was not taken/)).toBeVisible();
  expect(screen.getByRole('link', { name: 'Open its run' })).toHaveAttribute('href', '/runs/r9');
  expect(screen.getByRole('button', { name: 'Import 2 rows' })).toBeEnabled();
  expect(sent).toHaveLength(2);
  expect(router.state.location.search).toBe(''); // it does not show the other run as its own
});
