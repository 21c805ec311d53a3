import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { api } from '../api/client';
import type { Run, RunPage, RunStarted } from '../api/types';
import { runningKey } from '../app/RunningJobs';
import { useToasts } from '../components/toasts';
import { runKey, useRunEvents } from './live';
import { isActive } from './runs';

export type RunKind = 'recompute_affinity' | 'regenerate_expansion' | 'import_file';

/** Everything that the expansion pages read hangs below this key. */
export const expansionKey = ['expansion'];

/** The last run of a kind, followed live while it is at work; what it changes is read anew when it ends. */
export function useLatestRun(kind: RunKind): Run | null {
  const client = useQueryClient();
  const latest = useQuery({
    queryKey: ['runs', 'latest', kind],
    queryFn: ({ signal }) => api.get<RunPage>('/api/runs', { kind, limit: 1 }, signal),
    select: (page) => page.runs[0] ?? null,
    refetchInterval: 15_000,
  });
  const id = latest.data?.id ?? '';
  const live = useQuery({ queryKey: runKey(id), queryFn: ({ signal }) => api.get<Run>(`/api/runs/${encodeURIComponent(id)}`, undefined, signal), enabled: id !== '', initialData: latest.data ?? undefined });
  const run = live.data ?? null;
  const active = run !== null && isActive(run);
  useRunEvents(id, active);
  const was = useRef(false);
  useEffect(() => {
    if (was.current && !active) void client.invalidateQueries({ queryKey: expansionKey });
    was.current = active;
  }, [active, client]);
  return run;
}

/** Starts a run by POST without a body and follows it. */
export function useStartRun(kind: RunKind, path: string, texts: { started: string; already: string; failed: string }) {
  const client = useQueryClient();
  const toasts = useToasts();
  return useMutation({
    mutationFn: () => api.post<RunStarted>(path),
    onSuccess: ({ run, already_running }) => {
      client.setQueryData(runKey(run.id), run);
      client.setQueryData(['runs', 'latest', kind], { runs: [run] });
      void client.invalidateQueries({ queryKey: runningKey });
      toasts.good(already_running ? texts.already : texts.started);
    },
    onError: (error) => toasts.bad(texts.failed, error),
  });
}
