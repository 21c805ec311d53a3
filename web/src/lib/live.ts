import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { runningKey } from '../app/RunningJobs';
import type { Run } from '../api/types';
import { addSample, isActive, type Sample } from './runs';

export const runKey = (id: string) => ['run', id];

/**
 * Follows one run by Server-Sent Events while it is at work and writes what comes into the query cache. The browser
 * reconnects by itself after a lost connection; after a refused one this opens a new stream, each time a little later.
 */
export function useRunEvents(id: string, enabled: boolean): { connected: boolean; samples: Sample[] } {
  const client = useQueryClient();
  const [connected, setConnected] = useState(false);
  const [samples, setSamples] = useState<Sample[]>([]);
  useEffect(() => {
    if (!enabled) return;
    let source: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wait = 1000;
    let stopped = false;
    const stop = () => {
      stopped = true;
      clearTimeout(timer);
      source?.close();
      setConnected(false);
    };
    const open = () => {
      source = new EventSource(`/api/runs/${encodeURIComponent(id)}/events`);
      source.onopen = () => {
        wait = 1000;
        setConnected(true);
      };
      source.addEventListener('run', (event) => {
        const run = JSON.parse((event as MessageEvent<string>).data) as Run;
        client.setQueryData(runKey(id), run);
        setSamples((old) => addSample(old, { at: Date.now(), done: run.progress.done }));
        if (!isActive(run)) {
          stop();
          void client.invalidateQueries({ queryKey: ['runs'] });
          void client.invalidateQueries({ queryKey: runningKey });
          void client.invalidateQueries({ queryKey: ['connectors'] });
          void client.invalidateQueries({ queryKey: ['accounts'] });
          void client.invalidateQueries({ queryKey: ['account'] });
          for (const key of ['dashboard', 'affected', 'matches', 'datasets']) void client.invalidateQueries({ queryKey: [key] });
        }
      });
      source.onerror = () => {
        setConnected(false);
        if (stopped || source?.readyState !== EventSource.CLOSED) return;
        timer = setTimeout(open, wait);
        wait = Math.min(wait * 2, 15_000);
      };
    };
    open();
    return stop;
  }, [id, enabled, client]);
  return { connected, samples };
}
