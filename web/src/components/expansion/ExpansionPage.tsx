import './expansion.css';
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, NavLink } from 'react-router';
import type { Run } from '../../api/types';
import { useMay } from '../../app/session';
import { duration } from '../../lib/format';
import { fraction, isActive, progressText, runTitle } from '../../lib/runs';
import { Bar, Note, Page, When } from '../basics';
import { Icon } from '../icons';

const tabs = [{ to: '/expansion/board', label: 'Board' }, { to: '/expansion/affinity', label: 'Affinity' }, { to: '/expansion/whitespace', label: 'Whitespace' }];

/** The frame of the three views on what accounts could buy next. */
export function ExpansionPage({ title, about, actions, children }: { title: string; about: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <Page title={title} about={about} actions={actions}>
      <nav className="subnav" aria-label="Expansion">
        {tabs.map((t) => <NavLink key={t.to} to={t.to}>{t.label}</NavLink>)}
      </nav>
      {children}
    </Page>
  );
}

/** Starts a computation; while one is at work it says so instead of starting another. */
export function StartButton({ label, run, start, pending, variant }: { label: string; run: Run | null; start: () => void; pending: boolean; variant?: string }) {
  const may = useMay('manager');
  if (!may) return null;
  const active = run !== null && isActive(run);
  return <Button variant={variant} leftSection={<Icon name="runs" />} loading={pending} disabled={active} onClick={start}>{active ? 'At work' : label}</Button>;
}

/** A run in one line above the data that it makes: live while at work, and why when it failed. */
export function RunLine({ run }: { run: Run | null }) {
  if (!run) return null;
  if (isActive(run)) {
    return (
      <div className="panel runline" role="status">
        <span style={{ width: 140 }}><Bar value={fraction(run)} label={`Progress of ${runTitle(run)}`} /></span>
        <span style={{ flex: 1 }}>{progressText(run)}</span>
        <Link to={`/runs/${run.id}`}>Open the run</Link>
      </div>
    );
  }
  if (run.status === 'failed') {
    return <Note tone="bad" title="The last computation failed." action={<Link to={`/runs/${run.id}`}>Open the run</Link>}>{run.error?.message ?? 'No reason was recorded.'} What is shown is from the one before.</Note>;
  }
  return null;
}

/** When the data on screen was computed, and how long that took. */
export function ComputedAt({ at, run, never }: { at: string | null; run: Run | null; never: string }) {
  if (!at) return <>{never}</>;
  const took = run?.status === 'succeeded' && run.started_at && run.finished_at ? (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000 : null;
  return <>Computed <When at={at} />{took !== null && <> in <Link to={`/runs/${run?.id}`}>{took < 1 ? 'under a second' : duration(took)}</Link></>}.</>;
}
