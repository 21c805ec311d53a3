import { Button, Modal } from '@mantine/core';
import { plural, words } from '../lib/format';
import { describe, type Change } from '../lib/mappings';
import { Wide } from './basics';

/** What saving would change, before it does: mappings feed every score. */
export function MappingDiff({ opened, changes, close, saving, save }: { opened: boolean; changes: Change[]; close: () => void; saving: boolean; save: () => void }) {
  return (
    <Modal opened={opened} onClose={close} size="lg" title="Review changes" closeButtonProps={{ 'aria-label': 'Close' }}>
      <div className="stack">
        <span>Stored records are mapped again after saving, without another pull from the provider. Scores change where their values do.</span>
        <Wide label="Changes">
          <table className="table diff" aria-label="Changes">
            <thead><tr><th scope="col">Change</th><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
            <tbody>
              {changes.map((c) => {
                const m = c.after ?? c.before;
                return (
                  <tr key={`${m?.object} ${m?.target_field}`}>
                    <td>{words(c.kind)}</td>
                    <td>{m?.object}: {m?.target_field}</td>
                    <td className={c.before ? 'removed' : 'dim'}>{describe(c.before)}</td>
                    <td className={c.after ? 'added' : 'dim'}>{describe(c.after)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </Wide>
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={close}>Go on editing</Button>
          <Button loading={saving} onClick={save}>Save {plural(changes.length, 'change')}</Button>
        </div>
      </div>
    </Modal>
  );
}
