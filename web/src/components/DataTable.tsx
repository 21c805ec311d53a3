import { Button } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react';
import type { CursorList } from '../lib/list';
import { count } from '../lib/format';
import { revealRow, useRowWindow } from '../lib/rowWindow';
import { Problem } from './basics';
import { Dropdown } from './Dropdown';
import { Icon } from './icons';

export interface Column<R> {
  key: string;
  header: string;
  cell: (row: R) => ReactNode;
  /** The value of the sort parameter that this column's header asks for. */
  sort?: string;
  /** The direction the service sorts it in. */
  sortDirection?: 'ascending' | 'descending';
  align?: 'end';
  width?: number;
  /** Hidden until switched on in the column menu. */
  extra?: boolean;
  /** May take several lines. */
  wrap?: boolean;
  /** Left out on a phone. */
  wide?: boolean;
  /** Always shown: the row's name. */
  fixed?: boolean;
}

interface Props<R> {
  /** Names the table for screen readers and for remembering its hidden columns. */
  name: string;
  columns: Column<R>[];
  list: CursorList<R>;
  rowKey: (row: R) => string;
  rowName: (row: R) => string;
  total?: number | null;
  sort?: string;
  onSort?: (sort: string) => void;
  onOpen?: (row: R) => void;
  filters?: ReactNode;
  exportHref?: string;
  bulk?: (rows: R[], clear: () => void) => ReactNode;
  empty: ReactNode;
}

const windowFrom = 80;

/** The one table of the app: rows by cursor, sort by header, columns to hide, a keyboard, selection and export. */
export function DataTable<R>(props: Props<R>) {
  const { name, list, rowKey, onOpen, bulk } = props;
  const rows = list.rows;
  const { columns, menu } = useColumns(name, props.columns);
  const { selected, setSelected, chosen } = useSelection(rows, rowKey);
  const [active, setActive] = useState(0);
  const scroll = useRef<HTMLDivElement>(null);
  const view = useRowWindow(scroll, rows.length, rows.length > windowFrom);
  const width = columns.length + (bulk ? 1 : 0);

  const { hasMore, loadingMore, loadMore } = list;
  useEffect(() => {
    // Near the end of what is loaded, the next page comes by itself; a short list keeps its button.
    if (rows.length > windowFrom && view.from > 0 && hasMore && !loadingMore && view.to >= rows.length - 8) loadMore();
  }, [hasMore, loadingMore, loadMore, view.from, view.to, rows.length]);

  // A row that is not drawn yet takes the focus with the next frame; keys that come before then count from it, too.
  const coming = useRef<number | null>(null);
  const focusRow = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    const find = () => scroll.current?.querySelector<HTMLElement>(`tr[data-index="${next}"]`);
    setActive(next);
    if (rows.length > windowFrom) revealRow(scroll.current, next, view.height);
    const drawn = find();
    coming.current = drawn ? null : next;
    if (drawn) drawn.focus();
    else requestAnimationFrame(() => { coming.current = null; find()?.focus(); });
  };
  const onKey = (event: KeyboardEvent<HTMLTableRowElement>, row: R, index: number) => {
    const onRow = event.target === event.currentTarget;
    const at = coming.current ?? index;
    if (event.key === 'ArrowDown') focusRow(at + 1);
    else if (event.key === 'ArrowUp') focusRow(at - 1);
    else if (onRow && event.key === 'Home') focusRow(0);
    else if (onRow && event.key === 'End') focusRow(rows.length - 1);
    else if (onRow && event.key === 'Enter' && onOpen) onOpen(row);
    else if (onRow && event.key === ' ' && bulk) setSelected(toggled(selected, rowKey(row)));
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent, row: R) => {
    if ((event.target as HTMLElement).closest('a, button, input, label')) return;
    onOpen?.(row);
  };

  return (
    <div className="panel">
      <div className="toolbar" role="group" aria-label={`${name}: filters and columns`}>
        {props.filters}
        <span className="grow" />
        {props.exportHref && (
          <Button component="a" href={props.exportHref} download variant="default" leftSection={<Icon name="download" />}>Export CSV</Button>
        )}
        {menu}
      </div>
      {bulk && chosen.length > 0 && (
        <div className="toolbar" role="group" aria-label="Selection">
          <strong>{count(chosen.length)} selected</strong>
          {bulk(chosen, () => setSelected(new Set()))}
          <Button variant="subtle" onClick={() => setSelected(new Set())}>Clear selection</Button>
        </div>
      )}
      {list.error && <div style={{ padding: 12 }}><Problem what={`${name} could not be loaded`} error={list.error} retry={list.retry} /></div>}
      <div className="scroll" ref={scroll} tabIndex={rows.length ? undefined : 0} role="region" aria-label={`${name} table`}>
        <table className="table data" aria-label={name} aria-rowcount={props.total ?? undefined} aria-busy={list.pending || list.stale} style={{ opacity: list.stale ? 0.6 : 1 }}>
          <thead>
            <tr>
              {bulk && (
                <th style={{ width: 40 }}>
                  <input type="checkbox" aria-label="Select all loaded rows" checked={rows.length > 0 && chosen.length === rows.length} ref={(box) => { if (box) box.indeterminate = chosen.length > 0 && chosen.length < rows.length; }} onChange={(e) => setSelected(new Set(e.currentTarget.checked ? rows.map(rowKey) : []))} />
                </th>
              )}
              {columns.map((c) => <Header key={c.key} column={c} sort={props.sort} onSort={props.onSort} />)}
            </tr>
          </thead>
          <tbody>
            {list.pending && !list.error && <SkeletonRows columns={width} />}
            {view.before > 0 && <tr aria-hidden="true"><td colSpan={width} style={{ height: view.before, padding: 0 }} /></tr>}
            {rows.slice(view.from, view.to).map((row, i) => {
              const index = view.from + i;
              const key = rowKey(row);
              return (
                // A row takes the keyboard like a grid's: arrows move, Enter opens.
                <tr key={key} data-index={index} data-open={onOpen ? true : undefined} data-selected={selected.has(key) || undefined} tabIndex={index === Math.min(active, rows.length - 1) ? 0 : -1} onFocus={() => setActive(index)} onKeyDown={(e) => onKey(e, row, index)} onClick={(e) => onClick(e, row)}>
                  {bulk && <td><input type="checkbox" aria-label={`Select ${props.rowName(row)}`} checked={selected.has(key)} onChange={() => setSelected(toggled(selected, key))} /></td>}
                  {columns.map((c) => <td key={c.key} data-align={c.align} data-wrap={c.wrap} className={c.wide ? 'hide-phone' : undefined}>{c.cell(row)}</td>)}
                </tr>
              );
            })}
            {view.after > 0 && <tr aria-hidden="true"><td colSpan={width} style={{ height: view.after, padding: 0 }} /></tr>}
          </tbody>
        </table>
        {!list.pending && !list.error && rows.length === 0 && props.empty}
      </div>
      <div className="footer">
        <span role="status">{list.pending ? 'Loading' : countText(rows.length, props.total, hasMore)}</span>
        {hasMore && <Button variant="default" size="compact-sm" loading={loadingMore} onClick={loadMore}>Load more</Button>}
      </div>
    </div>
  );
}

