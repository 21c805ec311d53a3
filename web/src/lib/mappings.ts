import type { FieldError } from '../api/client';
import type { Mapping, MappingTarget } from '../api/types';

export const mappingKey = (m: Pick<Mapping, 'object' | 'target_field'>) => `${m.object}\u0000${m.target_field}`;

export type Draft = ReadonlyMap<string, Mapping>;
export const toDraft = (mappings: Mapping[]): Draft => new Map(mappings.map((m) => [mappingKey(m), m]));

export interface Change { kind: 'added' | 'removed' | 'changed'; before: Mapping | null; after: Mapping | null }

const same = (a: Mapping, b: Mapping) => a.source_field === b.source_field && (a.transform ?? '') === (b.transform ?? '');

/** What saving the draft would change, in the order of the draft, removals last. */
export function diff(saved: Draft, draft: Draft): Change[] {
  const changes: Change[] = [];
  for (const [key, after] of draft) {
    const before = saved.get(key) ?? null;
    if (!before) changes.push({ kind: 'added', before, after });
    else if (!same(before, after)) changes.push({ kind: 'changed', before, after });
  }
  for (const [key, before] of saved) {
    if (!draft.has(key)) changes.push({ kind: 'removed', before, after: null });
  }
  return changes;
}

/** Brings errors such as mappings[3].source_field back to the row they belong to; others come under ''. */
export function errorsByRow(errors: FieldError[], sent: Mapping[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const error of errors) {
    const index = /mappings\[(\d+)\]/.exec(error.location)?.[1];
    const mapping = index === undefined ? undefined : sent[Number(index)];
    const key = mapping ? mappingKey(mapping) : '';
    found.set(key, [found.get(key), error.message].filter(Boolean).join(' '));
  }
  return found;
}

export const describe = (m: Mapping | null) => (m ? (m.transform ? `${m.source_field} (${m.transform})` : m.source_field) : 'not mapped');

interface Transform { value: string; label: string; kind: string }

// What the service can do to a value on its way here, by the kind of field it is for.
const transforms: Transform[] = [
  { value: 'domain', label: 'Domain of an address', kind: 'text' },
  { value: 'usps_state', label: 'State code', kind: 'text' },
  { value: 'account_status', label: 'Account status', kind: 'text' },
  { value: 'segment', label: 'Segment', kind: 'text' },
  { value: 'buyer_type', label: 'K-12 or higher ed', kind: 'text' },
  { value: 'nces_id', label: 'NCES district ID', kind: 'text' },
  { value: 'unitid', label: 'IPEDS UNITID', kind: 'text' },
  { value: 'opportunity_type', label: 'Opportunity type', kind: 'text' },
  { value: 'activity_type', label: 'Activity type', kind: 'text' },
  { value: 'lowercase', label: 'Lower case', kind: 'text' },
  { value: 'share', label: 'Share 0 to 1, not percent', kind: 'percent' },
  { value: 'cents', label: 'Already in cents', kind: 'money' },
  { value: 'round_cents', label: 'Round to cents', kind: 'money' },
];

/** The transforms that fit a field, the automatic one first; one the service has set stays on the list whatever it is. */
export function transformChoices(target: Pick<MappingTarget, 'type'>, mapping: Mapping | null): { value: string; label: string }[] {
  const fit = transforms.filter((t) => t.kind === target.type || t.value === mapping?.transform).map(({ value, label }) => ({ value, label }));
  const set = mapping?.transform;
  if (set && !fit.some((t) => t.value === set)) fit.push({ value: set, label: set });
  return [{ value: '', label: 'Automatic' }, ...fit];
}
