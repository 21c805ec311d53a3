import { Button, Menu, Modal, Tabs } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useParams } from 'react-router';
import { api } from '../api/client';
import type { Connector, Validation } from '../api/types';
import { useMay } from '../app/session';
import { Empty, Facts, Loading, Note, Or, Page, Panel, Problem, Tag, When } from '../components/basics';
import { Icon } from '../components/icons';
import { RunView } from '../components/RunView';
import { useToasts } from '../components/toasts';
import { authError, authPath, connectorsKey, isConnected, kindText, statusText, statusTone, useConnectors, useSync } from '../lib/connectors';
import { words } from '../lib/format';
import { useUrlState } from '../lib/url';

const MappingEditor = lazy(() => import('../components/MappingEditor'));
const ObjectList = lazy(() => import('../components/ObjectList'));

export default function ConnectorPage() {
  const { provider = '' } = useParams();
  const { get, set } = useUrlState();
  const connectors = useConnectors();
  const connector = connectors.data?.find((c) => c.provider === provider);
  const error = get('error');
  const tab = get('tab') || 'overview';
  return (
    <Page title={connector?.display_name ?? 'Connector'} back={{ to: '/settings/connectors', label: 'Connectors' }} actions={connector && <Actions connector={connector} />}>
      {get('connected') && connector && isConnected(connector) && (
        <Note tone="good" action={<Button size="compact-sm" variant="default" onClick={() => set({ connected: null, tab: 'mappings' })}>Review mappings</Button>}>
          {connector.display_name} is connected. Review the field mappings, then start a sync.
        </Note>
      )}
      {error && <Note tone="bad" title="Not connected." action={<Button size="compact-sm" variant="default" onClick={() => set({ error: null })}>Close</Button>}>{authError(error)}</Note>}
      {connectors.isPending && <Loading lines={6} />}
      {connectors.isError && <Problem what="The connector could not be loaded" error={connectors.error} retry={() => void connectors.refetch()} />}
      {connectors.data && !connector && <Empty title="There is no such provider" />}
      {connector && (
        <Tabs value={tab} onChange={(value) => set({ tab: value === 'overview' ? null : value })} keepMounted={false}>
          <Tabs.List aria-label="Connector">
            <Tabs.Tab value="overview">Overview</Tabs.Tab>
            <Tabs.Tab value="fields" disabled={!isConnected(connector)}>Objects and fields</Tabs.Tab>
            <Tabs.Tab value="mappings" disabled={!isConnected(connector)}>Mappings</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="overview" pt="md"><Overview connector={connector} /></Tabs.Panel>
          <Tabs.Panel value="fields" pt="md"><Suspense fallback={<Loading />}><ObjectList provider={provider} /></Suspense></Tabs.Panel>
          <Tabs.Panel value="mappings" pt="md"><Suspense fallback={<Loading />}><MappingEditor provider={provider} /></Suspense></Tabs.Panel>
        </Tabs>
      )}
    </Page>
  );
}

function Overview({ connector: c }: { connector: Connector }) {
  return (
    <div className="stack">
      {c.error && <Note tone={c.status === 'reauthorization_required' ? 'warn' : 'bad'} title={`${words(c.error.code)}.`}>{c.error.message}</Note>}
      <Panel title="Connection" actions={<Tag tone={statusTone[c.status]}>{statusText[c.status]}</Tag>}>
        <Facts items={[
          ['Kind', kindText[c.kind] ?? words(c.kind)],
          ['Connected as', <Or key="a" value={c.account_label} reason="Not connected" />],
          ['Last sync', <When key="l" at={c.last_sync_at} reason="Not synced yet" />],
          ['Next sync', <When key="n" at={c.next_sync_at} reason="No sync is planned" />],
        ]} />
      </Panel>
      {c.running_run_id && <Panel title="Sync at work"><RunView key={c.running_run_id} id={c.running_run_id} /></Panel>}
    </div>
  );
}

function Actions({ connector: c }: { connector: Connector }) {
  const may = useMay('manager');
  const admin = useMay('admin');
  const sync = useSync(c.provider);
  const client = useQueryClient();
  const toasts = useToasts();
  const [asking, ask] = useDisclosure(false);
  const refresh = () => client.invalidateQueries({ queryKey: connectorsKey });
  const validate = useMutation({
    mutationFn: () => api.post<Validation>(`/api/connectors/${c.provider}/validate`),
    onSuccess: ({ ok, checks }) => {
      if (ok) toasts.good('The connection works.');
      else toasts.bad(checks.filter((check) => !check.ok).map((check) => check.message).join(' '));
      void refresh();
    },
    onError: (error) => { toasts.bad('The connection could not be checked', error); void refresh(); },
  });
  const disconnect = useMutation({
    mutationFn: () => api.post(`/api/connectors/${c.provider}/disconnect`),
    onSuccess: () => { ask.close(); toasts.good(`${c.display_name} is disconnected.`); void refresh(); },
    onError: (error) => toasts.bad(`${c.display_name} is still connected`, error),
  });
  if (!may) return null;
  if (!isConnected(c)) return c.configured && admin ? <Button component="a" href={authPath(c.provider)}>Connect</Button> : null;
  if (c.status === 'reauthorization_required') {
    if (!admin) return null;
    return (
      <>
        <Button component="a" href={authPath(c.provider)}>Sign in again</Button>
        <Button variant="default" onClick={ask.open}>Disconnect</Button>
        <DisconnectDialog connector={c} opened={asking} close={ask.close} pending={disconnect.isPending} confirm={() => disconnect.mutate()} />
      </>
    );
  }
  return (
    <>
      <Button loading={sync.isPending} disabled={c.running_run_id !== null} onClick={() => sync.mutate({ mode: 'incremental' })}>Sync now</Button>
      <Menu position="bottom-end" transitionProps={{ duration: 80 }}>
        <Menu.Target><Button variant="default" rightSection={<Icon name="down" size={12} />}>More</Button></Menu.Target>
        <Menu.Dropdown>
          <Menu.Item disabled={c.running_run_id !== null} onClick={() => sync.mutate({ mode: 'full' })}>Sync everything again</Menu.Item>
          <Menu.Item onClick={() => validate.mutate()}>Check the connection</Menu.Item>
          {admin && <Menu.Item component="a" href={authPath(c.provider)}>Connect again</Menu.Item>}
          {admin && <Menu.Divider />}
          {admin && <Menu.Item onClick={ask.open}>Disconnect</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      <DisconnectDialog connector={c} opened={asking} close={ask.close} pending={disconnect.isPending} confirm={() => disconnect.mutate()} />
    </>
  );
}

function DisconnectDialog({ connector, opened, close, pending, confirm }: { connector: Connector; opened: boolean; close: () => void; pending: boolean; confirm: () => void }) {
  return (
    <Modal opened={opened} onClose={close} title={`Disconnect ${connector.display_name}?`} closeButtonProps={{ 'aria-label': 'Close' }}>
      <div className="stack">
        <span>The stored credentials are deleted and syncing stops. Accounts, mappings and scores stay; connect again to go on syncing.</span>
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={close}>Keep connected</Button>
          <Button color="red.9" loading={pending} onClick={confirm}>Disconnect</Button>
        </div>
      </div>
    </Modal>
  );
}
