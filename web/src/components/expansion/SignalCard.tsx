import { ActionIcon, Menu } from '@mantine/core';
import { memo, type KeyboardEvent, type PointerEvent } from 'react';
import type { Signal, SignalStatus } from '../../api/expansion';
import { columns, readinessOf, statusLabel, strongest } from '../../lib/expansionBoard';
import { count, decimal, percent } from '../../lib/format';
import { Bar, Missing, Money, Tag } from '../basics';
import { Icon } from '../icons';

export interface CardActions {
  open: (s: Signal) => void;
  move: (s: Signal, to: SignalStatus) => void;
  onKey: (event: KeyboardEvent<HTMLElement>, s: Signal) => void;
  onPointerDown: (event: PointerEvent<HTMLElement>, s: Signal) => void;
  setMenu: (id: string | null) => void;
}
interface Props { signal: Signal; currency: string; may: boolean; dragged: boolean; menuOpen: boolean; actions: CardActions }

/** One product that one account may buy. Its title takes the keyboard; a drag by pointer, its menu and keys all move it. */
export const SignalCard = memo(function SignalCard({ signal: s, currency, may, dragged, menuOpen, actions }: Props) {
  const { failed, unknown } = readinessOf(s);
  const [first, ...others] = strongest(s.antecedents);
  return (
    <li className="card-item" data-card={s.id} data-dragged={dragged || undefined} data-movable={may || undefined} onPointerDown={may ? (e) => actions.onPointerDown(e, s) : undefined}>
      <div className="card-head">
        <button type="button" className="card-title" aria-keyshortcuts={may ? 'Shift+ArrowLeft Shift+ArrowRight 1 2 3 4 M' : undefined} onClick={() => actions.open(s)} onKeyDown={(e) => actions.onKey(e, s)}>
          <strong>{s.account.name}</strong>
          <span>{s.product.name}</span>
        </button>
        {may && (
          <span className="card-tools" data-menu>
            <MoveMenu signal={s} opened={menuOpen} actions={actions} />
          </span>
        )}
        {may && <span className="grip" data-grip aria-hidden="true"><Icon name="grip" /></span>}
      </div>
      <dl className="card-facts">
        <div><dt className="sr">Probability</dt><dd>{percent(s.probability)} likely</dd></div>
        <div><dt className="sr">Estimated ARR</dt><dd>{s.estimated_arr_cents === null ? <>Unpriced <Missing reason="No owner’s price and no list price to go by" /></> : <><Money cents={s.estimated_arr_cents} currency={currency} short /> ARR</>}</dd></div>
        <div><dt className="sr">Priority</dt><dd>{s.priority_score === null ? <>Priority <Missing reason="No part of it is known" /></> : <>Priority {decimal(s.priority_score, 0)}<Bar value={s.priority_score / 100} /></>}</dd></div>
      </dl>
      <div className="card-foot">
        {s.readiness === 'ready' ? <Tag tone="good">Ready</Tag> : <Tag tone="warn">Not ready</Tag>}
        {failed.length > 0 && <span>{failed.join(', ')}</span>}
        {unknown.length > 0 && <span className="dim" title={unknown.join(', ')}>{count(unknown.length)} of 5 checks not known</span>}
      </div>
      {first && (
        <div className="card-foot dim">
          <span>Owns {first.product.name} ({percent(first.share)} of the case){others.length > 0 && <span title={others.map((a) => `${a.product.name} (${percent(a.share)})`).join(', ')}> and {count(others.length)} more</span>}</span>
        </div>
      )}
      {s.reason && <div className="card-foot"><span className="dim">“{s.reason}”</span></div>}
    </li>
  );
});

function MoveMenu({ signal: s, opened, actions }: { signal: Signal; opened: boolean; actions: CardActions }) {
  const name = `${s.product.name} for ${s.account.name}`;
  return (
    <Menu opened={opened} onChange={(open) => actions.setMenu(open ? s.id : null)} position="bottom-end" transitionProps={{ duration: 80 }} width={180} withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Move ${name}`}><Icon name="more" /></ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Move to</Menu.Label>
        {columns.map((c, i) => c.status !== s.status && (
          <Menu.Item key={c.status} onClick={() => actions.move(s, c.status)} rightSection={<kbd aria-hidden="true">{i + 1}</kbd>}>{statusLabel(c.status)}</Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => actions.open(s)}>Show the numbers</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
