import { Popover, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../api/client';
import type { RunPage } from '../api/types';
import { Bar } from '../components/basics';
import { fraction, progressText, runTitle } from '../lib/runs';

export const runningKey = ['runs', 'running'];

/** The jobs at work now, in the top bar. Polls slowly, faster while something runs. */
export function RunningJobs() {
  const { data } = useQuery({
    queryKey: runningKey,
    queryFn: ({ signal }) => api.get<RunPage>('/api/runs', { status: 'running', limit: 10 }, signal),
    refetchInterval: (query) => (query.state.data?.runs.length ? 4_000 : 20_000),
  });
  const runs = data?.runs ?? [];
  const first = runs[0];
  if (!first) return null;
  return (
    <Popover width={300} position="bottom-end" trapFocus>
      <Popover.Target>
        <UnstyledButton className="row" style={{ flexWrap: 'nowrap', padding: 6, fontSize: '0.8125rem' }} aria-label={`${runs.length} running`}>
          <span style={{ width: 56 }}><Bar value={fraction(first)} /></span>
          <span>{runs.length}<span className="hide-phone"> running</span></span>
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <ul className="list">
          {runs.map((run) => (
            <li key={run.id} className="stack tight">
              <Link to={`/runs/${run.id}`}>{runTitle(run)}</Link>
              <Bar value={fraction(run)} label={runTitle(run)} />
              <span className="dim" style={{ fontSize: '0.75rem' }}>{progressText(run)}</span>
            </li>
          ))}
        </ul>
      </Popover.Dropdown>
    </Popover>
  );
}
