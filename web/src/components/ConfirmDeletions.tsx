import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from 'react-router';
import type { Run } from '../api/types';
import { useMay } from '../app/session';
import { useSync } from '../lib/connectors';
import { plural } from '../lib/format';

/** A full sync keeps most of what is gone at the provider until a person says that it may go. */
export default function ConfirmDeletions({ run }: { run: Run }) {
  const [asking, ask] = useDisclosure(false);
  const may = useMay('manager');
  const navigate = useNavigate();
  const sync = useSync(run.subject);
  const kept = run.warnings.filter((w) => w.code === 'deletions_refused').reduce((n, w) => n + w.count, 0);
  if (!may) return null;
  const confirm = () => sync.mutate({ mode: 'full', confirm_deletions: true }, {
    onSuccess: (started) => void navigate(`/runs/${started.run.id}`),
    onSettled: ask.close,
  });
  return (
    <div>
      <Button variant="default" onClick={ask.open}>Delete what is gone</Button>
      <Modal opened={asking} onClose={ask.close} title={`Delete ${plural(kept, 'record')}?`} closeButtonProps={{ 'aria-label': 'Close' }} zIndex={220}>
        <div className="stack">
          <span>A full sync runs once more and deletes here whatever is not at the provider any more, however much that is. If the provider only hides these records from the connected user, keep them and mend the permissions there first.</span>
          <div className="row" style={{ justifyContent: 'flex-end' }}>
            <Button variant="default" onClick={ask.close}>Keep them</Button>
            <Button color="red.9" loading={sync.isPending} onClick={confirm}>Sync and delete</Button>
          </div>
        </div>
      </Modal>
    </div>
  );
}
