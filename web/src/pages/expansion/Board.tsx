import { Button, NumberInput } from '@mantine/core';
import { useDebouncedCallback, useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { Link } from 'react-router';
import { api } from '../../api/client';
import { paths, type AffinityPage, type Signal, type SignalKpi, type SignalPage, type SignalStatus } from '../../api/expansion';
import { useMay } from '../../app/session';
import { Empty, Problem } from '../../components/basics';
import { AccountFilter } from '../../components/expansion/AccountFilter';
import { BoardColumn } from '../../components/expansion/BoardColumn';
import { DismissDialog, UndoNote } from '../../components/expansion/BoardDialogs';
import { ComputedAt, ExpansionPage, RunLine, StartButton } from '../../components/expansion/ExpansionPage';
import { KpiTiles } from '../../components/expansion/KpiTiles';
import type { CardActions } from '../../components/expansion/SignalCard';
import { signalRef, SignalPanel } from '../../components/expansion/SignalPanel';
import { FilterSelect } from '../../components/FilterSelect';
import { columns, keyAction, suppressedOf, type SignalFilters } from '../../lib/expansionBoard';
import { useCardDrag } from '../../lib/expansionDrag';
import { kpiKey, useMoves } from '../../lib/expansionMoves';
import { useProductChoices } from '../../lib/expansionProducts';
import { expansionKey, useLatestRun, useStartRun } from '../../lib/expansionRuns';
import { count } from '../../lib/format';
import { segments } from '../../lib/states';
import { useUrlState } from '../../lib/url';

export default function Board() {
  const { get, set } = useUrlState();
  const may = useMay('rep');
  const filters: SignalFilters = { segment: get('segment'), product_id: get('product_id'), account_id: get('account_id'), min_priority: get('min_priority') };
  const filtered = Object.values(filters).some(Boolean);
  const figures = useQuery({ queryKey: kpiKey, queryFn: ({ signal }) => api.get<SignalPage>(paths.signals, { limit: 1 }, signal) });
  const kpi = figures.data?.kpi;
  const run = useLatestRun('regenerate_expansion');
  const start = useStartRun('regenerate_expansion', paths.signals, { started: 'Signals are being generated.', already: 'Signals are already being generated.', failed: 'The generation did not start' });
  const startButton = (variant?: string) => <StartButton label={kpi?.generated_at ? 'Regenerate' : 'Generate signals'} run={run} start={() => start.mutate()} pending={start.isPending} variant={variant} />;
  const { actions, menu, dismissing, moves, drag } = useBoard(may, (s) => set({ signal: signalRef(s) }, { push: true }));
  const clear = () => set({ segment: null, product_id: null, account_id: null, min_priority: null });
  return (
    <ExpansionPage
      title="Expansion"
      about={<>What accounts could buy next, the best first. {kpi && <ComputedAt at={kpi.generated_at} run={run} never="Not generated yet." />}</>}
      actions={startButton('default')}
    >
      <RunLine run={run} />
      {figures.isError && <Problem what="The figures could not be loaded" error={figures.error} retry={() => void figures.refetch()} />}
      <KpiTiles kpi={kpi} />
      <div className="panel">
        <Filters filters={filters} set={set} clear={filtered ? clear : null} />
        <section className="board" data-board tabIndex={0} aria-label="Board" /* eslint-disable-line jsx-a11y/no-noninteractive-tabindex -- a scrolling region must be reachable by keyboard */>
          {columns.map((c) => (
            <BoardColumn
              key={c.status} column={c} filters={filters} total={kpi && !filtered ? kpi.by_status[c.status] : null} currency={kpi?.currency ?? 'USD'} may={may} actions={actions}
              dragged={drag?.id ?? null} over={drag?.over === c.status} menu={menu}
              empty={filtered ? <Empty title="No signal matches" action={<Button variant="default" onClick={clear}>Clear filters</Button>} /> : c.status === 'pending' ? <NoPending kpi={kpi} action={startButton()} /> : <span className="dim">{c.empty}</span>}
            />
          ))}
        </section>
        {may && <p className="board-help">On a card: arrows walk, Shift with an arrow moves it, <kbd>1</kbd> to <kbd>4</kbd> name its column, <kbd>M</kbd> opens its menu, <kbd>Ctrl Z</kbd> takes the last move back. Cards can be dragged, too.</p>}
      </div>
      <SignalPanel of={get('signal')} currency={kpi?.currency ?? 'USD'} may={may} close={() => set({ signal: null })} move={actions.move} />
      <DismissDialog {...dismissing} />
      <UndoNote last={moves.last} undo={moves.undo} forget={moves.forget} />
    </ExpansionPage>
  );
}

/** What people do with cards: walk, move by key, menu or drag, and take it back. */
function useBoard(may: boolean, openCard: (s: Signal) => void) {
  const moves = useMoves();
  const [menu, setMenu] = useState<string | null>(null);
  const [dismissed, setDismissed] = useState<Signal | null>(null);
  const { move: moveNow, undo } = moves;
  useHotkeys([['mod+Z', undo]]);

  // The dialog gives the focus back to the card it is about, or to the next one when the card leaves its column.
  const back = useRef<HTMLElement | null>(null);
  const move = useCallback((s: Signal, to: SignalStatus) => {
    setMenu(null);
    if (to === 'dismissed') {
      const here = document.activeElement as HTMLElement | null;
      back.current = here?.closest('[role=dialog]') ? here : document.querySelector<HTMLElement>(`[data-card="${s.id}"] .card-title`);
      setDismissed(s);
    } else moveNow({ signal: s, to });
  }, [moveNow]);
  const dismiss = (signal: Signal, reason: string) => {
    if (back.current) back.current = neighbor(back.current, 1, true) ?? back.current;
    setDismissed(null);
    moveNow({ signal, to: 'dismissed', reason });
  };
  const { drag, start } = useCardDrag(move);

  // The actions stay the same object, so that a card is drawn anew only when it changes itself.
  const latest = useRef({ openCard, may });
  useEffect(() => {
    latest.current = { openCard, may };
  });
  const actions = useMemo<CardActions>(() => ({
    open: (s) => latest.current.openCard(s),
    move,
    setMenu,
    onPointerDown: start,
    onKey: (event: KeyboardEvent<HTMLElement>, s: Signal) => {
      const action = keyAction(event, s.status);
      if (!action || (action.kind !== 'walk' && !latest.current.may)) return;
      event.preventDefault();
      if (action.kind === 'menu') setMenu(s.id);
      else if (action.kind === 'walk') walk(event.currentTarget, action.x, action.y);
      else {
        if (action.to !== 'dismissed') walk(event.currentTarget, 0, 1, true);
        move(s, action.to);
      }
    },
  }), [move, start]);
  return { actions, menu, moves, drag, dismissing: { signal: dismissed, close: () => setDismissed(null), closed: () => back.current?.focus(), dismiss } };
}

const titles = (column: Element | null | undefined) => [...(column?.querySelectorAll<HTMLElement>('.card-title') ?? [])];

/** The card above or below, or, when the card itself goes, the one that takes its place. */
function neighbor(from: HTMLElement, y: number, leaving: boolean): HTMLElement | null | undefined {
  const column = from.closest('[data-column]');
  const mine = titles(column);
  const at = mine.indexOf(from);
  return mine[at + y] ?? (leaving ? (mine[at - 1] ?? column?.querySelector<HTMLElement>('h2')) : undefined);
}

/** Takes the focus to a neighboring card, or, when the card itself goes, to the one that takes its place. */
function walk(from: HTMLElement, x: number, y: number, leaving = false): void {
  if (x === 0) {
    neighbor(from, y, leaving)?.focus();
    return;
  }
  const column = from.closest('[data-column]');
  const at = titles(column).indexOf(from);
  const all = [...(column?.parentElement?.querySelectorAll('[data-column]') ?? [])];
  for (let i = all.indexOf(column as Element) + x; i >= 0 && i < all.length; i += x) {
    const there = titles(all[i]);
    if (!there.length) continue;
    there[Math.min(at, there.length - 1)]?.focus();
    return;
  }
}

function Filters({ filters, set, clear }: { filters: SignalFilters; set: (changes: Record<string, string | null>) => void; clear: (() => void) | null }) {
  const products = useProductChoices();
  const push = useDebouncedCallback((value: string | number) => set({ min_priority: value === '' || Number(value) === 0 ? null : String(value) }), 300);
  return (
    <div className="toolbar" role="group" aria-label="Filters">
      <FilterSelect label="Segment" all="All segments" choices={segments} value={filters.segment} onChange={(segment) => set({ segment })} />
      <FilterSelect label="Product" all="All products" choices={products} value={filters.product_id} onChange={(product_id) => set({ product_id })} width={170} />
      <AccountFilter value={filters.account_id} onChange={(account_id) => set({ account_id })} />
      <NumberInput key={filters.min_priority} aria-label="Lowest priority" placeholder="Priority from" min={0} max={100} clampBehavior="strict" allowDecimal={false} w={130} defaultValue={filters.min_priority === '' ? undefined : Number(filters.min_priority)} onChange={push} hideControls />
      {clear && <Button variant="subtle" onClick={clear}>Clear filters</Button>}
    </div>
  );
}

/** Why nothing is pending. */
function NoPending({ kpi, action }: { kpi: SignalKpi | undefined; action: ReactNode }) {
  const matrix = useQuery({ queryKey: [...expansionKey, 'has-matrix'], queryFn: ({ signal }) => api.get<AffinityPage>(paths.affinity, { limit: 1 }, signal) });
  if (!kpi || matrix.isPending) return null;
  if (!kpi.generated_at) {
    return matrix.data && !matrix.data.computed_at
      ? <Empty title="No signals yet" action={action}>They rest on which products are owned together, which is computed first.</Empty>
      : <Empty title="No signals yet" action={action}>They are found among what owners of the same products also own.</Empty>;
  }
  const held = suppressedOf(kpi.suppressed);
  if (held.total > 0) return <Empty title="Every candidate is held back">{count(held.total)} were found; see the reasons above.</Empty>;
  if (matrix.data?.reason) return <Empty title="No product speaks for another"><Link to="/expansion/affinity">The matrix is empty; see why.</Link></Empty>;
  return <Empty title="Nothing to sell was found">No account lacks a product that its own products significantly speak for.</Empty>;
}
