// One way to talk to the service: JSON in and out, problem documents as ApiError, cookies of the same origin.
import type { components } from './schema';

export type FieldError = components['schemas']['ProblemField'];

/** A refused or failed request. status is 0 when the service could not be reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors: FieldError[];
  readonly retryAfter: number | null;

  constructor(init: { status: number; code: string; detail: string; errors?: FieldError[]; retryAfter?: number | null }) {
    super(init.detail);
    this.name = 'ApiError';
    this.status = init.status;
    this.code = init.code;
    this.detail = init.detail;
    this.errors = init.errors ?? [];
    this.retryAfter = init.retryAfter ?? null;
  }

  /** The message for one field, e.g. fieldError('body.email') or fieldError('email'). */
  fieldError(name: string): string | undefined {
    return this.errors.find((e) => e.location === name || e.location === `body.${name}`)?.message;
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>;

interface Options { query?: Query; body?: unknown; ifMatch?: string | null; signal?: AbortSignal }
export interface Answer<T> { data: T; etag: string | null }

type Listener = () => void;
const unauthenticated = new Set<Listener>();

/** Calls listener whenever a request is refused for want of a session; returns the way to stop. */
export function onUnauthenticated(listener: Listener): () => void {
  unauthenticated.add(listener);
  return () => unauthenticated.delete(listener);
}

export function url(path: string, query?: Query): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '') params.set(key, String(value));
  }
  const text = params.toString();
  return text ? `${path}?${text}` : path;
}

/** Sends one request and also answers the ETag, for resources that are saved with If-Match. */
export async function send<T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> {
  const headers: Record<string, string> = { Accept: 'application/json, application/problem+json' };
  if (options.body !== undefined) headers['Content-Type'] = 'application/json';
  if (options.ifMatch) headers['If-Match'] = options.ifMatch;
  let response: Response;
  try {
    response = await fetch(url(path, options.query), {
      method,
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      credentials: 'same-origin',
      signal: options.signal,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError({ status: 0, code: 'unreachable', detail: 'The service cannot be reached. Check your connection and try again.' });
  }
  if (!response.ok) {
    const problem = await toApiError(response);
    if (problem.status === 401 && !path.startsWith('/api/auth/')) unauthenticated.forEach((listener) => listener());
    throw problem;
  }
  const text = await response.text();
  return { data: (text ? JSON.parse(text) : undefined) as T, etag: response.headers.get('ETag') };
}

async function toApiError(response: Response): Promise<ApiError> {
  let body: { code?: string; detail?: string; title?: string; errors?: FieldError[] } = {};
  try {
    body = JSON.parse(await response.text()) as typeof body;
  } catch {
    body = {}; // a proxy's page, not ours
  }
  return new ApiError({
    status: response.status,
    code: body.code ?? `http_${response.status}`,
    detail: body.detail ?? body.title ?? `The service answered ${response.status}.`,
    errors: body.errors,
    retryAfter: secondsOf(response.headers.get('Retry-After')),
  });
}

// Retry-After is either seconds or a date.
function secondsOf(header: string | null): number | null {
  if (!header) return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, Math.ceil(seconds));
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

const data = <T>(answer: Promise<Answer<T>>) => answer.then((a) => a.data);

export const api = {
  get: <T>(path: string, query?: Query, signal?: AbortSignal) => data(send<T>('GET', path, { query, signal })),
  post: <T>(path: string, body?: unknown) => data(send<T>('POST', path, { body })),
  patch: <T>(path: string, body: unknown) => data(send<T>('PATCH', path, { body })),
  put: <T>(path: string, body: unknown, ifMatch?: string | null) => send<T>('PUT', path, { body, ifMatch }),
  delete: <T>(path: string) => data(send<T>('DELETE', path)),
};
