import { Button } from '@mantine/core';
import { Link } from 'react-router';
import type { Connector } from '../api/types';
import { useMay } from '../app/session';
import { Loading, Page, Problem, Tag, When } from '../components/basics';
import { authPath, isConnected, kindText, statusText, statusTone, useConnectors, useSync } from '../lib/connectors';
import { words } from '../lib/format';

export default function Connectors() {
  const connectors = useConnectors();
  return (
    <Page title="Connectors" about="Where accounts, contacts, opportunities and activity come from.">
      {connectors.isPending && <Loading lines={6} />}
      {connectors.isError && <Problem what="The connectors could not be loaded" error={connectors.error} retry={() => void connectors.refetch()} />}
      {connectors.data && (
        <ul className="connectors list">
          {connectors.data.map((c) => <li key={c.provider}><ConnectorCard connector={c} /></li>)}
        </ul>
      )}
    </Page>
  );
}

function ConnectorCard({ connector: c }: { connector: Connector }) {
  const may = useMay('manager');
  const admin = useMay('admin');
  const sync = useSync(c.provider);
  const connected = isConnected(c);
  const again = c.status === 'reauthorization_required';
  return (
    <article className="panel connector" aria-labelledby={`connector-${c.provider}`}>
      <div className="row apart">
        <h2 id={`connector-${c.provider}`}>{connected || c.configured ? <Link to={`/settings/connectors/${c.provider}`}>{c.display_name}</Link> : c.display_name}</h2>
        <Tag tone={statusTone[c.status]}>{statusText[c.status]}</Tag>
      </div>
      <div className="dim">{kindText[c.kind] ?? words(c.kind)}{c.account_label ? ` · ${c.account_label}` : ''}</div>
      {c.error && <div style={{ color: 'var(--tone-bad)' }}>{c.error.message}</div>}
      <div style={{ flex: 1 }}>
        {connected && <>Last sync <When at={c.last_sync_at} reason="Not synced yet" />, next <When at={c.next_sync_at} reason="No sync is planned" /></>}
        {!connected && !c.configured && <span className="dim">Not available on this installation.</span>}
      </div>
      <div className="row">
        {!connected && c.configured && (admin
          ? <Button component="a" href={authPath(c.provider)} aria-label={`Connect ${c.display_name}`}>Connect</Button>
          : <span className="dim">An admin can connect it.</span>)}
        {again && admin && <Button component="a" href={authPath(c.provider)} aria-label={`Sign in again: ${c.display_name}`}>Sign in again</Button>}
        {connected && !again && may && (c.running_run_id
          ? <Button variant="default" component={Link} to={`/runs/${c.running_run_id}`}>Watch the sync</Button>
          : <Button variant="default" loading={sync.isPending} onClick={() => sync.mutate({ mode: 'incremental' })} aria-label={`Sync now: ${c.display_name}`}>Sync now</Button>)}
        {connected && <Button variant="subtle" component={Link} to={`/settings/connectors/${c.provider}`} aria-label={`${c.display_name}: details`}>Details</Button>}
      </div>
    </article>
  );
}
