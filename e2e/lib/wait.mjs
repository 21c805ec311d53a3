// Waiting for conditions, never for time.
import { setTimeout as later } from 'node:timers/promises';

/** Asks until the answer is truthy; fails with what it waited for. */
export async function until(what, limit, ask) {
  const end = Date.now() + limit;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`waited ${limit / 1000} s for ${what}`);
    await later(100);
  }
}
