import { memo, useLayoutEffect, useRef, useState, type CSSProperties, type KeyboardEvent, type MouseEvent } from 'react';
import type { AffinityEntry } from '../../api/expansion';
import { cellLabel, heat, heatKey, measureText, measures, type Grid, type Measure } from '../../lib/expansionAffinity';
import { indices, span, step, type At, type Span } from '../../lib/expansionGrid';
import { count } from '../../lib/format';

const rowHeight = 30;
const headHeight = 124;
const nameWidth = 168;
const nameWidthPhone = 104;

interface Props {
  grid: Grid;
  measure: Measure;
  onlySignificant: boolean;
  selected: At | null;
  onSelect: (at: At) => void;
}

/**
 * Products by products, one number per cell. Only what is in view is drawn, so that hundreds of products scroll as
 * lightly as ten. One cell takes the keyboard at a time: arrows, Home, End and Page keys move it, Enter opens it.
 */
export function HeatMap({ grid, measure, onlySignificant, selected, onSelect }: Props) {
  const n = grid.products.length;
  const scroll = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<At>(selected ?? { row: 0, column: Math.min(1, n - 1) });
  const moved = useRef(false);
  const at = { row: Math.min(active.row, n - 1), column: Math.min(active.column, n - 1) };
  const view = useView(scroll, n);

  useLayoutEffect(() => {
    if (!moved.current) return;
    moved.current = false;
    scroll.current?.querySelector<HTMLElement>(`[data-row="${at.row}"][data-column="${at.column}"]`)?.focus();
  }, [at.row, at.column]);

  const cellOf = (target: EventTarget): At | null => {
    const cell = (target as HTMLElement).closest<HTMLElement>('[data-column]');
    return cell ? { row: Number(cell.dataset.row), column: Number(cell.dataset.column) } : null;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const here = cellOf(event.target);
    if (!here || event.altKey || event.metaKey) return;
    const next = step(event.key, event.ctrlKey, here, n);
    if (next) {
      moved.current = true;
      setActive(next);
    } else if (event.key === 'Enter' || event.key === ' ') onSelect(here);
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent) => {
    const here = cellOf(event.target);
    if (!here) return;
    setActive(here);
    onSelect(here);
  };

  const columns = indices(view.columns, -1);
  return (
    <div className="heat-scroll" ref={scroll} style={{ '--row': `${rowHeight}px`, '--head': `${headHeight}px`, '--name': `${view.name}px`, '--cell': `${view.cell}px` } as CSSProperties}>
      <div className="heat" role="grid" tabIndex={-1} aria-label={`${measures.find((m) => m.value === measure)?.label ?? measure} of products owned together`} aria-rowcount={n + 1} aria-colcount={n + 1} onKeyDown={onKeyDown} onClick={onClick} style={{ width: view.name + n * view.cell, height: headHeight + n * rowHeight }}>
        <div role="row" className="heat-head" aria-rowindex={1}>
          <div role="columnheader" aria-colindex={1} className="heat-corner"><span>Owners of ↓</span><span>also own →</span></div>
          {columns.map((c) => (
            <div key={c} role="columnheader" aria-colindex={c + 2} className="heat-column" data-current={c === at.column || undefined} style={{ left: view.name + c * view.cell }} title={nameOf(grid, c)}><span>{grid.products[c]?.name}</span></div>
          ))}
        </div>
        {indices(view.rows, at.row).map((r) => (
          <Row key={r} grid={grid} row={r} from={view.columns.from} to={view.columns.to} cell={view.cell} name={view.name} measure={measure} only={onlySignificant} active={r === at.row ? at.column : -1} selected={selected?.row === r ? selected.column : -1} />
        ))}
      </div>
    </div>
  );
}

const nameOf = (grid: Grid, i: number) => {
  const p = grid.products[i];
  return p ? `${p.name}${p.sku ? ` (${p.sku})` : ''}, ${count(grid.owners[i] ?? 0)} owners` : '';
};

