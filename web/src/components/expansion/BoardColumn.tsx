import { Button } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { paths, type Signal, type SignalPage } from '../../api/expansion';
import { columns, type SignalFilters } from '../../lib/expansionBoard';
import { count } from '../../lib/format';
import { useCursorList } from '../../lib/list';
import { Problem } from '../basics';
import { SignalCard, type CardActions } from './SignalCard';

interface Props {
  column: (typeof columns)[number];
  filters: SignalFilters;
  total: number | null;
  currency: string;
  may: boolean;
  dragged: string | null;
  over: boolean;
  menu: string | null;
  empty: ReactNode;
  actions: CardActions;
}

/** One column of the board, best first, a page at a time. */
export function BoardColumn({ column, filters, total, currency, may, dragged, over, menu, empty, actions }: Props) {
  const title = useId();
  const list = useCursorList<SignalPage, Signal>('expansion', paths.signals, { ...filters, status: column.status, limit: 50 }, (page) => page.signals);
  const { rows } = list;
  return (
    <section className="board-column" data-column={column.status} data-over={over || undefined} aria-labelledby={title} aria-busy={list.pending || list.stale}>
      <h2 id={title} tabIndex={-1}>{column.label} <span className="dim">{list.pending ? '' : total !== null ? count(total) : `${count(rows.length)}${list.hasMore ? '+' : ''}`}</span></h2>
      {over && <div className="board-drop" aria-hidden="true">Move to {column.label}</div>}
      {list.error && <Problem what={`${column.label} could not be loaded`} error={list.error} retry={list.retry} />}
      {list.pending && !list.error && Array.from({ length: 3 }, (_, i) => <div key={i} className="card-item" aria-hidden="true"><span className="skeleton" style={{ width: '70%' }} /><span className="skeleton" style={{ width: '45%' }} /></div>)}
      {!list.pending && !list.error && rows.length === 0 && (list.hasMore ? <div className="board-empty dim">The loaded ones were moved.</div> : <div className="board-empty">{empty}</div>)}
      {rows.length > 0 && (
        <ul className="board-cards" aria-labelledby={title}>
          {rows.map((s) => <SignalCard key={s.id} signal={s} currency={currency} may={may} dragged={dragged === s.id} menuOpen={menu === s.id} actions={actions} />)}
        </ul>
      )}
      {list.hasMore && <Button variant="default" size="compact-sm" loading={list.loadingMore} onClick={list.loadMore}>Load more</Button>}
    </section>
  );
}
