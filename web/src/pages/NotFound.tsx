import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { Empty, Page } from '../components/basics';

export default function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="There is nothing at this address" action={<Button component={Link} to="/dashboard">Go to the Command Center</Button>}>
        The link may be old, or belong to another organization.
      </Empty>
    </Page>
  );
}
