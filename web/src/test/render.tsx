import { render } from '@testing-library/react';
import { vi } from 'vitest';
import { createMemoryRouter, RouterProvider, type RouteObject } from 'react-router';
import { newQueryClient, Providers } from '../app/providers';
import type { Me } from '../api/types';

export interface Call { method: string; path: string; query: URLSearchParams; body: unknown; headers: Headers }
export type Handler = (call: Call) => Response;

export const json = (value: unknown, headers: Record<string, string> = {}) => new Response(JSON.stringify(value), { headers: { 'Content-Type': 'application/json', ...headers } });
export const problem = (status: number, code: string, extra: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ status, code, detail: code, ...extra }), { status, headers: { 'Content-Type': 'application/problem+json', ...headers } });

/** Answers the network with these handlers, keyed "GET /api/…"; returns the calls made. Others are a 404 problem. */
export function network(handlers: Record<string, Handler>): Call[] {
  const calls: Call[] = [];
  vi.stubGlobal('fetch', (input: string, init: RequestInit = {}) => {
    const url = new URL(input, 'http://localhost');
    const call = { method: init.method ?? 'GET', path: url.pathname, query: url.searchParams, body: init.body ? (JSON.parse(init.body as string) as unknown) : undefined, headers: new Headers(init.headers) };
    calls.push(call);
    const handler = handlers[`${call.method} ${call.path}`];
    return Promise.resolve(handler ? handler(call) : problem(404, 'not_found'));
  });
  return calls;
}

export const me: Me = {
  user: { id: 'u1', email: 'ada@example.org', name: 'Ada Moreno' }, organization: { id: 'o1', name: 'Demo Organization' }, role: 'admin', organizations: [{ id: 'o1', name: 'Demo Organization', role: 'admin' }],
};

export function renderRoutes(routes: RouteObject[], at: string) {
  const router = createMemoryRouter(routes, { initialEntries: [at] });
  const client = newQueryClient();
  return { router, client, ...render(<Providers client={client} env="test"><RouterProvider router={router} /></Providers>) };
}
