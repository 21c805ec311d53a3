import { act, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AffinityEntry, Signal, SignalKpi, SignalStatus } from '../../api/expansion';
import { RequireSession } from '../../app/session';
import { json, me, network, problem, renderRoutes, type Call } from '../../test/render';
import Affinity from './Affinity';
import Board from './Board';

afterEach(() => vi.unstubAllGlobals());

const products = ['Reader', 'Maths', 'Hub'].map((name) => ({ id: name.toLowerCase(), sku: name, name }));
const statuses: SignalStatus[] = ['pending', 'pitched', 'won', 'dismissed'];

function signal(id: string, name: string, priority_score: number, change: Partial<Signal> = {}): Signal {
  return {
    id, account: { id: `acc-${id}`, name, segment: 'SMB', state: 'TX', territory: null }, product: products[0] as Signal['product'], status: 'pending', reason: null, probability: 0.4, estimated_arr_cents: 1_000_000, expected_arr_cents: 400_000, unpriced: false,
    price_basis: 'per_student', price_segment: 'SMB', priority_score, priority_basis: ['expected_arr'], readiness: 'not_ready', readiness_reasons: [{ check: 'health', reason: 'below_50' }], antecedents: [{ product: products[1] as Signal['product'], probability: 0.4, lift: 1.7, weight: 1, share: 1 }],
    evidence_segment: 'all', days_to_renewal: null, version: 1, status_changed_by: null, status_changed_at: null, created_at: '2026-03-01T00:00:00Z', updated_at: '2026-03-01T00:00:00Z', ...change,
  };
}

let stored: Signal[];
let calls: Call[];
let refuse: { status: number; code: string } | null;

function kpiOf(): SignalKpi {
  const by_status = Object.fromEntries(statuses.map((s) => [s, stored.filter((x) => x.status === s).length])) as SignalKpi['by_status'];
  return { total_pending: by_status.pending, pipeline_arr_cents: 800_000, unpriced: 0, by_status, by_product: [], won_arr_cents: 0, conversion: null, suppressed: { owned: 4, opted_out: 0, save_first: 2, open_opportunity: 0, already_pitched: 0, already_won: 0, recently_dismissed: 0, not_offered: 0 }, currency: 'USD', generated_at: '2026-03-01T00:00:00Z', run_id: 'r1' };
}

// Answers as the service does: filters by status, checks the version, counts it up.
const handlers = {
  'GET /api/auth/me': () => json(me),
  'GET /api/runs': () => json({ runs: [], next_cursor: null }),
  'GET /api/accounts': () => json({ accounts: [], next_cursor: null }),
  'GET /api/expansion/whitespace': () => json({ currency: 'USD', products: [], accounts: [], next_cursor: null }),
  'GET /api/expansion/signals': (call: Call) => json({ kpi: kpiOf(), signals: stored.filter((s) => !call.query.get('status') || s.status === call.query.get('status')), next_cursor: null }),
  'PATCH /api/expansion/signals': (call: Call) => {
    const body = call.body as { id: string; status: SignalStatus; reason?: string; version: number };
    const found = stored.find((s) => s.id === body.id);
    if (!found) return problem(404, 'not_found');
    if (refuse) return problem(refuse.status, refuse.code);
    if (body.version !== found.version) return problem(412, 'stale');
    const next = { ...found, status: body.status, reason: body.reason ?? null, version: found.version + 1 };
    stored = stored.map((s) => (s.id === next.id ? next : s));
    return json({ signal: next, governance_entry_id: 'g1' });
  },
};

beforeEach(() => {
  stored = [signal('1', 'Alpha ISD', 80), signal('2', 'Beta ISD', 60), signal('3', 'Gamma College', 40, { status: 'pitched' })];
  refuse = null;
});

async function board(at = '/') {
  calls = network(handlers);
  const view = renderRoutes([{ path: '/', element: <RequireSession><Board /></RequireSession> }, { path: '*', element: <p>Elsewhere</p> }], at);
  await screen.findByRole('button', { name: /^Alpha ISD/ });
  return view;
}
const column = (name: RegExp) => screen.getByRole('region', { name });
const cardsIn = (name: RegExp) => within(column(name)).queryAllByRole('button', { name: /Reader$/ }).filter((b) => b.className === 'card-title').map((b) => b.querySelector('strong')?.textContent);
const title = (name: RegExp) => screen.getAllByRole('button', { name }).find((b) => b.className === 'card-title') as HTMLElement;
const patches = () => calls.filter((c) => c.method === 'PATCH').map((c) => c.body);

