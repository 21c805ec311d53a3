import { Button, NativeSelect, Select, Tabs, Tooltip } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { ApiError, api, send, type Answer } from '../api/client';
import type { DiscoveredField, Mapping, MappingSet, MappingTarget, Run } from '../api/types';
import { useMay } from '../app/session';
import { useDiscovery } from '../lib/connectors';
import { count, plural } from '../lib/format';
import { useLeaveGuard } from '../lib/hooks';
import { diff, errorsByRow, mappingKey, toDraft, transformChoices, type Draft } from '../lib/mappings';
import { useUrlState } from '../lib/url';
import { Loading, Note, Panel, Problem } from './basics';
import { LeaveDialog } from './LeaveDialog';
import { MappingDiff } from './MappingDiff';

const mappingsKey = (provider: string) => ['mappings', provider];

/** Which field of the provider fills which field here. Saved as a whole, after a look at what changes. */
export default function MappingEditor({ provider }: { provider: string }) {
  const path = `/api/connectors/${encodeURIComponent(provider)}/mappings`;
  const query = useQuery({ queryKey: mappingsKey(provider), queryFn: ({ signal }) => send<MappingSet>('GET', path, { signal }), refetchOnWindowFocus: false });
  const discovery = useDiscovery(provider);
  if (query.isPending || discovery.isPending) return <Loading lines={8} label="Loading mappings and the provider’s fields" />;
  if (query.isError) return <Problem what="The mappings could not be loaded" error={query.error} retry={() => void query.refetch()} />;
  if (discovery.isError) return <Problem what="The provider’s fields could not be read" error={discovery.error} retry={() => void discovery.refetch()} />;
  const fields = new Map(discovery.data.objects.map((o) => [o.name, o.fields]));
  return <Editor key={query.data.etag ?? String(query.data.data.version)} provider={provider} path={path} saved={query.data} fields={fields} />;
}

interface EditorProps { provider: string; path: string; saved: Answer<MappingSet>; fields: Map<string, DiscoveredField[]> }

function Editor({ provider, path, saved, fields }: EditorProps) {
  const { data: set, etag } = saved;
  const { get, set: setUrl } = useUrlState();
  const may = useMay('admin');
  const client = useQueryClient();
  const before = toDraft(set.mappings);
  const [draft, setDraft] = useState<Draft>(before);
  const [reviewing, setReviewing] = useState(false);
  const changes = diff(before, draft);
  const guard = useLeaveGuard(changes.length > 0);
  const sent = [...draft.values()];

  const save = useMutation({
    mutationFn: () => api.put<MappingSet>(path, { mappings: sent.map(wire) }, etag),
    onSuccess: ({ data }) => {
      setReviewing(false);
      if (data?.run) client.setQueryData(['mapping-run', provider], data.run);
      void client.invalidateQueries({ queryKey: mappingsKey(provider) });
    },
    onError: () => setReviewing(false),
  });
  const problem = save.error instanceof ApiError ? save.error : null;
  const errors = problem ? errorsByRow(problem.errors, sent) : new Map<string, string>();
  const run = client.getQueryData<Run>(['mapping-run', provider]);

  const change = (key: string, next: Mapping | null) => {
    const copy = new Map(draft);
    if (next) copy.set(key, next);
    else copy.delete(key);
    setDraft(copy);
    if (problem) save.reset();
  };
  const open = set.suggestions.filter((s) => !draft.has(mappingKey(s)));
  const objects = [...new Set([...set.targets.map((t) => t.object), ...sent.map((m) => m.object)])];
  const object = objects.includes(get('object')) ? get('object') : (objects[0] ?? '');

  return (
    <div className="stack">
      {run && changes.length === 0 && <Note tone="good" title="Saved.">Stored records are being mapped again. <Link to={`/runs/${run.id}`}>Watch the run</Link></Note>}
      {problem?.status === 412 && (
        <Note tone="warn" title="Someone else changed these mappings meanwhile." action={<Button size="compact-sm" variant="default" onClick={() => { save.reset(); setDraft(before); void client.invalidateQueries({ queryKey: mappingsKey(provider) }); }}>Load theirs</Button>}>
          Your changes are not saved. Load theirs and make your changes again.
        </Note>
      )}
      {problem && problem.status !== 412 && <Note tone="bad" title="Not saved.">{problem.errors.length ? `${plural(problem.errors.length, 'mapping')} cannot be saved; see below.` : problem.detail} {errors.get('')}</Note>}
      {open.length > 0 && may && (
        <Note tone="info" action={<Button size="compact-sm" variant="default" onClick={() => setDraft(new Map([...draft, ...open.map((s) => [mappingKey(s), s] as const)]))}>Use all suggestions</Button>}>
          {plural(open.length, 'unmapped field')} here {open.length === 1 ? 'has' : 'have'} a likely match in the provider.
        </Note>
      )}
      <Panel flush>
        <Tabs value={object} onChange={(value) => setUrl({ object: value })}>
          <Tabs.List aria-label="Objects">
            {objects.map((o) => <Tabs.Tab key={o} value={o}>{o} ({count(sent.filter((m) => m.object === o).length)})</Tabs.Tab>)}
          </Tabs.List>
          {objects.map((o) => (
            <Tabs.Panel key={o} value={o}>
              {o === object && (
                // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolling region must be reachable by keyboard
                <div className="scroll" tabIndex={0} role="region" aria-label={`Mappings of ${o}`}>
                  <table className="table" aria-label={`Mappings of ${o}`}>
                    <thead><tr><th scope="col">RevArch field</th><th scope="col">Provider field</th><th scope="col" className="hide-phone">Transform</th></tr></thead>
                    <tbody>
                      {rowsOf(o, set, draft).map(({ target, key }) => (
                        <Row key={key} target={target} mapping={draft.get(key) ?? null} suggestion={set.suggestions.find((s) => mappingKey(s) === key) ?? null} fields={fields.get(o) ?? []} error={errors.get(key)} readOnly={!may} onChange={(next) => change(key, next)} />
                      ))}
                    </tbody>
                  </table>
                </div>
              )}
            </Tabs.Panel>
          ))}
        </Tabs>
        <div className="footer">
          <span role="status">{changes.length ? `${plural(changes.length, 'unsaved change')}` : 'No unsaved changes'}</span>
          {may && (
            <div className="row">
              <Button variant="default" disabled={!changes.length} onClick={() => { setDraft(before); save.reset(); }}>Discard changes</Button>
              <Button disabled={!changes.length} onClick={() => setReviewing(true)}>Review changes</Button>
            </div>
          )}
        </div>
      </Panel>
      <MappingDiff opened={reviewing} changes={changes} close={() => setReviewing(false)} saving={save.isPending} save={() => save.mutate()} />
      <LeaveDialog blocker={guard} />
    </div>
  );
}

