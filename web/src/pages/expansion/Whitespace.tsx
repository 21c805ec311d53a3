import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { paths, type AccountWhitespace, type ProductRef, type ProductWhitespace, type WhitespacePage } from '../../api/expansion';
import { Empty, Missing, Money, Or } from '../../components/basics';
import { DataTable, type Column } from '../../components/DataTable';
import { Choice } from '../../components/expansion/Choice';
import { ExpansionPage } from '../../components/expansion/ExpansionPage';
import { FilterSelect } from '../../components/FilterSelect';
import { Icon } from '../../components/icons';
import { SearchField } from '../../components/SearchField';
import { download, toCsv } from '../../lib/csv';
import { sorted } from '../../lib/expansionWhitespace';
import { useProductChoices } from '../../lib/expansionProducts';
import { count, percent } from '../../lib/format';
import { useCursorList } from '../../lib/list';
import { segments } from '../../lib/states';
import { useUrlState } from '../../lib/url';

export default function Whitespace() {
  const { get, set } = useUrlState();
  const byAccount = get('by') === 'account';
  return (
    <ExpansionPage title="Whitespace" about="What owning accounts do not own yet, and how much of it the signals stand for.">
      <Choice label="View" choices={[{ value: 'product', label: 'By product' }, { value: 'account', label: 'By account' }]} value={byAccount ? 'account' : 'product'} onChange={(by) => set({ by: by === 'account' ? by : null, product_id: null })} />
      {byAccount ? <ByAccount /> : <ByProduct />}
    </ExpansionPage>
  );
}

function useFilters() {
  const { get, set } = useUrlState();
  const filters = { segment: get('segment'), territory: get('territory') };
  const fields = (
    <>
      <FilterSelect label="Segment" all="All segments" choices={segments} value={filters.segment} onChange={(segment) => set({ segment })} />
      <SearchField label="Territory" value={filters.territory} onChange={(territory) => set({ territory })} width={150} />
    </>
  );
  const filtered = Boolean(filters.segment || filters.territory || get('product_id'));
  const none = filtered
    ? <Empty title="Nothing matches these filters" action={<Button variant="default" onClick={() => set({ segment: null, territory: null, product_id: null })}>Clear filters</Button>} />
    : <Empty title="No account owns a product yet" action={<Button component={Link} to="/settings/imports?resource=account_products">Import what accounts own</Button>}>It comes from the CRM, or from a CSV file.</Empty>;
  return { filters, fields, none, get, set };
}

function ByProduct() {
  const { filters, fields, none, get, set } = useFilters();
  const page = useCursorList<WhitespacePage, ProductWhitespace>('expansion', paths.whitespace, { ...filters, limit: 1 }, (p) => p.products);
  const currency = page.first?.currency ?? 'USD';
  const sort = get('sort') || 'arr';
  const rows = sorted(page.first?.products ?? [], sort);
  return (
    <DataTable
      name="Whitespace by product" columns={productColumns(currency, filters)} rowKey={(p) => p.product_id} rowName={(p) => p.name} total={page.pending ? null : rows.length} sort={sort} onSort={(by) => set({ sort: by })} empty={none}
      list={{ ...page, rows, hasMore: false }} onOpen={(p) => set({ by: 'account', product_id: p.product_id }, { push: true })}
      filters={<>{fields}<Button variant="default" leftSection={<Icon name="download" />} disabled={rows.length === 0} onClick={() => download('whitespace-by-product.csv', productCsv(rows, currency))}>Export CSV</Button></>}
    />
  );
}

