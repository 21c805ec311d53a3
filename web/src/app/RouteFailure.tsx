import { Button } from '@mantine/core';
import { useRouteError } from 'react-router';
import { Empty } from '../components/basics';

/** A page that broke, or a part of the app that a new release has replaced since this tab was opened. */
export function RouteFailure() {
  const error = useRouteError();
  const stale = error instanceof Error && /dynamically imported module|module script/i.test(error.message);
  return (
    <main>
      <Empty
        title={stale ? 'RevArch was updated' : 'This page stopped working'}
        action={<Button onClick={() => window.location.reload()}>Reload the page</Button>}
      >
        {stale ? 'This tab still shows the earlier version. Reload to go on.' : 'Nothing you saved is lost. Reload; if it happens again, tell your administrator.'}
      </Empty>
    </main>
  );
}
