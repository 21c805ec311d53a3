import { Button, Checkbox, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, ApiError, send, type Answer } from '../api/client';
import type { OrganizationSettings } from '../api/types';
import { meKey, useMay } from '../app/session';
import { Loading, Note, Page, Panel, Problem } from '../components/basics';
import { LeaveDialog } from '../components/LeaveDialog';
import { useToasts } from '../components/toasts';
import { useLeaveGuard } from '../lib/hooks';

const key = ['organization'];
const path = '/api/settings/organization';

export default function OrganizationPage() {
  const query = useQuery({ queryKey: key, queryFn: ({ signal }) => send<OrganizationSettings>('GET', path, { signal }), refetchOnWindowFocus: false });
  return (
    <Page title="Organization" about="Settings that shape dates, money and scores for everyone here.">
      {query.isPending && <Loading lines={8} />}
      {query.isError && <Problem what="The settings could not be loaded" error={query.error} retry={() => void query.refetch()} />}
      {query.data && <SettingsForm key={query.data.etag ?? JSON.stringify(query.data.data)} saved={query.data} />}
    </Page>
  );
}

const months = Array.from({ length: 12 }, (_, i) => ({ value: String(i + 1), label: new Date(Date.UTC(2024, i, 1)).toLocaleString('en-US', { month: 'long', timeZone: 'UTC' }) }));
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const currencyNames = new Intl.DisplayNames('en-US', { type: 'currency' });
const currencies = (current: string) => [...new Set([current, ...Intl.supportedValuesOf('currency')])].map((value) => ({ value, label: /^[A-Z]{3}$/.test(value) ? `${value}, ${currencyNames.of(value) ?? value}` : value }));
const zones = () => ['UTC', ...Intl.supportedValuesOf('timeZone').filter((z) => z !== 'UTC')];

// Days are numbers: 1 is Monday, 7 Sunday.
const dayName = (day: number) => weekdays[(day + 6) % 7] ?? '';
const dayNumbers = (names: string[]) => weekdays.flatMap((day, i) => (names.includes(day) ? [i + 1] : []));

function SettingsForm({ saved }: { saved: Answer<OrganizationSettings> }) {
  const may = useMay('admin');
  const client = useQueryClient();
  const toasts = useToasts();
  const [form, setForm] = useState(saved.data);
  const dirty = JSON.stringify(form) !== JSON.stringify(saved.data);
  const change = (next: Partial<OrganizationSettings>) => setForm({ ...form, ...next });
  const save = useMutation({
    mutationFn: () => {
      const body: Partial<OrganizationSettings> = { ...form };
      delete body.id; // the service knows which organization this session is in
      return api.put<OrganizationSettings>(path, body, saved.etag);
    },
    onSuccess: () => {
      toasts.good('The settings are saved.');
      void client.invalidateQueries({ queryKey: key });
      void client.invalidateQueries({ queryKey: meKey });
    },
  });
  const guard = useLeaveGuard(dirty && !save.isSuccess);
  const problem = save.error instanceof ApiError ? save.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form className="stack" onSubmit={submit} style={{ maxWidth: 640 }}>
      {!may && <Note tone="info">Only admins change these settings.</Note>}
      {problem?.status === 412 && <Note tone="warn" title="Someone else changed the settings meanwhile." action={<Button size="compact-sm" variant="default" onClick={() => void client.invalidateQueries({ queryKey: key })}>Load theirs</Button>}>Your changes are not saved.</Note>}
      {problem && problem.status !== 412 && <Note tone="bad" title="Not saved.">{problem.errors.length ? 'Correct what is marked below.' : problem.detail}</Note>}
      <fieldset disabled={!may} className="stack" style={{ border: 0, padding: 0, margin: 0 }}>
        <Panel title="General">
          <div className="stack">
            <TextInput label="Name" required value={form.name} onChange={(e) => change({ name: e.currentTarget.value })} error={problem?.fieldError('name')} />
            <Select label="Time zone" description="Days and months begin and end here" searchable allowDeselect={false} data={[...new Set([form.time_zone, ...zones()])]} value={form.time_zone} onChange={(time_zone) => time_zone && change({ time_zone })} error={problem?.fieldError('time_zone')} />
            <Select label="Fiscal year starts in" allowDeselect={false} data={months} value={String(form.fiscal_year_start_month)} onChange={(m) => m && change({ fiscal_year_start_month: Number(m) })} error={problem?.fieldError('fiscal_year_start_month')} />
            <Select label="Reporting currency" searchable allowDeselect={false} data={currencies(form.reporting_currency)} value={form.reporting_currency} onChange={(code) => code && change({ reporting_currency: code })} error={problem?.fieldError('reporting_currency')} />
          </div>
        </Panel>
        <Panel title="Accounts and renewals">
          <div className="stack">
            <Switch label="Derive the segment from size when the CRM has none" checked={form.derive_segment} onChange={(e) => change({ derive_segment: e.currentTarget.checked })} />
            <NumberInput label="Renewal grace days" description="How long after its date a renewal is still open" min={0} max={365} allowDecimal={false} value={form.renewal_grace_days} onChange={(v) => change({ renewal_grace_days: Number(v) || 0 })} error={problem?.fieldError('renewal_grace_days')} />
          </div>
        </Panel>
        <Panel title="Work hours">
          <div className="stack">
            <div className="row" style={{ alignItems: 'flex-start' }}>
              <TextInput label="From" type="time" required value={form.work_hours.start} onChange={(e) => change({ work_hours: { ...form.work_hours, start: e.currentTarget.value } })} error={problem?.fieldError('work_hours.start') ?? problem?.fieldError('work_hours')} />
              <TextInput label="To" type="time" required value={form.work_hours.end} onChange={(e) => change({ work_hours: { ...form.work_hours, end: e.currentTarget.value } })} error={problem?.fieldError('work_hours.end')} />
            </div>
            <Checkbox.Group label="Days" error={problem?.fieldError('work_hours.days')} value={form.work_hours.days.map(dayName)} onChange={(names) => change({ work_hours: { ...form.work_hours, days: dayNumbers(names) } })}>
              <div className="row" style={{ marginTop: 8, gap: 16 }}>{weekdays.map((day) => <Checkbox key={day} value={day} label={day} />)}</div>
            </Checkbox.Group>
          </div>
        </Panel>
      </fieldset>
      {may && (
        <div className="row">
          <Button type="submit" disabled={!dirty} loading={save.isPending}>Save changes</Button>
          <Button variant="default" disabled={!dirty} onClick={() => { setForm(saved.data); save.reset(); }}>Discard changes</Button>
          <span className="dim" role="status">{dirty ? 'Unsaved changes' : 'Everything is saved'}</span>
        </div>
      )}
      <LeaveDialog blocker={guard} />
    </form>
  );
}