interface RowProps { grid: Grid; row: number; from: number; to: number; cell: number; name: number; measure: Measure; only: boolean; active: number; selected: number }

// A row is drawn anew only when the keyboard or the selection enters or leaves it.
const Row = memo(function Row({ grid, row, from, to, cell, name, measure, only, active, selected }: RowProps) {
  const a = grid.products[row];
  if (!a) return null;
  return (
    <div role="row" className="heat-row" aria-rowindex={row + 2} style={{ top: headHeight + row * rowHeight }}>
      <div role="rowheader" aria-colindex={1} className="heat-name" title={nameOf(grid, row)} data-current={active >= 0 || undefined}><span>{a.name}</span></div>
      {indices({ from, to }, active).map((c) => {
        const b = grid.products[c];
        return b && (
          <Cell key={c} entry={grid.cell(row, c)} label={cellLabel(a, b, grid.cell(row, c), measure)} same={row === c} row={row} column={c} left={name + c * cell} measure={measure} only={only} active={active === c} selected={selected === c} />
        );
      })}
    </div>
  );
});

interface CellProps { entry: AffinityEntry | undefined; label: string; same: boolean; row: number; column: number; left: number; measure: Measure; only: boolean; active: boolean; selected: boolean }

function Cell({ entry, label, same, row, column, left, measure, only, active, selected }: CellProps) {
  const hidden = only && entry !== undefined && !entry.significant;
  const value = entry && !hidden ? entry[measure] : null;
  const text = same ? '' : hidden ? '' : !entry ? '·' : value === null ? '–' : measureText(measure, value);
  return (
    <div
      role="gridcell" aria-colindex={column + 2} aria-label={label} aria-selected={selected} tabIndex={active ? 0 : -1} data-row={row} data-column={column}
      className="heat-cell" data-same={same || undefined} data-heat={heat(measure, value) ?? undefined} data-bundle={(entry?.bundle && !hidden) || undefined} data-hollow={(value !== null && entry && !entry.significant) || undefined} style={{ left }}
    >
      {text}
    </div>
  );
}

interface View { rows: Span; columns: Span; cell: number; name: number }

/** Which rows and columns are in view; few products get wider cells. */
function useView(scroll: { current: HTMLDivElement | null }, n: number): View {
  const [view, setView] = useState<View>({ rows: { from: 0, to: Math.min(n, 40) }, columns: { from: 0, to: Math.min(n, 40) }, cell: 52, name: nameWidth });
  useLayoutEffect(() => {
    const element = scroll.current;
    if (!element) return;
    const update = () => {
      const width = element.clientWidth || 1200;
      const height = element.clientHeight || 800;
      const name = width < 600 ? nameWidthPhone : nameWidth;
      const cell = Math.max(46, Math.min(80, Math.floor((width - name - 2) / Math.max(1, n))));
      const next: View = { rows: span(element.scrollTop, height - headHeight, rowHeight, n), columns: span(element.scrollLeft, width - name, cell, n), cell, name };
      setView((old) => (JSON.stringify(old) === JSON.stringify(next) ? old : next));
    };
    update();
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener('scroll', update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', update);
    };
  }, [scroll, n]);
  return view;
}

/** What the shades and marks mean, in words. */
export function HeatKey({ measure }: { measure: Measure }) {
  return (
    <ul className="heat-key" aria-label="How to read the cells">
      {heatKey[measure === 'lift' ? 'lift' : 'share'].map((k) => <li key={k.step}><span className="heat-swatch" data-heat={k.step} aria-hidden="true" />{k.label}</li>)}
      <li><span className="heat-swatch" data-hollow="true" aria-hidden="true" />not significant</li>
      <li><span aria-hidden="true">·</span> never owned together</li>
      <li><span className="heat-bundle" aria-hidden="true" /> sold as a bundle</li>
    </ul>
  );
}
