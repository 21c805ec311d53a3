import { Button, Checkbox, CopyButton, Modal, Select, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, ApiError } from '../api/client';
import type { ApiKey, CreatedApiKey, Scope } from '../api/types';
import { useMay } from '../app/session';
import { Empty, Loading, Note, Or, Page, Panel, Problem, Tag, When, Wide } from '../components/basics';
import { Icon } from '../components/icons';
import { useToasts } from '../components/toasts';

const key = ['api-keys'];
const scopes: { value: Scope; label: string; description: string }[] = [
  { value: 'read', label: 'Read', description: 'Accounts, scores, pipeline, tasks' },
  { value: 'write_safe', label: 'Write', description: 'Create and update tasks, plays and signals' },
  { value: 'write_destructive', label: 'Overwrite', description: 'Complete plays, set renewal dispositions' },
  { value: 'admin', label: 'Admin', description: 'Settings, members and keys' },
];
const scopeLabel = (scope: string) => scopes.find((s) => s.value === scope)?.label ?? scope;

export default function Integrations() {
  const may = useMay('admin');
  const [creating, create] = useDisclosure(false);
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const query = useQuery({ queryKey: key, queryFn: ({ signal }) => api.get<{ api_keys: ApiKey[] }>('/api/settings/api-keys', undefined, signal), enabled: may });
  return (
    <Page title="Integrations" about="Connect AI assistants and your own programs.">
      {!may && <Note tone="info">Only admins see and make API keys.</Note>}
      <Panel flush title="API Keys & MCP Server" actions={may && <Button leftSection={<Icon name="plus" />} onClick={create.open}>Create API key</Button>}>
        <div className="body" style={{ padding: 16 }}>
          <p style={{ marginTop: 0 }}>Assistants that speak the Model Context Protocol connect to this address with a key as bearer token:</p>
          <CopyField label="MCP server address" value={`${window.location.origin}/api/mcp`} />
        </div>
        {may && query.isPending && <div style={{ padding: 16 }}><Loading /></div>}
        {query.isError && <div style={{ padding: 16 }}><Problem what="The keys could not be loaded" error={query.error} retry={() => void query.refetch()} /></div>}
        {query.data && <KeyTable keys={query.data.api_keys} revoke={setRevoking} />}
        {query.data?.api_keys.length === 0 && <Empty title="No API keys yet">Create one for each assistant or program, so that each can be revoked alone.</Empty>}
      </Panel>
      <Modal opened={creating} onClose={create.close} title="Create API key" closeButtonProps={{ 'aria-label': 'Close' }}>
        <CreateForm cancel={create.close} done={(result) => { create.close(); setCreated(result); }} />
      </Modal>
      <SecretDialog created={created} close={() => setCreated(null)} />
      <RevokeDialog apiKey={revoking} close={() => setRevoking(null)} />
    </Page>
  );
}

function state(k: ApiKey) {
  if (k.revoked_at) return <Tag tone="none">Revoked</Tag>;
  if (k.expires_at && Date.parse(k.expires_at) < Date.now()) return <Tag tone="warn">Expired</Tag>;
  return <Tag tone="good">Active</Tag>;
}