// The service refuses what it does not know, so only its own fields are sent.
const wire = ({ object, source_field, target_field, transform, required, source_type }: Mapping): Mapping => ({ object, source_field, target_field, transform: transform || undefined, required, source_type });

function rowsOf(object: string, set: MappingSet, draft: Draft): { key: string; target: MappingTarget }[] {
  const rows = set.targets.filter((t) => t.object === object).map((target) => ({ key: mappingKey(target), target }));
  const known = new Set(rows.map((r) => r.key));
  for (const [key, m] of draft) {
    if (m.object === object && !known.has(key)) {
      rows.push({ key, target: { object, target_field: m.target_field, label: m.target_field, type: '', required: m.required, description: '' } });
    }
  }
  return rows;
}

interface RowProps {
  target: MappingTarget;
  mapping: Mapping | null;
  suggestion: Mapping | null;
  fields: DiscoveredField[];
  error?: string;
  readOnly: boolean;
  onChange: (next: Mapping | null) => void;
}

function Row({ target, mapping, suggestion, fields, error, readOnly, onChange }: RowProps) {
  const known = fields.map((f) => ({ value: f.name, label: `${f.label} (${f.name})` }));
  const gone = mapping && !fields.some((f) => f.name === mapping.source_field);
  const data = gone ? [{ value: mapping.source_field, label: `${mapping.source_field} (no longer there)` }, ...known] : known;
  const pick = (name: string | null) => {
    const field = fields.find((f) => f.name === name);
    if (!name) onChange(null);
    else onChange({ object: target.object, target_field: target.target_field, required: target.required, transform: mapping?.transform, source_field: name, source_type: field?.source_type ?? mapping?.source_type });
  };
  const missing = target.required && !mapping ? 'Required' : undefined;
  return (
    <tr>
      <td>
        <Tooltip label={target.description} disabled={!target.description}>
          <span>{target.label}{target.required && <span className="dim"> (required)</span>}</span>
        </Tooltip>
        <div className="dim mono">{target.target_field}</div>
      </td>
      <td>
        <div className="row" style={{ flexWrap: 'nowrap' }}>
          <Select aria-label={`Provider field for ${target.label}`} size="xs" miw={150} style={{ flex: 1, maxWidth: 340 }} searchable clearable placeholder="Not mapped" disabled={readOnly} data={data} value={mapping?.source_field ?? null} onChange={pick} error={error ?? missing} />
          {!mapping && suggestion && !readOnly && <Button size="compact-xs" variant="default" onClick={() => onChange(suggestion)} aria-label={`Use ${suggestion.source_field} for ${target.label}`}>Use {suggestion.source_field}</Button>}
        </div>
      </td>
      <td className="hide-phone">
        <NativeSelect aria-label={`Transform for ${target.label}`} size="xs" w={170} disabled={readOnly || !mapping} data={transformChoices(target, mapping)} value={mapping?.transform ?? ''} onChange={(e) => mapping && onChange({ ...mapping, transform: e.currentTarget.value || undefined })} />
      </td>
    </tr>
  );
}
