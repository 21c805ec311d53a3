import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { api } from '../api/client';
import type { RunStarted } from '../api/types';
import { runningKey } from '../app/RunningJobs';
import { useMay } from '../app/session';
import { runKey } from '../lib/live';
import { useToasts } from './toasts';

/** Computes every score anew; the run opens so that one can watch it. */
export function ScoreNow() {
  const may = useMay('manager');
  const client = useQueryClient();
  const navigate = useNavigate();
  const toasts = useToasts();
  const start = useMutation({
    mutationFn: () => api.post<RunStarted>('/api/scores/compute'),
    onSuccess: ({ run, already_running }) => {
      client.setQueryData(runKey(run.id), run);
      void client.invalidateQueries({ queryKey: runningKey });
      if (already_running) toasts.good('Scoring is already at work.');
      void navigate(`/runs/${run.id}`);
    },
    onError: (error) => toasts.bad('Scoring did not start', error),
  });
  return may ? <Button variant="default" loading={start.isPending} onClick={() => start.mutate()}>Score now</Button> : null;
}