function countText(shown: number, total: number | null | undefined, more: boolean): string {
  if (total !== null && total !== undefined) return shown < total ? `${count(shown)} of ${count(total)}` : `${count(total)} in total`;
  return more ? `${count(shown)} shown, more to load` : `${count(shown)} in total`;
}

function Header<R>({ column, sort, onSort }: { column: Column<R>; sort?: string; onSort?: (sort: string) => void }) {
  const by = column.sort;
  const current = by !== undefined && by === sort;
  return (
    <th scope="col" data-align={column.align} className={column.wide ? 'hide-phone' : undefined} style={{ width: column.width }} aria-sort={current ? (column.sortDirection ?? 'ascending') : undefined}>
      {by !== undefined && onSort ? (
        <button type="button" className="sort" onClick={() => onSort(by)}>
          {column.header}
          {current && <Icon name={column.sortDirection === 'descending' ? 'down' : 'up'} size={12} />}
        </button>
      ) : column.header}
    </th>
  );
}

function SkeletonRows({ columns }: { columns: number }) {
  return Array.from({ length: 8 }, (_, i) => (
    <tr key={i} aria-hidden="true">
      {Array.from({ length: columns }, (__, j) => <td key={j}><span className="skeleton" style={{ width: `${40 + ((i * 7 + j * 13) % 45)}%` }} /></td>)}
    </tr>
  ));
}

function toggled(set: Set<string>, key: string): Set<string> {
  const next = new Set(set);
  if (!next.delete(key)) next.add(key);
  return next;
}

function useSelection<R>(rows: R[], rowKey: (row: R) => string) {
  const [selected, setSelected] = useState<Set<string>>(new Set());
  return { selected, setSelected, chosen: selected.size ? rows.filter((row) => selected.has(rowKey(row))) : [] };
}

// Which columns a person hides is theirs, not the link's, so it stays in this browser.
function useColumns<R>(name: string, all: Column<R>[]) {
  const [choice, setChoice] = useLocalStorage<Record<string, boolean>>({ key: `revarch-columns-${name}`, defaultValue: {} });
  const shown = (c: Column<R>) => c.fixed || (choice[c.key] ?? !c.extra);
  const menu = (
    <Dropdown
      label="Columns"
      width={210}
      target={(toggle) => <Button variant="default" leftSection={<Icon name="columns" />} onClick={toggle}>Columns</Button>}
    >
      {() => all.filter((c) => !c.fixed).map((c) => (
        <label key={c.key} className="option">
          <input type="checkbox" checked={shown(c)} onChange={(e) => setChoice({ ...choice, [c.key]: e.currentTarget.checked })} />
          {c.header}
        </label>
      ))}
    </Dropdown>
  );
  return { columns: all.filter(shown), menu };
}
