// The shapes of the expansion and import endpoints, by the names that the pages use.
import type { Run } from './types';

export type Segment = 'Enterprise' | 'Mid-Market' | 'SMB';
export type Scope = 'all' | Segment;
export interface ProductRef { id: string; sku: string; name: string }

/** One direction of a pair, a -> b. A measure without a value is null and null_reasons says why under its name. */
export interface AffinityEntry {
  product_a: ProductRef;
  product_b: ProductRef;
  segment: Scope;
  n: number;
  n_a: number;
  n_b: number;
  n_ab: number;
  support: number | null;
  confidence: number | null;
  lift: number | null;
  leverage: number | null;
  conviction: number | null;
  jaccard: number | null;
  phi: number | null;
  chi_square: number | null;
  p_value: number | null;
  p_method: string | null;
  q_value: number | null;
  significant: boolean;
  reason: string | null;
  null_reasons?: Record<string, string>;
  bundle: boolean;
  lead_share: number | null;
  cross_sell_probability: number | null;
  computed_at: string;
  run_id: string;
}
export interface AffinityPage {
  matrix: AffinityEntry[];
  computed_at: string | null;
  run_id: string | null;
  accounts: number;
  products: number;
  reason: string | null;
  next_cursor: string | null;
}

export type SignalStatus = 'pending' | 'pitched' | 'won' | 'dismissed';
export interface GateReason { check: string; reason: string }
export interface Antecedent { product: ProductRef; probability: number; lift: number; weight: number; share: number }
export interface Signal {
  id: string;
  account: { id: string; name: string; segment: string | null; state: string | null; territory: string | null };
  product: ProductRef;
  status: SignalStatus;
  reason: string | null;
  probability: number;
  estimated_arr_cents: number | null;
  expected_arr_cents: number | null;
  unpriced: boolean;
  price_basis: string;
  price_segment: string;
  priority_score: number | null;
  priority_basis: string[];
  readiness: 'ready' | 'not_ready';
  readiness_reasons: GateReason[];
  antecedents: Antecedent[];
  evidence_segment: string;
  days_to_renewal: number | null;
  version: number;
  status_changed_by: string | null;
  status_changed_at: string | null;
  created_at: string;
  updated_at: string;
}
export type ByStatus = Record<SignalStatus, number>;
export type Suppressed = Record<string, number>;
export interface SignalKpi {
  total_pending: number;
  pipeline_arr_cents: number;
  unpriced: number;
  by_status: ByStatus;
  by_product: (ByStatus & { product_id: string; pipeline_arr_cents: number })[];
  won_arr_cents: number;
  conversion: number | null;
  conversion_reason?: string | null;
  suppressed: Suppressed;
  currency: string;
  generated_at: string | null;
  run_id: string | null;
}
export interface SignalPage { kpi: SignalKpi; signals: Signal[]; next_cursor?: string | null }
export interface SignalMoved { signal: Signal }

export interface ProductWhitespace { product_id: string; sku: string; name: string; owners: number; accounts: number; signals: number; arr_cents: number }
export interface AccountWhitespace { account_id: string; name: string; segment: string | null; owned: number; unowned: ProductRef[]; signals: number; arr_cents: number }
export interface WhitespacePage { currency: string; products: ProductWhitespace[]; accounts: AccountWhitespace[]; next_cursor?: string | null }

export type ImportResource = 'accounts' | 'products' | 'account_products';
export interface ImportError { line: number; column: string; reason: string }
export interface ImportReport { resource: string; rows: number; valid: number; bad: number; errors: ImportError[]; truncated: boolean }
export interface ImportStarted { run: Run; already_running?: boolean }

export const paths = {
  affinity: '/api/expansion/affinity',
  signals: '/api/expansion/signals',
  whitespace: '/api/expansion/whitespace',
  importFile: (resource: ImportResource, dryRun: boolean) => `/api/imports/${resource}?dry_run=${dryRun}`,
  importTemplate: (resource: ImportResource) => `/api/imports/${resource}/template`,
};
