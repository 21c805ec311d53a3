// What can be imported, as people read it; the service checks every row itself.
import { ApiError } from '../api/client';
import type { ImportReport, ImportResource } from '../api/expansion';
import { toCsv } from './csv';
import { plural } from './format';

export interface ImportColumn { name: string; required: boolean; about: string }
export interface ImportKind { value: ImportResource; label: string; about: string; columns: ImportColumn[] }

const column = (name: string, about: string, required = false): ImportColumn => ({ name, about, required });

export const importKinds: ImportKind[] = [
  {
    value: 'accounts', label: 'Accounts', about: 'One row per account. A row with a known external_id changes that account.',
    columns: [
      column('external_id', 'Your own id of the account', true), column('name', 'Its name', true), column('segment', 'Enterprise, Mid-Market or SMB'), column('state', 'Two letters, such as TX'),
      column('nces_id', 'District: 7 digits'), column('unitid', 'Institution: 6 digits'), column('arr_usd', 'Dollars, at most two decimals; counts while the account has no product lines'), column('status', 'customer, prospect or former_customer'),
    ],
  },
  {
    value: 'products', label: 'Products', about: 'One row per product. A row with a known sku changes that product.',
    columns: [column('sku', 'Your code of the product', true), column('name', 'Its name', true), column('list_price_usd', 'Dollars a year for an account; counts where no owner’s price is known'), column('active', 'true or false; empty is true')],
  },
  {
    value: 'account_products', label: 'What accounts own', about: 'One row per account, product and start. Import accounts and products first.',
    columns: [
      column('account_external_id', 'The account’s id, of your file or of a connected provider', true), column('sku', 'The product’s code', true), column('arr_usd', 'Dollars a year'), column('start_date', 'YYYY-MM-DD'),
      column('end_date', 'YYYY-MM-DD, not before the start'), column('quantity', 'Seats, licenses or students'),
    ],
  },
];
export const importKind = (value: string): ImportKind => importKinds.find((k) => k.value === value) ?? (importKinds[0] as ImportKind);

/** What is wrong with a file as a whole, one line each. */
export function fileProblems(error: unknown): string[] {
  if (!(error instanceof ApiError)) return ['Something unexpected happened. Choose the file again.'];
  return [error.detail, ...error.errors.map((e) => `${e.location.replace(/^body\./, '')}: ${e.message}`)];
}

/** The outcome of a dry run in a sentence. */
export function verdict(r: ImportReport): string {
  if (r.rows === 0) return 'The file has a header and no rows.';
  if (r.bad === 0) return `All ${plural(r.rows, 'row')} can be imported.`;
  return `${plural(r.bad, 'row')} of ${r.rows.toLocaleString('en-US')} cannot be imported. Correct the file and choose it again: all rows are imported, or none.`;
}

/** The bad rows as a file to work through. */
export const errorsCsv = (r: ImportReport) => toCsv(['line', 'column', 'reason'], r.errors.map((e) => [e.line, e.column, e.reason]));

/** Only what is plainly no CSV is refused before it is sent. */
export const looksLikeCsv = (file: Pick<File, 'name' | 'type'>) => /\.(csv|txt)$/i.test(file.name) || file.type === 'text/csv';
