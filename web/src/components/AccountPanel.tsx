import { Anchor, Drawer } from '@mantine/core';
import { Link } from 'react-router';
import { AccountView } from './AccountView';

/** The account beside the list it was opened from. */
export default function AccountPanel({ id, close }: { id: string; close: () => void }) {
  return (
    <Drawer opened onClose={close} position="right" size="xl" title="Account" closeButtonProps={{ 'aria-label': 'Close account' }}>
      <div className="stack">
        <Anchor component={Link} to={`/accounts/${id}`} size="sm">Open as a page</Anchor>
        <AccountView id={id} />
      </div>
    </Drawer>
  );
}
