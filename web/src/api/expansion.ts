// The shapes of the expansion and import endpoints, by the names that the pages use. They come from schema.d.ts.
import type { components, operations } from './schema';

type Schemas = components['schemas'];

export type ProductRef = Schemas['ProductRef'];

/** One direction of a pair, a -> b. A measure without a value is null and null_reasons says why under its name. */
export type AffinityEntry = Schemas['affinity.Entry'];
export type AffinityPage = Schemas['AffinityMatrix'];
export type Scope = AffinityEntry['segment'];
export type Segment = Exclude<Scope, 'all'>;

export type Signal = Schemas['expansion.Signal'];
export type SignalStatus = Signal['status'];
export type GateReason = Schemas['GateReason'];
export type Antecedent = Schemas['expansion.Antecedent'];
export type ByStatus = Schemas['ByStatus'];
export type Suppressed = Schemas['Suppressed'];
export type SignalKpi = Schemas['expansion.KPI'];
export type SignalPage = Schemas['ExpansionSignals'];
export type SignalMoved = Schemas['MovedSignal'];

export type ProductWhitespace = Schemas['expansion.ProductWhitespace'];
export type AccountWhitespace = Schemas['expansion.AccountWhitespace'];
export type WhitespacePage = Schemas['ExpansionWhitespace'];

export type ImportResource = operations['import-file']['parameters']['path']['resource'];
export type ImportError = Schemas['imports.Problem'];
export type ImportReport = Schemas['imports.Report'];
export type ImportStarted = Schemas['StartedRun'];

export const paths = {
  affinity: '/api/expansion/affinity',
  signals: '/api/expansion/signals',
  whitespace: '/api/expansion/whitespace',
  importFile: (resource: ImportResource, dryRun: boolean) => `/api/imports/${resource}?dry_run=${dryRun}`,
  importTemplate: (resource: ImportResource) => `/api/imports/${resource}/template`,
};
