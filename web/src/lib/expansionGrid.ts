// A grid too large to draw whole: where the keys lead, and which cells are in view.

export interface At { row: number; column: number }

const page = 10;

/** Where a key leads from a cell of an n x n grid; null for a key that does not move. */
export function step(key: string, ctrl: boolean, at: At, n: number): At | null {
  const last = n - 1;
  const inside = (i: number) => Math.max(0, Math.min(last, i));
  const { row, column } = at;
  switch (key) {
    case 'ArrowUp': return { row: ctrl ? 0 : inside(row - 1), column };
    case 'ArrowDown': return { row: ctrl ? last : inside(row + 1), column };
    case 'ArrowLeft': return { row, column: ctrl ? 0 : inside(column - 1) };
    case 'ArrowRight': return { row, column: ctrl ? last : inside(column + 1) };
    case 'Home': return { row: ctrl ? 0 : row, column: 0 };
    case 'End': return { row: ctrl ? last : row, column: last };
    case 'PageUp': return { row: inside(row - page), column };
    case 'PageDown': return { row: inside(row + page), column };
    default: return null;
  }
}

export interface Span { from: number; to: number }

const spare = 4;

/** The cells of one direction that are in view, in steps of four, so that a small scroll draws nothing anew. */
export function span(scrolled: number, viewport: number, size: number, n: number): Span {
  const from = Math.floor((Math.floor(scrolled / size) - spare) / 4) * 4;
  const to = Math.ceil((Math.ceil((scrolled + viewport) / size) + spare) / 4) * 4;
  return { from: Math.max(0, Math.min(from, n)), to: Math.max(0, Math.min(to, n)) };
}

/** The indices of a span, with the one that must always be there because it takes the keyboard. */
export function indices({ from, to }: Span, always: number): number[] {
  const out = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
  if (always >= 0 && always < from) out.unshift(always);
  if (always >= to) out.push(always);
  return out;
}