test('the board groups signals by status, each with why it is not ready', async () => {
  await board();
  expect(cardsIn(/^Pending/)).toEqual(['Alpha ISD', 'Beta ISD']);
  expect(cardsIn(/^Pitched/)).toEqual(['Gamma College']);
  expect(within(column(/^Pending/)).getAllByText('health below 50')).toHaveLength(2);
  expect(within(screen.getByRole('group', { name: 'Figures over all signals' })).getByText('At risk, save first')).toBeInTheDocument();
  expect(within(column(/^Won/)).getByText('Nothing is won yet.')).toBeVisible();
});

test('a key moves a card at once, sends its version and goes on with the next card', async () => {
  await board();
  const user = userEvent.setup();
  title(/Alpha ISD/).focus();
  await user.keyboard('{Shift>}{ArrowRight}{/Shift}');
  await vi.waitFor(() => expect(cardsIn(/^Pitched/)).toEqual(['Alpha ISD', 'Gamma College']));
  expect(cardsIn(/^Pending/)).toEqual(['Beta ISD']);
  expect(title(/Beta ISD/)).toHaveFocus();
  expect(patches()).toEqual([{ id: '1', status: 'pitched', version: 1 }]);
  expect(await screen.findByText(/for Alpha ISD is now pitched/)).toBeVisible();
});

test('a move that is refused goes back and says why', async () => {
  await board();
  refuse = { status: 409, code: 'conflict' };
  title(/Beta ISD/).focus();
  await userEvent.keyboard('3');
  expect(await screen.findByText(/Reader for Beta ISD was not moved: conflict/)).toBeVisible();
  await vi.waitFor(() => expect(cardsIn(/^Pending/)).toEqual(['Alpha ISD', 'Beta ISD']));
  expect(cardsIn(/^Won/)).toEqual([]);
});

test('quick moves of one card follow each other with the version that the one before left', async () => {
  await board();
  const user = userEvent.setup();
  title(/Alpha ISD/).focus();
  await user.keyboard('2');
  title(/Alpha ISD/).focus();
  await user.keyboard('3');
  await vi.waitFor(() => expect(patches()).toEqual([{ id: '1', status: 'pitched', version: 1 }, { id: '1', status: 'won', version: 2 }]));
  await vi.waitFor(() => expect(cardsIn(/^Won/)).toEqual(['Alpha ISD']));
  expect(screen.queryByText(/was not moved/)).toBeNull();
});

test('the last move is taken back', async () => {
  await board();
  title(/Alpha ISD/).focus();
  await userEvent.keyboard('3');
  await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
  await vi.waitFor(() => expect(patches()).toEqual([{ id: '1', status: 'won', version: 1 }, { id: '1', status: 'pending', version: 2 }]));
  await vi.waitFor(() => expect(cardsIn(/^Pending/)).toEqual(['Alpha ISD', 'Beta ISD']));
  expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull();
});

test('dismissing asks for a reason, and keeping it moves nothing', async () => {
  await board();
  const user = userEvent.setup();
  title(/Alpha ISD/).focus();
  await user.keyboard('4');
  await user.click(await screen.findByRole('button', { name: 'Keep it' }));
  expect(patches()).toEqual([]);
  await user.click(screen.getByRole('button', { name: 'Move Reader for Alpha ISD' }));
  await user.click(await screen.findByRole('menuitem', { name: /Dismissed/ }));
  await user.type(await screen.findByLabelText('Reason'), 'No budget');
  await user.click(screen.getByRole('button', { name: 'Dismiss' }));
  await vi.waitFor(() => expect(patches()).toEqual([{ id: '1', status: 'dismissed', reason: 'No budget', version: 1 }]));
  await vi.waitFor(() => expect(title(/^Beta ISD/)).toHaveFocus());
});

