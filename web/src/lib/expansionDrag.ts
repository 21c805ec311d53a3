import { useCallback, useEffect, useRef, useState, type PointerEvent } from 'react';
import type { Signal, SignalStatus } from '../api/expansion';

const threshold = 6; // pixels: less is a click with an unsteady hand
const edge = 48;

interface Drag { id: string; over: SignalStatus | null }

/** The column below a point. */
function columnAt(x: number, y: number): SignalStatus | null {
  const column = document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-column]');
  return (column?.dataset.column as SignalStatus | undefined) ?? null;
}

/** A picture of the card that follows the pointer and that nobody can focus or hear. */
function ghostOf(card: HTMLElement): HTMLElement {
  const ghost = card.cloneNode(true) as HTMLElement;
  for (const e of [ghost, ...ghost.querySelectorAll<HTMLElement>('[id]')]) e.removeAttribute('id');
  const box = card.getBoundingClientRect();
  ghost.className += ' ghost';
  ghost.setAttribute('aria-hidden', 'true');
  ghost.inert = true;
  Object.assign(ghost.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px` });
  document.body.append(ghost);
  return ghost;
}

/**
 * Drags cards by pointer: with a mouse anywhere on the card, with a finger by its grip, so that the rest still scrolls.
 * Escape, or letting go outside of the columns, leaves the card where it was.
 */
export function useCardDrag(onDrop: (signal: Signal, to: SignalStatus) => void) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const stop = useRef<(() => void) | null>(null);
  useEffect(() => () => stop.current?.(), []);

  const start = useCallback((event: PointerEvent<HTMLElement>, signal: Signal) => {
    const target = event.target as HTMLElement;
    if (event.button !== 0 || target.closest('a, [data-menu]') || (event.pointerType !== 'mouse' && !target.closest('[data-grip]'))) return;
    stop.current?.();
    const card = event.currentTarget;
    const board = card.closest<HTMLElement>('[data-board]');
    const from = { x: event.clientX, y: event.clientY };
    let ghost: HTMLElement | null = null;
    const listeners = new AbortController();
    const { signal: until } = listeners;
    const end = () => {
      listeners.abort();
      ghost?.remove();
      stop.current = null;
      setDrag(null);
    };
    stop.current = end;
    window.addEventListener('pointermove', (e) => {
      const x = e.clientX - from.x;
      const y = e.clientY - from.y;
      if (!ghost && Math.hypot(x, y) < threshold) return;
      e.preventDefault();
      ghost ??= ghostOf(card);
      ghost.style.transform = `translate(${x}px, ${y}px)`;
      if (board && e.clientX < edge) board.scrollBy({ left: -16 });
      else if (board && e.clientX > window.innerWidth - edge) board.scrollBy({ left: 16 });
      const over = columnAt(e.clientX, e.clientY);
      setDrag((old) => (old && old.over === over ? old : { id: signal.id, over }));
    }, { signal: until });
    window.addEventListener('pointerup', (e) => {
      const moved = ghost !== null;
      const to = moved ? columnAt(e.clientX, e.clientY) : null;
      end();
      if (!moved) return;
      // The click that follows on the card's title would open it.
      const click = new AbortController();
      window.addEventListener('click', (c) => { c.preventDefault(); c.stopPropagation(); }, { capture: true, signal: click.signal });
      setTimeout(() => click.abort());
      if (to && to !== signal.status) onDrop(signal, to);
    }, { signal: until });
    window.addEventListener('pointercancel', end, { signal: until });
    window.addEventListener('keydown', (e) => { if (e.key === 'Escape') { e.stopPropagation(); end(); } }, { signal: until, capture: true });
  }, [onDrop]);
  return { drag, start };
}