function KeyTable({ keys, revoke }: { keys: ApiKey[]; revoke: (k: ApiKey) => void }) {
  if (!keys.length) return null;
  return (
    <Wide label="API keys">
      <table className="table" aria-label="API keys">
        <thead><tr>{['Name', 'State', 'Key', 'Scopes', 'Created', 'Last used', 'Expires'].map((h) => <th key={h} scope="col">{h}</th>)}<th scope="col"><span className="sr">Actions</span></th></tr></thead>
        <tbody>
          {keys.map((k) => (
            <tr key={k.id}>
              <td>{k.name}</td>
              <td>{state(k)}</td>
              <td className="mono">{k.prefix}…</td>
              <td>{k.scopes.map(scopeLabel).join(', ')}</td>
              <td><When at={k.created_at} /></td>
              <td><When at={k.last_used_at} reason="Never used" /></td>
              <td><Or value={k.expires_at && <When at={k.expires_at} />} reason="Does not expire" /></td>
              <td data-align="end">{!k.revoked_at && <Button size="compact-sm" variant="default" onClick={() => revoke(k)} aria-label={`Revoke ${k.name}`}>Revoke</Button>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

const lifetimes = [{ value: '', label: 'Does not expire' }, { value: '30', label: '30 days' }, { value: '90', label: '90 days' }, { value: '365', label: 'One year' }];

function CreateForm({ cancel, done }: { cancel: () => void; done: (created: CreatedApiKey) => void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<string[]>(['read']);
  const [days, setDays] = useState<string | null>('');
  const create = useMutation({
    mutationFn: () => api.post<CreatedApiKey>('/api/settings/api-keys', {
      name: name.trim(), scopes: chosen, expires_at: days ? new Date(Date.now() + Number(days) * 86_400_000).toISOString() : undefined,
    }),
    onSuccess: (result) => {
      void client.invalidateQueries({ queryKey: key });
      done(result);
    },
  });
  const problem = create.error instanceof ApiError ? create.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      {problem && problem.errors.length === 0 && <Note tone="bad">{problem.detail}</Note>}
      <TextInput label="Name" description="Who or what uses it" required value={name} onChange={(e) => setName(e.currentTarget.value)} error={problem?.fieldError('name')} data-autofocus maxLength={100} />
      <Checkbox.Group label="Scopes" value={chosen} onChange={setChosen} error={problem?.fieldError('scopes')}>
        <div className="stack tight" style={{ marginTop: 8 }}>
          {scopes.map((s) => <Checkbox key={s.value} value={s.value} label={s.label} description={s.description} />)}
        </div>
      </Checkbox.Group>
      <Select label="Expires" data={lifetimes} value={days} onChange={setDays} allowDeselect={false} error={problem?.fieldError('expires_at')} />
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={cancel}>Cancel</Button>
        <Button type="submit" loading={create.isPending} disabled={!chosen.length}>Create key</Button>
      </div>
    </form>
  );
}

/** The configuration block that MCP clients take. */
export function clientConfig(origin: string, secret: string): string {
  return JSON.stringify({ mcpServers: { revarch: { url: `${origin}/api/mcp`, headers: { Authorization: `Bearer ${secret}` } } } }, null, 2);
}

function SecretDialog({ created, close }: { created: CreatedApiKey | null; close: () => void }) {
  const config = created ? clientConfig(window.location.origin, created.secret) : '';
  return (
    <Modal opened={created !== null} onClose={close} size="lg" title="Copy your API key" closeOnClickOutside={false} closeOnEscape={false} withCloseButton={false}>
      {created && (
        <div className="stack">
          <Note tone="warn">This is the only time the key is shown. Only its hash is stored, so it cannot be shown again.</Note>
          <CopyField label="API key" value={created.secret} />
          <div className="stack tight">
            <div className="row apart"><h3>Configuration for an MCP client</h3><Copy value={config} label="Copy configuration" /></div>
            {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolling region must be reachable by keyboard */}
            <pre className="code" tabIndex={0} role="region" aria-label="MCP client configuration">{config}</pre>
          </div>
          <div className="row" style={{ justifyContent: 'flex-end' }}><Button onClick={close}>I have copied it</Button></div>
        </div>
      )}
    </Modal>
  );
}

function Copy({ value, label }: { value: string; label: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => <Button variant="default" onClick={copy} leftSection={copied ? <Icon name="check" /> : undefined}>{copied ? 'Copied' : label}</Button>}
    </CopyButton>
  );
}

function CopyField({ label, value }: { label: string; value: string }) {
  return (
    <div className="row" style={{ flexWrap: 'nowrap' }}>
      <TextInput aria-label={label} readOnly value={value} style={{ flex: 1 }} styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }} onFocus={(e) => e.currentTarget.select()} />
      <Copy value={value} label="Copy" />
    </div>
  );
}

function RevokeDialog({ apiKey, close }: { apiKey: ApiKey | null; close: () => void }) {
  const client = useQueryClient();
  const toasts = useToasts();
  const revoke = useMutation({
    mutationFn: (id: string) => api.delete(`/api/settings/api-keys/${id}`),
    onSuccess: () => {
      toasts.good('The key is revoked.');
      void client.invalidateQueries({ queryKey: key });
      close();
    },
    onError: (error) => toasts.bad('The key was not revoked', error),
  });
  return (
    <Modal opened={apiKey !== null} onClose={close} title={`Revoke ${apiKey?.name ?? ''}?`} closeButtonProps={{ 'aria-label': 'Close' }}>
      <div className="stack">
        <span>The next call with this key fails at once. This cannot be undone; a new key can be made.</span>
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={close}>Keep the key</Button>
          <Button color="red.9" loading={revoke.isPending} onClick={() => apiKey && revoke.mutate(apiKey.id)}>Revoke key</Button>
        </div>
      </div>
    </Modal>
  );
}
