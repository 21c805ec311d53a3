import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { api } from '../api/client';
import SignIn from '../pages/SignIn';
import { json, me, network, problem, renderRoutes } from '../test/render';
import { RequireSession, safeReturn, useMe } from './session';

function Inside() {
  return <p>Hello {useMe().user.name}</p>;
}
const routes = [
  { path: '/sign-in', element: <SignIn /> },
  { path: '/accounts', element: <RequireSession><Inside /></RequireSession> },
];

test('a page asks for sign-in and comes back to what was asked for', async () => {
  let signedIn = false;
  network({
    'GET /api/auth/me': () => (signedIn ? json(me) : problem(401, 'unauthenticated')),
    'POST /api/auth/login': (call) => { signedIn = (call.body as { password: string }).password === 'right'; return signedIn ? json(me) : problem(401, 'unauthenticated'); },
  });
  const { router } = renderRoutes(routes, '/accounts?sort=arr');
  const user = userEvent.setup();
  await user.type(await screen.findByLabelText('E-mail'), 'ada@example.org');
  await user.type(screen.getByLabelText('Password'), 'wrong');
  await user.click(screen.getByRole('button', { name: 'Sign in' }));
  expect(await screen.findByText('The e-mail or the password is not right.')).toBeVisible();
  await user.clear(screen.getByLabelText('Password'));
  await user.type(screen.getByLabelText('Password'), 'right');
  await user.click(screen.getByRole('button', { name: 'Sign in' }));
  expect(await screen.findByText('Hello Ada Moreno')).toBeVisible();
  expect(router.state.location.pathname + router.state.location.search).toBe('/accounts?sort=arr');
});

test('a slowed-down sign-in shows the wait and holds the button', async () => {
  network({ 'GET /api/auth/me': () => problem(401, 'unauthenticated'), 'POST /api/auth/login': () => problem(429, 'rate_limited', {}, { 'Retry-After': '30' }) });
  renderRoutes(routes, '/sign-in');
  const user = userEvent.setup();
  await user.type(await screen.findByLabelText('E-mail'), 'ada@example.org');
  await user.type(screen.getByLabelText('Password'), 'x');
  await user.click(screen.getByRole('button', { name: 'Sign in' }));
  expect(await screen.findByText(/You can try again in \d+ seconds/)).toBeVisible();
  expect(screen.getByRole('button', { name: /^Wait \d+ s$/ })).toBeDisabled();
});

test('a session that ends leads to the sign-in page', async () => {
  let signedIn = true;
  network({ 'GET /api/auth/me': () => (signedIn ? json(me) : problem(401, 'unauthenticated')), 'GET /api/accounts': () => problem(401, 'unauthenticated') });
  const { router } = renderRoutes(routes, '/accounts');
  await screen.findByText('Hello Ada Moreno');
  signedIn = false;
  await api.get('/api/accounts').catch(() => undefined);
  await waitFor(() => expect(router.state.location.pathname).toBe('/sign-in'));
  expect(router.state.location.search).toBe('?return=%2Faccounts');
});

test('the return path cannot lead to another site', () => {
  expect(safeReturn('/accounts?sort=arr')).toBe('/accounts?sort=arr');
  for (const bad of ['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '', null, '/sign-in?return=/sign-in']) expect(safeReturn(bad)).toBe('/');
});
