import type { ProductWhitespace } from '../api/expansion';

type Key = 'owners' | 'accounts' | 'signals';

/** Products in the order that a header asks for; all of them are on screen, so it is done here. */
export function sorted(rows: ProductWhitespace[], sort: string): ProductWhitespace[] {
  const names = (a: ProductWhitespace, b: ProductWhitespace) => a.name.localeCompare(b.name) || (a.product_id < b.product_id ? -1 : 1);
  if (sort === 'name') return [...rows].sort(names);
  if (sort === 'owners' || sort === 'accounts' || sort === 'signals') {
    const key: Key = sort;
    return [...rows].sort((a, b) => b[key] - a[key] || names(a, b));
  }
  return [...rows].sort((a, b) => b.arr_cents - a.arr_cents || b.accounts - a.accounts || names(a, b));
}
