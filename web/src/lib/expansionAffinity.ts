// What the heat map shows: products in order, the entry of each cell, and how strong a number is.
import type { AffinityEntry, ProductRef } from '../api/expansion';
import { decimal, percent } from './format';

export type Measure = 'lift' | 'cross_sell_probability' | 'confidence';
export const measures: { value: Measure; label: string; about: string }[] = [
  { value: 'lift', label: 'Lift', about: 'How many times likelier than chance owners of the row also own the column. 1 is chance; it is the same both ways.' },
  { value: 'cross_sell_probability', label: 'Cross-sell probability', about: 'How likely an owner of the row takes the column, drawn towards the average where owners are few.' },
  { value: 'confidence', label: 'Confidence', about: 'The share of owners of the row who also own the column, as counted.' },
];

export interface Grid {
  products: ProductRef[];
  /** Owners of each product, in the same order. */
  owners: number[];
  /** Owning accounts of the segment. */
  accounts: number;
  cell: (row: number, column: number) => AffinityEntry | undefined;
}

const key = (a: string, b: string) => `${a}~${b}`;

/** Orders the products by how many own them, so that the busy corner comes first, and finds entries by position. */
export function buildGrid(entries: AffinityEntry[]): Grid {
  const owners = new Map<string, { product: ProductRef; n: number }>();
  const cells = new Map<string, AffinityEntry>();
  for (const e of entries) {
    owners.set(e.product_a.id, { product: e.product_a, n: e.n_a });
    if (!owners.has(e.product_b.id)) owners.set(e.product_b.id, { product: e.product_b, n: e.n_b });
    cells.set(key(e.product_a.id, e.product_b.id), e);
  }
  const order = [...owners.values()].sort((x, y) => y.n - x.n || x.product.name.localeCompare(y.product.name) || (x.product.id < y.product.id ? -1 : 1));
  const products = order.map((o) => o.product);
  const id = (i: number) => products[i]?.id ?? '';
  return {
    products,
    owners: order.map((o) => o.n),
    accounts: entries[0]?.n ?? 0,
    cell: (row, column) => cells.get(key(id(row), id(column))),
  };
}

// Upper ends of the steps. Below chance is counted downwards, so that its sign says which side it is on.
const liftSteps: [number, number][] = [[0.5, -2], [0.8, -1], [1.25, 0], [1.5, 1], [2, 2], [3, 3]];
const shareSteps: [number, number][] = [[0.1, 0], [0.2, 1], [0.4, 2], [0.6, 3]];

/** How strong a value is, in steps from -2 (far below chance) to 4; null where there is no value. */
export function heat(measure: Measure, value: number | null): number | null {
  if (value === null) return null;
  return (measure === 'lift' ? liftSteps : shareSteps).find(([below]) => value < below)?.[1] ?? 4;
}

export const heatKey: Record<'lift' | 'share', { step: number; label: string }[]> = {
  lift: [{ step: -2, label: 'under 0.5' }, { step: -1, label: '0.5 to 0.8' }, { step: 0, label: '0.8 to 1.25' }, { step: 1, label: '1.25 to 1.5' }, { step: 2, label: '1.5 to 2' }, { step: 3, label: '2 to 3' }, { step: 4, label: '3 and more' }],
  share: [{ step: 0, label: 'under 10%' }, { step: 1, label: '10 to 20%' }, { step: 2, label: '20 to 40%' }, { step: 3, label: '40 to 60%' }, { step: 4, label: '60% and more' }],
};

export const measureText = (measure: Measure, value: number) => (measure === 'lift' ? decimal(value, value >= 10 ? 1 : 2) : percent(value));

/** What a cell says to somebody who does not see it. */
export function cellLabel(a: ProductRef, b: ProductRef, entry: AffinityEntry | undefined, measure: Measure): string {
  const pair = `${a.name}, then ${b.name}`;
  if (a.id === b.id) return `${a.name}: the same product`;
  if (!entry) return `${pair}: no account owns both`;
  const value = entry[measure];
  const name = measures.find((m) => m.value === measure)?.label.toLowerCase() ?? measure;
  return `${pair}: ${value === null ? `${name} not known` : `${name} ${measureText(measure, value)}`}, ${entry.significant ? 'significant' : 'not significant'}${entry.bundle ? ', sold as a bundle' : ''}`;
}

const reasons: Record<string, string> = {
  no_data: 'there is no data for it', zero_denominator: 'all accounts of the segment own one of them, or none does', always: 'every owner of the first owns the second, so it is without bound',
  insufficient_n: 'the segment has fewer than 30 owning accounts', insufficient_n_a: 'fewer than 10 accounts own the first product', insufficient_n_ab: 'fewer than 3 accounts own both',
  not_significant: 'it may be chance: q is above 0.05', not_computed: 'no matrix was computed yet', fewer_than_two_products: 'fewer than two products are active', no_owning_accounts: 'no account owns a product', no_match: 'nothing matches these filters',
};
export const affinityReason = (code: string | null | undefined) => (code ? (reasons[code] ?? code.replaceAll('_', ' ')) : 'not known');

const methods: Record<string, string> = { chi_square: 'Chi-square, 1 degree of freedom', fisher: 'Fisher’s exact test, upper tail' };
export const methodName = (code: string) => methods[code] ?? code.replaceAll('_', ' ');

const superscript = (n: number) => String(n).replace(/[-0-9]/g, (c) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(c)] ?? c);

/** Small probabilities as a power of ten, others with three digits. */
export function probability(p: number): string {
  if (p === 0) return 'under 10⁻³⁰⁰';
  if (p >= 0.001) return decimal(p, 3);
  const power = Math.floor(Math.log10(p));
  const lead = decimal(p / 10 ** power, 1);
  return lead === '10.0' ? `1.0 × 10${superscript(power + 1)}` : `${lead} × 10${superscript(power)}`;
}
