import { Anchor, Button, Skeleton, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { ApiError } from '../api/client';
import { usePageTitle } from '../lib/hooks';
import { exact, money, moneyShort, relative } from '../lib/format';
import { Icon, ToneShape, type Tone } from './icons';

/** A value that is not known: an en dash with the reason on hover and for screen readers, never 0. */
export function Missing({ reason = 'Not known' }: { reason?: string | null }) {
  return (
    <Tooltip label={reason ?? 'Not known'}>
      <span className="dim">
        <span aria-hidden="true">–</span>
        <span className="sr">{reason ?? 'Not known'}</span>
      </span>
    </Tooltip>
  );
}

export function Or({ value, reason }: { value: ReactNode; reason?: string | null }) {
  return value === null || value === undefined || value === '' ? <Missing reason={reason} /> : <>{value}</>;
}

export function Money({ cents, currency, short, reason }: { cents: number | null; currency: string; short?: boolean; reason?: string | null }) {
  if (cents === null) return <Missing reason={reason} />;
  return short ? (
    <Tooltip label={money(cents, currency)}><span>{moneyShort(cents, currency)}</span></Tooltip>
  ) : (
    <span className="nowrap">{money(cents, currency)}</span>
  );
}

/** A moment, relative, with the exact one on hover. */
export function When({ at, reason }: { at: string | null | undefined; reason?: string }) {
  if (!at) return <Missing reason={reason} />;
  return (
    <Tooltip label={exact(at)}>
      <time dateTime={at} className="nowrap">{relative(at)}</time>
    </Tooltip>
  );
}

export function Tag({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className="tag" data-tone={tone}>
      <ToneShape tone={tone} />
      {children}
    </span>
  );
}

export function Note({ tone, title, children, action }: { tone: Tone; title?: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="note" data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon name={tone === 'bad' || tone === 'warn' ? 'warn' : tone === 'good' ? 'check' : 'info'} />
      <div style={{ flex: 1 }}>
        {title && <strong>{title} </strong>}
        {children}
      </div>
      {action}
    </div>
  );
}

/** What went wrong, in the service's words, with a way to try again. */
export function Problem({ error, retry, what }: { error: unknown; retry?: () => void; what: string }) {
  const detail = error instanceof ApiError ? error.detail : 'Something unexpected happened on this page.';
  return (
    <Note tone="bad" title={`${what}.`} action={retry && <Button size="compact-sm" variant="default" onClick={retry}>Try again</Button>}>
      {detail}
    </Note>
  );
}

/** The frame of a page: its title, one line that says what it is for, and its actions. */
export function Page({ title, about, actions, back, children }: { title: string; about?: ReactNode; actions?: ReactNode; back?: { to: string; label: string }; children: ReactNode }) {
  usePageTitle(title);
  return (
    <div className="page">
      <header className="page-head">
        <div>
          {back && <Anchor component={Link} to={back.to} size="sm">{back.label}</Anchor>}
          <h1 tabIndex={-1}>{title}</h1>
          {about && <p>{about}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Panel({ title, actions, children, flush }: { title?: ReactNode; actions?: ReactNode; children: ReactNode; flush?: boolean }) {
  return (
    <section className="panel">
      {title && <div className="head"><h2>{title}</h2>{actions && <div className="row">{actions}</div>}</div>}
      {flush ? children : <div className="body">{children}</div>}
    </section>
  );
}

/** Why there is nothing here, and the one next action. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="stack tight" style={{ padding: '40px 16px', alignItems: 'center', textAlign: 'center' }}>
      <strong>{title}</strong>
      {children && <span className="dim" style={{ maxWidth: 440 }}>{children}</span>}
      {action && <div style={{ marginTop: 8 }}>{action}</div>}
    </div>
  );
}

/** A table that may be wider than its place. It scrolls sideways, for the keyboard too. */
export function Wide({ label, children }: { label: string; children: ReactNode }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolling region must be reachable by keyboard
    <div className="plain-scroll" tabIndex={0} role="region" aria-label={label}>{children}</div>
  );
}

export function Facts({ items }: { items: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {items.map(([term, value]) => (
        <div key={term}><dt>{term}</dt><dd>{value}</dd></div>
      ))}
    </dl>
  );
}

export function Loading({ lines = 4, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div className="stack tight" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, i) => <Skeleton key={i} height={18} width={`${92 - i * 9}%`} />)}
    </div>
  );
}

/** A determinate bar when `value` (0 to 1) is known, a moving one when it is not. */
export function Bar({ value, tone, label }: { value: number | null; tone?: Tone; label?: string }) {
  const width = value === null ? undefined : `${Math.max(0, Math.min(1, value)) * 100}%`;
  const role = label
    ? { role: 'progressbar', 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-valuenow': value === null ? undefined : Math.round(value * 100) }
    : { 'aria-hidden': true as const };
  return <div className={value === null ? 'bar moving' : 'bar'} data-tone={tone} {...role}><span style={{ width }} /></div>;
}
