import { Button, CloseButton, Modal, Textarea } from '@mantine/core';
import { useEffect, useState, type FormEvent } from 'react';
import type { Signal } from '../../api/expansion';
import { statusLabel } from '../../lib/expansionBoard';
import type { Move } from '../../lib/expansionMoves';
import { Icon } from '../icons';

/** Asks why a signal is dismissed; the answer may be left out. Where the focus goes afterwards depends on it: see closed. */
export function DismissDialog({ signal, close, closed, dismiss }: { signal: Signal | null; close: () => void; closed: () => void; dismiss: (s: Signal, reason: string) => void }) {
  return (
    <Modal opened={signal !== null} onClose={close} returnFocus={false} onExitTransitionEnd={closed} title={`Dismiss ${signal?.product.name ?? ''} for ${signal?.account.name ?? ''}?`} closeButtonProps={{ 'aria-label': 'Close' }}>
      {signal && <DismissForm key={signal.id} close={close} dismiss={(reason) => dismiss(signal, reason)} />}
    </Modal>
  );
}

function DismissForm({ close, dismiss }: { close: () => void; dismiss: (reason: string) => void }) {
  const [reason, setReason] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    dismiss(reason.trim());
  };
  return (
    <form className="stack" onSubmit={submit}>
      <span>It comes back after 180 days, or earlier if it becomes much likelier.</span>
      <Textarea label="Reason" description="Optional, for those who look at it later" maxLength={1000} rows={3} value={reason} onChange={(e) => setReason(e.currentTarget.value)} data-autofocus />
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={close}>Keep it</Button>
        <Button type="submit">Dismiss</Button>
      </div>
    </form>
  );
}

const shown = 12_000;

/** What was moved last, with the way back. It stays while somebody is on it. */
export function UndoNote({ last, undo, forget }: { last: Move | null; undo: () => void; forget: () => void }) {
  const [held, hold] = useState(false);
  useEffect(() => {
    if (!last || held) return;
    const timer = setTimeout(forget, shown);
    return () => clearTimeout(timer);
  }, [last, held, forget]);
  return (
    <div className="undo" role="status" onMouseEnter={() => hold(true)} onMouseLeave={() => hold(false)} onFocus={() => hold(true)} onBlur={() => hold(false)}>
      {last && (
        <div className="note" data-tone="good">
          <Icon name="check" />
          <span style={{ flex: 1 }}>{last.signal.product.name} for {last.signal.account.name} is now {statusLabel(last.to).toLowerCase()}.</span>
          <Button size="compact-sm" variant="default" onClick={undo} aria-keyshortcuts="Control+Z">Undo</Button>
          <CloseButton size="sm" aria-label="Close message" onClick={forget} />
        </div>
      )}
    </div>
  );
}
