import { Anchor, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../api/client';
import type { AccountDetail, Score, ScoreModel } from '../api/types';
import { count, decimal, exact, percent, words } from '../lib/format';
import { levelOf, modelName, models, scoreReason } from '../lib/scores';
import { useUrlState } from '../lib/url';
import { Bar, Empty, Facts, Loading, Missing, Money, Or, Problem, Tag, When, Wide } from './basics';
import { DecompositionDrawer } from './Decomposition';
import { TaskRows } from './TaskRows';

export const accountKey = (id: string) => ['account', id];

export function useAccount(id: string) {
  return useQuery({
    queryKey: accountKey(id),
    queryFn: ({ signal }) => api.get<AccountDetail>(`/api/accounts/${encodeURIComponent(id)}`, undefined, signal),
    enabled: id !== '',
  });
}

/** One account in full, in the side panel and on its own page. Its tab and its open score live in the URL. */
export function AccountView({ id, headless }: { id: string; headless?: boolean }) {
  const { get, set } = useUrlState();
  const query = useAccount(id);
  if (query.isPending) return <Loading lines={8} />;
  if (query.isError) return <Problem what="The account could not be loaded" error={query.error} retry={() => void query.refetch()} />;
  const detail = query.data;
  const { account, scores } = detail;
  const shown = models.find((m) => m === get('score')) ?? null;
  const tab = get('tab') || 'overview';
  return (
    <div className="stack">
      {!headless && <h2 style={{ fontSize: '1.125rem' }}>{account.name}</h2>}
      <div className="tiles">
        {models.map((model) => <ScoreTile key={model} model={model} score={scores[model]} reason={scores.reason} onOpen={() => set({ score: model }, { push: true })} />)}
      </div>
      <Tabs value={tab} onChange={(value) => set({ tab: value === 'overview' ? null : value })} keepMounted={false}>
        <Tabs.List aria-label="Account details">
          <Tabs.Tab value="overview">Overview</Tabs.Tab>
          <Tabs.Tab value="contacts">Contacts ({count(detail.contacts.length)})</Tabs.Tab>
          <Tabs.Tab value="opportunities">Opportunities ({count(detail.opportunities.length)})</Tabs.Tab>
          <Tabs.Tab value="activity">Activity</Tabs.Tab>
          <Tabs.Tab value="tasks">Tasks ({count(detail.tasks.length)})</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="overview" pt="md"><Overview detail={detail} /></Tabs.Panel>
        <Tabs.Panel value="contacts" pt="md"><Contacts detail={detail} /></Tabs.Panel>
        <Tabs.Panel value="opportunities" pt="md"><Opportunities detail={detail} /></Tabs.Panel>
        <Tabs.Panel value="activity" pt="md"><Activities detail={detail} /></Tabs.Panel>
        <Tabs.Panel value="tasks" pt="md">
          {detail.tasks.length ? <TaskRows tasks={detail.tasks} /> : <Empty title="No tasks for this account" />}
        </Tabs.Panel>
      </Tabs>
      <DecompositionDrawer model={shown} score={shown && scores[shown]} reason={shown === 'priority' || shown === 'expansion' ? 'not_available' : scores.reason} of={account.name} onClose={() => set({ score: null })} />
    </div>
  );
}

function ScoreTile({ model, score, reason, onOpen }: { model: ScoreModel; score: Score | null; reason: string | null; onOpen: () => void }) {
  const value = score?.composite_score ?? null;
  const level = value === null ? null : levelOf(model, value, score?.level);
  const body = (
    <>
      <div className="label">{modelName[model]}</div>
      <div className="value">{value === null ? <Missing reason={scoreReason(score ? score.status : model === 'health' || model === 'risk' ? reason : 'not_available')} /> : decimal(value)}</div>
      <Bar value={value === null ? 0 : value / 100} tone={level?.tone ?? 'none'} />
      <div className="sub">{score ? (level ? `${level.word}, ${score.confidence} confidence` : 'Too little data') : 'Not available'}</div>
      {score && <div className="sub">{percent(score.coverage)} of the weight has data</div>}
    </>
  );
  return score ? (
    <button type="button" className="panel tile tile-button" onClick={onOpen}>{body}<span className="sr">Show how it is made up</span></button>
  ) : (
    <div className="panel tile">{body}</div>
  );
}

function ownerOf({ owner_name, owner_email }: AccountDetail['account']) {
  return owner_name && owner_email ? <>{owner_name} <span className="dim">{owner_email}</span></> : owner_name ?? owner_email;
}

function Overview({ detail: { account } }: { detail: AccountDetail }) {
  return (
    <Facts items={[
      ['Status', <Or key="status" value={account.status && words(account.status)} reason="The CRM gives no status" />],
      ['ARR', <Money key="arr" cents={account.arr_cents} currency={account.currency} reason="No subscription is known" />],
      ['Renewal', account.renewal_date ? <span key="r">{exact(account.renewal_date)}</span> : <Missing key="r" reason="No renewal date is known" />],
      ['Segment', <Or key="s" value={account.segment} reason="No segment is set" />],
      ['State', <Or key="st" value={account.state} reason="No state is known" />],
      ['Territory', <Or key="t" value={account.territory} reason="In no territory" />],
      ['Domain', <Or key="d" value={account.domain} reason="No domain is known" />],
      ['Owner', <Or key="o" value={ownerOf(account)} reason={account.owner_external_id ? 'The CRM’s user is not synced' : 'No owner is set'} />],
      ['District or institution', account.match ? <span key="m">{account.match.name} <span className="dim">{account.match.id}, by {words(account.match.method).toLowerCase()}</span></span> : <Missing key="m" reason="Not matched to the national directories" />],
      ...(account.expansion_opt_out ? [['Expansion', <Tag key="x" tone="warn">Opted out</Tag>] as [string, ReactNode]] : []),
      ['Sources', account.sources.length ? account.sources.join(', ') : <Missing key="src" reason="No source contributed yet" />],
    ]} />
  );
}

function Rows({ label, head, children }: { label: string; head: string[]; children: ReactNode }) {
  return (
    <Wide label={label}>
      <table className="table" aria-label={label}>
        <thead><tr>{head.map((h) => <th key={h} scope="col">{h}</th>)}</tr></thead>
        <tbody>{children}</tbody>
      </table>
    </Wide>
  );
}

function Contacts({ detail }: { detail: AccountDetail }) {
  if (!detail.contacts.length) return <Empty title="No contacts known">Contacts come with the CRM sync.</Empty>;
  return (
    <Rows label="Contacts" head={['Name', 'Title', 'E-mail', 'Phone', 'Last activity']}>
      {detail.contacts.map((c) => (
        <tr key={c.contact_id}>
          <td><div className="row">{c.name}{c.champion && !c.left_at && <Tag tone="good">Champion</Tag>}{c.left_at && <Tag tone="warn">{c.champion ? 'Champion left' : 'Left'}</Tag>}</div></td>
          <td><Or value={c.title} /></td>
          <td>{c.email ? <Anchor href={`mailto:${c.email}`} size="sm">{c.email}</Anchor> : <Missing reason="No e-mail" />}</td>
          <td className="nowrap"><Or value={c.phone} reason="No phone" /></td>
          <td><When at={c.last_activity_at} reason="No activity known" /></td>
        </tr>
      ))}
    </Rows>
  );
}

function Opportunities({ detail }: { detail: AccountDetail }) {
  if (!detail.opportunities.length) return <Empty title="No opportunities known" />;
  return (
    <Rows label="Opportunities" head={['Name', 'Stage', 'Amount', 'Close date', 'Forecast', 'Type', 'Owner']}>
      {detail.opportunities.map((o) => (
        <tr key={o.opportunity_id}>
          <td>{o.name}</td>
          <td>{o.is_closed ? <Tag tone={o.is_won ? 'good' : 'none'}>{o.is_won ? 'Won' : 'Lost'}</Tag> : <Or value={o.stage} />}</td>
          <td><Money cents={o.amount_cents} currency={detail.account.currency} reason="No amount" /></td>
          <td className="nowrap">{o.close_date ? exact(o.close_date) : <Missing reason="No close date" />}</td>
          <td><Or value={o.forecast_category && words(o.forecast_category)} /></td>
          <td><Or value={o.type && words(o.type)} /></td>
          <td className="nowrap"><Or value={o.owner_name} reason="No owner is known" /></td>
        </tr>
      ))}
    </Rows>
  );
}

function Activities({ detail }: { detail: AccountDetail }) {
  if (!detail.activities.length) return <Empty title="No activity known">Activity comes with the CRM and with mail and calendar connections.</Empty>;
  return (
    <ul className="list">
      {detail.activities.map((a) => (
        <li key={a.activity_id} className="row apart">
          <span><span className="dim">{words(a.type)}</span> <Or value={a.subject} reason="No subject" /></span>
          <When at={a.at} />
        </li>
      ))}
    </ul>
  );
}