test('a drag by pointer moves a card to the column below it, and Escape keeps it', async () => {
  await board();
  const card = title(/Beta ISD/).closest('li') as HTMLElement;
  document.elementFromPoint = () => column(/^Won/);
  const pointer = (type: string, x: number, target: EventTarget = window) => act(() => void target.dispatchEvent(new MouseEvent(type, { bubbles: true, button: 0, clientX: x, clientY: 5 })));
  const press = () => act(() => {
    const event = new MouseEvent('pointerdown', { bubbles: true, button: 0, clientX: 5, clientY: 5 });
    Object.defineProperty(event, 'pointerType', { value: 'mouse' });
    card.dispatchEvent(event);
  });
  press();
  pointer('pointermove', 60);
  expect(column(/^Won/)).toHaveAttribute('data-over');
  act(() => void window.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' })));
  expect(column(/^Won/)).not.toHaveAttribute('data-over');
  pointer('pointerup', 60);
  expect(patches()).toEqual([]);
  press();
  pointer('pointermove', 60);
  pointer('pointerup', 60);
  await vi.waitFor(() => expect(cardsIn(/^Won/)).toEqual(['Beta ISD']));
  expect(document.querySelector('.ghost')).toBeNull();
});

test('filters come from the link and are asked of the service', async () => {
  await board('/?segment=SMB&min_priority=20');
  const asked = calls.filter((c) => c.path === '/api/expansion/signals' && c.query.get('status') === 'pending').map((c) => `${c.query.get('segment')} ${c.query.get('min_priority')}`);
  expect(asked).toEqual(['SMB 20']);
});

const entry = (a: number, b: number, change: Partial<AffinityEntry> = {}): AffinityEntry => ({
  product_a: products[a] as AffinityEntry['product_a'], product_b: products[b] as AffinityEntry['product_b'], segment: 'all', n: 200, n_a: 80 - a, n_b: 80 - b, n_ab: 35, support: 0.175, confidence: 0.4375, lift: 1.75, leverage: 0.075, conviction: null, jaccard: 0.368, phi: 0.354,
  chi_square: 25, p_value: 5.7e-7, p_method: 'chi_square', q_value: 5.7e-7, significant: true, reason: 'always', null_reasons: { conviction: 'always' }, bundle: false, lead_share: 0.6, cross_sell_probability: 0.4, computed_at: '2026-03-01T00:00:00Z', run_id: 'r1', ...change,
});

async function affinity(matrix: AffinityEntry[], at = '/') {
  calls = network({ ...handlers, 'GET /api/expansion/affinity': (call) => json({ matrix: matrix.filter((e) => call.query.get('significant') !== 'true' || e.significant), computed_at: matrix.length ? '2026-03-01T00:00:00Z' : null, run_id: 'r1', accounts: 200, products: 3, reason: matrix.length ? null : 'not_computed', next_cursor: null }) });
  renderRoutes([{ path: '/', element: <RequireSession><Affinity /></RequireSession> }], at);
}

test('the keyboard walks the heat map, one cell in the tab order, and opens the numbers of a cell', async () => {
  await affinity([entry(0, 1), entry(1, 0), entry(0, 2, { significant: false, reason: 'not_significant' }), entry(2, 0)]);
  const cells = await screen.findAllByRole('gridcell');
  expect(cells).toHaveLength(9);
  expect(cells.filter((c) => c.tabIndex === 0)).toHaveLength(1);
  const user = userEvent.setup();
  screen.getByRole('gridcell', { name: /^Reader, then Maths/ }).focus();
  await user.keyboard('{ArrowRight}');
  const hub = screen.getByRole('gridcell', { name: 'Reader, then Hub: lift 1.75, not significant' });
  expect(hub).toHaveFocus();
  expect(hub).toHaveAttribute('data-hollow');
  await user.keyboard('{ArrowLeft}{Enter}');
  const panel = await screen.findByRole('region', { name: 'Reader and Maths' });
  expect(panel).toHaveTextContent('Of 80 owners of Reader, 35 also own Maths (44%); of all accounts 40% do.');
  expect(within(panel).getAllByText(/without bound/)).toHaveLength(2);
  expect(within(panel).getAllByText('5.7 × 10⁻⁷')).toHaveLength(2);
  await user.keyboard('{Escape}');
  expect(screen.queryByRole('region', { name: 'Reader and Maths' })).toBeNull();
});

test('closing the numbers of a cell gives the focus back to the cell', async () => {
  await affinity([entry(0, 1), entry(1, 0)]);
  const user = userEvent.setup();
  const cell = await screen.findByRole('gridcell', { name: /^Reader, then Maths/ });
  cell.focus();
  await user.keyboard('{Enter}');
  await user.click(await screen.findByRole('button', { name: 'Close numbers' }));
  await vi.waitFor(() => expect(cell).toHaveFocus());
});

test('the map reads as a table, and without a matrix says what to do', async () => {
  await affinity([entry(0, 1), entry(1, 0, { significant: false, reason: 'not_significant' })], '/?view=table&significant=true');
  const row = await screen.findByRole('row', { name: /Reader Maths/ });
  expect(row).toHaveTextContent('1.75');
  expect(screen.queryByRole('row', { name: /Maths Reader/ })).toBeNull();
});

test('without a matrix the page says why and how to make one', async () => {
  await affinity([]);
  expect(await screen.findByText('Affinity was not computed yet')).toBeVisible();
  expect(screen.getAllByRole('button', { name: 'Compute affinity' })).not.toHaveLength(0);
});