const productColumns = (currency: string, filters: { segment: string; territory: string }): Column<ProductWhitespace>[] => [
  { key: 'product', header: 'Product', sort: 'name', fixed: true, cell: (p) => p.name },
  { key: 'sku', header: 'SKU', wide: true, cell: (p) => <Or value={p.sku && <span className="mono">{p.sku}</span>} reason="It has no code" /> },
  { key: 'owners', header: 'Owners', sort: 'owners', sortDirection: 'descending', align: 'end', cell: (p) => count(p.owners) },
  { key: 'accounts', header: 'Without it', sort: 'accounts', sortDirection: 'descending', align: 'end', cell: (p) => <Link to={`?${new URLSearchParams({ by: 'account', product_id: p.product_id, ...only(filters) })}`}>{count(p.accounts)}</Link> },
  { key: 'share', header: 'Share without', align: 'end', wide: true, cell: (p) => (p.owners + p.accounts === 0 ? <Missing reason="No account to count" /> : percent(p.accounts / (p.owners + p.accounts))) },
  { key: 'signals', header: 'With a signal', sort: 'signals', sortDirection: 'descending', align: 'end', wide: true, cell: (p) => (p.signals > 0 ? <Link to={`/expansion/board?product_id=${p.product_id}`}>{count(p.signals)}</Link> : '0') },
  { key: 'arr', header: 'Estimated ARR', sort: 'arr', sortDirection: 'descending', align: 'end', cell: (p) => (p.signals === 0 ? <Missing reason="No signal to estimate" /> : <Money cents={p.arr_cents} currency={currency} />) },
];

const only = (filters: Record<string, string>) => Object.fromEntries(Object.entries(filters).filter(([, v]) => v));
const usd = (cents: number) => (cents / 100).toFixed(2);
const productCsv = (rows: ProductWhitespace[], currency: string) =>
  toCsv(['product_id', 'sku', 'name', 'owners', 'accounts_without', 'signals', 'estimated_arr', 'currency'], rows.map((p) => [p.product_id, p.sku, p.name, p.owners, p.accounts, p.signals, usd(p.arr_cents), currency]));

function ByAccount() {
  const { filters, fields, none, get, set } = useFilters();
  const products = useProductChoices();
  const list = useCursorList<WhitespacePage, AccountWhitespace>('expansion', paths.whitespace, { ...filters, product_id: get('product_id'), limit: 100 }, (p) => p.accounts);
  const currency = list.first?.currency ?? 'USD';
  return (
    <DataTable
      name="Whitespace by account" columns={accountColumns(currency)} list={list} rowKey={(a) => a.account_id} rowName={(a) => a.name} empty={none}
      filters={<>{fields}<FilterSelect label="Without the product" all="Any product" choices={products} value={get('product_id')} onChange={(product_id) => set({ product_id })} width={170} /></>}
      bulk={(rows) => <Button variant="default" leftSection={<Icon name="download" />} onClick={() => download('whitespace-by-account.csv', accountCsv(rows, currency))}>Export selection</Button>}
    />
  );
}

const names = (products: ProductRef[]) => products.map((p) => p.name).join(', ');

const accountColumns = (currency: string): Column<AccountWhitespace>[] => [
  { key: 'account', header: 'Account', fixed: true, cell: (a) => <Link to={`/accounts/${a.account_id}`}>{a.name}</Link> },
  { key: 'segment', header: 'Segment', wide: true, cell: (a) => <Or value={a.segment} reason="No segment is set" /> },
  { key: 'owned', header: 'Owns', align: 'end', cell: (a) => count(a.owned) },
  { key: 'unowned', header: 'Does not own', wide: true, wrap: true, cell: (a) => <span title={names(a.unowned)}>{names(a.unowned.slice(0, 4))}{a.unowned.length > 4 && <span className="dim"> and {count(a.unowned.length - 4)} more</span>}</span> },
  { key: 'signals', header: 'Signals', align: 'end', cell: (a) => (a.signals > 0 ? <Link to={`/expansion/board?account_id=${a.account_id}`}>{count(a.signals)}</Link> : '0') },
  { key: 'arr', header: 'Estimated ARR', align: 'end', wide: true, cell: (a) => (a.signals === 0 ? <Missing reason="No signal to estimate" /> : <Money cents={a.arr_cents} currency={currency} />) },
];

const accountCsv = (rows: AccountWhitespace[], currency: string) =>
  toCsv(['account_id', 'name', 'segment', 'owned', 'unowned', 'signals', 'estimated_arr', 'currency'], rows.map((a) => [a.account_id, a.name, a.segment, a.owned, a.unowned.map((p) => p.sku || p.name).join('; '), a.signals, usd(a.arr_cents), currency]));
