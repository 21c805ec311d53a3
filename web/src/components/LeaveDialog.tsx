import { Button, Modal } from '@mantine/core';
import type { Blocker } from 'react-router';

/** Asks once before unsaved changes are lost. */
export function LeaveDialog({ blocker }: { blocker: Blocker }) {
  return (
    <Modal opened={blocker.state === 'blocked'} onClose={() => blocker.reset?.()} title="Leave without saving?" closeButtonProps={{ 'aria-label': 'Close' }}>
      <div className="stack">
        <span>Your changes on this page are not saved and will be lost.</span>
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={() => blocker.reset?.()}>Stay here</Button>
          <Button color="red.9" onClick={() => blocker.proceed?.()}>Leave</Button>
        </div>
      </div>
    </Modal>
  );
}
