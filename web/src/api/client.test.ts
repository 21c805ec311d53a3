import { describe, expect, test, vi } from 'vitest';
import { json, network, problem } from '../test/render';
import { api, ApiError, onUnauthenticated, send, url } from './client';

const refused = (promise: Promise<unknown>) => promise.then(() => { throw new Error('was not refused'); }, (e: unknown) => e as ApiError);

describe('the client', () => {
  test('turns a problem document into an ApiError with its field errors', async () => {
    network({ 'POST /api/things': () => problem(422, 'invalid', { detail: 'Two fields are wrong', errors: [{ location: 'body.email', message: 'is taken' }] }) });
    const error = await refused(api.post('/api/things', {}));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 422, code: 'invalid', detail: 'Two fields are wrong' });
    expect(error.fieldError('email')).toBe('is taken');
    expect(error.fieldError('name')).toBeUndefined();
  });

  test('survives an error page that is not ours', async () => {
    network({ 'GET /api/things': () => new Response('<html>Bad gateway</html>', { status: 502 }) });
    expect(await refused(api.get('/api/things'))).toMatchObject({ status: 502, code: 'http_502' });
  });

  test('reads Retry-After as seconds and as a date', async () => {
    network({
      'GET /api/a': () => problem(429, 'rate_limited', {}, { 'Retry-After': '7' }),
      'GET /api/b': () => problem(429, 'rate_limited', {}, { 'Retry-After': new Date(Date.now() + 60_000).toUTCString() }),
    });
    expect((await refused(api.get('/api/a'))).retryAfter).toBe(7);
    const seconds = (await refused(api.get('/api/b'))).retryAfter;
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(60);
  });

  test('tells the app when the session is gone, but not when a password was wrong', async () => {
    network({ 'GET /api/accounts': () => problem(401, 'unauthenticated'), 'POST /api/auth/login': () => problem(401, 'unauthenticated') });
    const heard = vi.fn();
    const stop = onUnauthenticated(heard);
    await refused(api.post('/api/auth/login', {}));
    expect(heard).not.toHaveBeenCalled();
    await refused(api.get('/api/accounts'));
    expect(heard).toHaveBeenCalledTimes(1);
    stop();
  });

  test('says that the service cannot be reached', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('network')));
    expect(await refused(api.get('/api/accounts'))).toMatchObject({ status: 0, code: 'unreachable' });
  });

  test('sends If-Match and answers the ETag', async () => {
    const calls = network({ 'PUT /api/settings/organization': () => json({ ok: true }, { ETag: '"2"' }) });
    const answer = await send('PUT', '/api/settings/organization', { body: {}, ifMatch: '"1"' });
    expect(calls[0]?.headers.get('If-Match')).toBe('"1"');
    expect(answer.etag).toBe('"2"');
  });

  test('leaves empty query values out', () => {
    expect(url('/api/accounts', { query: 'a b', segment: '', state: null, limit: 5 })).toBe('/api/accounts?query=a+b&limit=5');
  });
});
