import { Select } from '@mantine/core';
import { useDiscovery } from '../lib/connectors';
import { count, plural } from '../lib/format';
import { useUrlState } from '../lib/url';
import { Empty, Loading, Panel, Problem, Tag, When } from './basics';
import { SearchField } from './SearchField';

/** The objects and fields that the provider has, as it describes them. */
export default function ObjectList({ provider }: { provider: string }) {
  const discovery = useDiscovery(provider);
  const { get, set } = useUrlState();
  if (discovery.isPending) return <Loading lines={8} label="Asking the provider for its objects and fields" />;
  if (discovery.isError) return <Problem what="The provider’s objects could not be read" error={discovery.error} retry={() => void discovery.refetch()} />;
  const objects = discovery.data.objects;
  const object = objects.find((o) => o.name === get('object')) ?? objects.find((o) => o.supported) ?? objects[0];
  if (!object) return <Empty title="The provider shows no objects">The connected user may lack permission to see them.</Empty>;
  const wanted = get('field').toLowerCase();
  const fields = object.fields.filter((f) => `${f.name} ${f.label}`.toLowerCase().includes(wanted));
  return (
    <Panel flush>
      <div className="toolbar">
        <Select aria-label="Object" allowDeselect={false} searchable data={objects.map((o) => ({ value: o.name, label: o.supported ? o.label : `${o.label} (not synced)` }))} value={object.name} onChange={(value) => set({ object: value })} />
        <SearchField label="Search fields" value={get('field')} onChange={(field) => set({ field })} />
        <span className="grow" />
        <span className="dim">{plural(object.fields.length, 'field')}, read <When at={discovery.data.discovered_at} /></span>
      </div>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolling region must be reachable by keyboard */}
      <div className="scroll" tabIndex={0} role="region" aria-label="Fields">
        <table className="table" aria-label={`Fields of ${object.label}`}>
          <thead><tr><th scope="col">Field</th><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Notes</th></tr></thead>
          <tbody>
            {fields.map((f) => (
              <tr key={f.name}>
                <td>{f.label}</td>
                <td className="mono">{f.name}</td>
                <td>{f.type}</td>
                <td><div className="row">{f.custom && <Tag tone="info">Custom</Tag>}{!f.nullable && <Tag tone="none">Always set</Tag>}{f.picklist_values.length ? <span className="dim" title={f.picklist_values.map((v) => v.label).join(', ')}>{count(f.picklist_values.length)} values</span> : null}</div></td>
              </tr>
            ))}
          </tbody>
        </table>
        {fields.length === 0 && <Empty title="No field matches" />}
      </div>
    </Panel>
  );
}
