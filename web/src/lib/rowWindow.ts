import { useLayoutEffect, useState, type RefObject } from 'react';

interface Range { from: number; to: number; height: number }
const spare = 16;

/** Which rows to draw for what is scrolled into view. Rows are of one height, which is measured. */
export function visibleRange(scrollTop: number, viewport: number, height: number, count: number): { from: number; to: number } {
  const first = Math.floor(scrollTop / height);
  // In steps of eight, so that a small scroll draws nothing anew.
  const from = Math.max(0, Math.floor((first - spare) / 8) * 8);
  const to = Math.min(count, Math.ceil((first + viewport / height + spare) / 8) * 8);
  return { from: Math.min(from, Math.max(0, count - 1)), to };
}

/** Draws only the rows near what is in view, so that thousands scroll as lightly as fifty. */
export function useRowWindow(scroll: RefObject<HTMLElement | null>, count: number, enabled: boolean) {
  const [range, setRange] = useState<Range>({ from: 0, to: 80, height: 36 });
  useLayoutEffect(() => {
    const element = scroll.current;
    if (!enabled || !element) return;
    const update = () => {
      const height = element.querySelector<HTMLElement>('tr[data-index]')?.offsetHeight || 36;
      const next = { ...visibleRange(element.scrollTop, element.clientHeight, height, count), height };
      setRange((old) => (old.from === next.from && old.to === next.to && old.height === next.height ? old : next));
    };
    update();
    element.addEventListener('scroll', update, { passive: true });
    const observer = new ResizeObserver(update);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', update);
      observer.disconnect();
    };
  }, [scroll, count, enabled]);

  const { height } = range;
  if (!enabled) return { from: 0, to: count, before: 0, after: 0, height };
  const to = Math.min(range.to, count);
  return { from: Math.min(range.from, to), to, before: range.from * height, after: Math.max(0, count - to) * height, height };
}

/** Scrolls just as far as is needed to bring a row into view, below the sticky header. */
export function revealRow(element: HTMLElement | null, index: number, height: number): void {
  if (!element) return;
  const top = index * height;
  const bottom = top + 3 * height;
  if (top < element.scrollTop) element.scrollTo({ top });
  else if (bottom > element.scrollTop + element.clientHeight) element.scrollTo({ top: bottom - element.clientHeight });
}
