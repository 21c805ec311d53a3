import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { renderRoutes } from '../test/render';
import type { CursorList } from '../lib/list';
import { DataTable, type Column } from './DataTable';

interface Row { id: string; name: string; arr: number }
const rows: Row[] = ['Alpha', 'Beta', 'Gamma'].map((name, i) => ({ id: name, name, arr: i }));
const columns: Column<Row>[] = [
  { key: 'name', header: 'Name', sort: 'name', fixed: true, cell: (r) => r.name },
  { key: 'arr', header: 'ARR', sort: 'arr', sortDirection: 'descending', cell: (r) => r.arr },
];
const list = (change: Partial<CursorList<Row>> = {}): CursorList<Row> => ({ rows, pending: false, stale: false, error: null, retry: vi.fn(), hasMore: false, loadMore: vi.fn(), loadingMore: false, ...change });

function show(props: Partial<Parameters<typeof DataTable<Row>>[0]> = {}) {
  localStorage.clear();
  const element = <DataTable<Row> name="Things" columns={columns} list={list()} rowKey={(r) => r.id} rowName={(r) => r.name} empty={<p>Nothing here</p>} {...props} />;
  return renderRoutes([{ path: '/', element }], '/');
}

test('arrows move between rows and Enter opens one', async () => {
  const onOpen = vi.fn();
  show({ onOpen });
  const user = userEvent.setup();
  const first = screen.getByRole('row', { name: /Alpha/ });
  first.focus();
  await user.keyboard('{ArrowDown}');
  await vi.waitFor(() => expect(screen.getByRole('row', { name: /Beta/ })).toHaveFocus());
  await user.keyboard('{Enter}');
  expect(onOpen).toHaveBeenCalledWith(rows[1]);
});

test('arrows that follow each other faster than frames all count', () => {
  show({ onOpen: vi.fn() });
  screen.getByRole('row', { name: /Alpha/ }).focus();
  const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });
  press('ArrowDown');
  press('ArrowDown');
  expect(screen.getByRole('row', { name: /Gamma/ })).toHaveFocus();
  press('ArrowUp');
  expect(screen.getByRole('row', { name: /Beta/ })).toHaveFocus();
});

test('a click on a row opens it, one on its checkbox selects it', async () => {
  const onOpen = vi.fn();
  show({ onOpen, bulk: (chosen) => <span>Act on {chosen.map((r) => r.name).join(' and ')}</span> });
  const user = userEvent.setup();
  await user.click(screen.getByRole('checkbox', { name: 'Select Gamma' }));
  expect(onOpen).not.toHaveBeenCalled();
  expect(screen.getByText('1 selected')).toBeVisible();
  await user.click(screen.getByRole('checkbox', { name: 'Select all loaded rows' }));
  expect(screen.getByText('Act on Alpha and Beta and Gamma')).toBeVisible();
  await user.click(screen.getByText('Beta'));
  expect(onOpen).toHaveBeenCalledWith(rows[1]);
});

test('headers ask for their sort and say which one stands', async () => {
  const onSort = vi.fn();
  show({ sort: 'arr', onSort });
  expect(screen.getByRole('columnheader', { name: 'ARR' })).toHaveAttribute('aria-sort', 'descending');
  await userEvent.click(screen.getByRole('button', { name: 'Name' }));
  expect(onSort).toHaveBeenCalledWith('name');
});

test('a hidden column stays hidden', async () => {
  show();
  await userEvent.click(screen.getByRole('button', { name: 'Columns' }));
  await userEvent.click(await screen.findByRole('checkbox', { name: 'ARR', hidden: true }));
  expect(screen.queryByRole('columnheader', { name: 'ARR', hidden: true })).toBeNull();
  expect(localStorage.getItem('revarch-columns-Things')).toBe('{"arr":false}');
});

test('tells loading, failing and having nothing apart', () => {
  show({ list: list({ rows: [] }) });
  expect(screen.getByText('Nothing here')).toBeVisible();
  expect(screen.getByText('0 in total')).toBeVisible();
});

test('draws only a part of a long list and asks for the rest of the pages', async () => {
  const many = Array.from({ length: 1000 }, (_, i) => ({ id: `r${i}`, name: `Row ${i}`, arr: i }));
  const loadMore = vi.fn();
  show({ list: list({ rows: many, hasMore: true, loadMore }), total: 5000 });
  expect(within(screen.getByRole('table', { name: 'Things' })).getAllByRole('row').length).toBeLessThan(120);
  expect(screen.getByText('1,000 of 5,000')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Load more' }));
  expect(loadMore).toHaveBeenCalled();
});
