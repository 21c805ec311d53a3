import { useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { api, ApiError } from '../api/client';
import { paths, type Signal, type SignalMoved, type SignalPage, type SignalStatus } from '../api/expansion';
import { useToasts } from '../components/toasts';
import { settled, shifted, type ColumnQuery, type SignalList } from './expansionBoard';
import { expansionKey } from './expansionRuns';

export const kpiKey = [...expansionKey, 'kpi'];
export const signalKey = (id: string) => [...expansionKey, 'signal', id];
export interface Move { signal: Signal; to: SignalStatus; reason?: string | null }

const isColumn = (key: readonly unknown[]) => typeof key[1] === 'object' && key[1] !== null && 'status' in key[1];

/** Shows a signal as it is now in every list that is on screen or kept. */
function show(client: QueryClient, signal: Signal): void {
  for (const [key, list] of client.getQueriesData<SignalList>({ queryKey: expansionKey })) {
    if (list && isColumn(key)) client.setQueryData(key, settled(key[1] as ColumnQuery, list, signal));
  }
  client.setQueryData<Signal | null>(signalKey(signal.id), (old) => old && signal);
}

/** A signal of any list that is loaded. */
export function loadedSignal(client: QueryClient, id: string): Signal | undefined {
  for (const [key, list] of client.getQueriesData<SignalList>({ queryKey: expansionKey })) {
    const found = list && isColumn(key) ? list.pages.flatMap((p) => p.signals).find((s) => s.id === id) : undefined;
    if (found) return found;
  }
  return undefined;
}

function shift(client: QueryClient, from: SignalStatus, to: SignalStatus): void {
  client.setQueryData<SignalPage>(kpiKey, (page) => page && { ...page, kpi: shifted(page.kpi, from, to) });
}

/**
 * Moves signals between columns at once on screen, and back when the service refuses. Moves are sent one after the
 * other, each with the version that the one before it left, so that quick moves of one card do not refuse each other.
 */
export function useMoves() {
  const client = useQueryClient();
  const toasts = useToasts();
  const versions = useRef(new Map<string, number>());
  const [last, setLast] = useState<Move | null>(null);
  const { mutate } = useMutation({
    mutationKey: ['expansion-move'],
    scope: { id: 'expansion-move' },
    mutationFn: ({ signal, to, reason }: Move & { undo?: boolean }) =>
      api.patch<SignalMoved>(paths.signals, { id: signal.id, status: to, reason: reason || undefined, version: Math.max(signal.version, versions.current.get(signal.id) ?? 0) }),
    onMutate: async ({ signal, to, reason }) => {
      await client.cancelQueries({ queryKey: expansionKey, predicate: (q) => q.state.data !== undefined && (isColumn(q.queryKey) || q.queryKey[1] === 'kpi') });
      show(client, { ...signal, status: to, reason: reason ?? null });
      shift(client, signal.status, to);
    },
    onSuccess: (moved, { signal, to, undo }) => {
      versions.current.set(signal.id, moved.signal.version);
      if (!aheadOf(client, signal.id)) show(client, moved.signal);
      setLast(undo ? null : { signal, to });
    },
    onError: (error, { signal, to }) => {
      show(client, signal);
      shift(client, to, signal.status);
      toasts.bad(`${signal.product.name} for ${signal.account.name} was not moved`, error);
      if (error instanceof ApiError && (error.status === 412 || error.status === 404 || error.status === 409)) void client.invalidateQueries({ queryKey: expansionKey });
    },
    onSettled: () => {
      if (client.isMutating({ mutationKey: ['expansion-move'] }) <= 1) void client.invalidateQueries({ queryKey: kpiKey });
    },
  });
  const move = useCallback((m: Move) => { if (m.signal.status !== m.to) mutate(m); }, [mutate]);
  const undo = useCallback(() => {
    if (!last) return;
    mutate({ signal: { ...last.signal, status: last.to }, to: last.signal.status, reason: last.signal.reason, undo: true });
    setLast(null);
  }, [last, mutate]);
  const forget = useCallback(() => setLast(null), []);
  return { move, undo, last, forget };
}

// A later move of the same card waits to be sent: what the screen shows is ahead of this answer.
function aheadOf(client: QueryClient, id: string): boolean {
  return client.getMutationCache().findAll({ mutationKey: ['expansion-move'], status: 'pending' })
    .some((m) => m.state.isPaused && (m.state.variables as Move | undefined)?.signal.id === id);
}

