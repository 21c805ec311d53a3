import { Button, CopyButton, Modal, Select, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, ApiError } from '../api/client';
import type { Invitation, Member, MemberList, Role } from '../api/types';
import { useMay, useMe } from '../app/session';
import { Loading, Note, Page, Panel, Problem, Tag, When, Wide } from '../components/basics';
import { Icon } from '../components/icons';
import { useToasts } from '../components/toasts';
import { words } from '../lib/format';
import { assignableRoles } from '../lib/roles';

const key = ['members'];
const roleData = assignableRoles.map(({ value, label }) => ({ value, label }));

export default function Members() {
  const may = useMay('admin');
  const [inviting, invite] = useDisclosure(false);
  const [removing, setRemoving] = useState<Member | null>(null);
  const query = useQuery({ queryKey: key, queryFn: ({ signal }) => api.get<MemberList>('/api/settings/members', undefined, signal) });
  return (
    <Page title="Members" about="People of this organization and what they may do." actions={may && <Button leftSection={<Icon name="plus" />} onClick={invite.open}>Invite member</Button>}>
      {query.isPending && <Loading lines={6} />}
      {query.isError && <Problem what="The members could not be loaded" error={query.error} retry={() => void query.refetch()} />}
      {query.data && (
        <>
          <Panel flush title={`Members (${query.data.members.length})`}><MemberTable members={query.data.members} remove={setRemoving} /></Panel>
          {query.data.invitations.length > 0 && <Panel flush title={`Open invitations (${query.data.invitations.length})`}><InvitationTable invitations={query.data.invitations} /></Panel>}
        </>
      )}
      <Modal opened={inviting} onClose={invite.close} title="Invite member" closeButtonProps={{ 'aria-label': 'Close' }}>
        <InviteForm done={invite.close} />
      </Modal>
      <RemoveDialog member={removing} close={() => setRemoving(null)} />
    </Page>
  );
}

function MemberTable({ members, remove }: { members: Member[]; remove: (m: Member) => void }) {
  const me = useMe();
  const may = useMay('admin');
  const client = useQueryClient();
  const toasts = useToasts();
  const setRole = useMutation({
    mutationFn: ({ member, role }: { member: Member; role: Role }) => api.patch(`/api/settings/members/${member.user_id}`, { role }),
    onMutate: async ({ member, role }) => {
      await client.cancelQueries({ queryKey: key });
      const before = client.getQueryData<MemberList>(key);
      if (before) client.setQueryData<MemberList>(key, { ...before, members: before.members.map((m) => (m.user_id === member.user_id ? { ...m, role } : m)) });
      return { before };
    },
    onError: (error, _, context) => {
      client.setQueryData(key, context?.before);
      toasts.bad('The role was not changed', error);
    },
    onSettled: () => client.invalidateQueries({ queryKey: key }),
  });
  return (
    <Wide label="Members">
      <table className="table" aria-label="Members">
        <thead><tr><th scope="col">Name</th><th scope="col">E-mail</th><th scope="col">Role</th><th scope="col" className="hide-phone">Joined</th><th scope="col"><span className="sr">Actions</span></th></tr></thead>
        <tbody>
          {members.map((m) => {
            const self = m.user_id === me.user.id;
            return (
              <tr key={m.user_id}>
                <td><span className="row">{m.name}{self && <Tag tone="none">You</Tag>}</span></td>
                <td>{m.email}</td>
                <td>
                  {may && !self && m.role !== 'operator'
                    ? <Select aria-label={`Role of ${m.name}`} size="xs" w={110} allowDeselect={false} data={roleData} value={m.role} onChange={(role) => role && setRole.mutate({ member: m, role: role as Role })} />
                    : words(m.role)}
                </td>
                <td className="hide-phone"><When at={m.joined_at} /></td>
                <td data-align="end">{may && !self && <Button size="compact-sm" variant="default" onClick={() => remove(m)} aria-label={`Remove ${m.name}`}>Remove</Button>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Wide>
  );
}

function InvitationTable({ invitations }: { invitations: Invitation[] }) {
  const may = useMay('admin');
  const client = useQueryClient();
  const toasts = useToasts();
  const withdraw = useMutation({
    mutationFn: (id: string) => api.delete(`/api/settings/members/invitations/${id}`),
    onSuccess: () => { toasts.good('The invitation is withdrawn; its link no longer works.'); void client.invalidateQueries({ queryKey: key }); },
    onError: (error) => toasts.bad('The invitation was not withdrawn', error),
  });
  return (
    <Wide label="Open invitations">
      <table className="table" aria-label="Open invitations">
        <thead><tr><th scope="col">E-mail</th><th scope="col">Role</th><th scope="col">Sent</th><th scope="col">Ends</th><th scope="col"><span className="sr">Actions</span></th></tr></thead>
        <tbody>
          {invitations.map((i) => (
            <tr key={i.id}>
              <td>{i.email}</td><td>{words(i.role)}</td><td><When at={i.created_at} /></td><td><When at={i.expires_at} /></td>
              <td data-align="end">{may && <Button size="compact-sm" variant="default" onClick={() => withdraw.mutate(i.id)} aria-label={`Withdraw invitation of ${i.email}`}>Withdraw</Button>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function InviteForm({ done }: { done: () => void }) {
  const client = useQueryClient();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<string | null>('rep');
  const invite = useMutation({
    mutationFn: () => api.post<{ invitation: Invitation; link: string }>('/api/settings/members/invitations', { email: email.trim(), role }),
    onSuccess: () => void client.invalidateQueries({ queryKey: key }),
  });
  const problem = invite.error instanceof ApiError ? invite.error : null;
  if (invite.data) {
    const { invitation } = invite.data;
    const link = new URL(invite.data.link, window.location.origin).href; // the service gives the path, people need the address
    return (
      <div className="stack">
        <Note tone="good">Send this link to {invitation.email}. It works once and ends <When at={invitation.expires_at} />.</Note>
        <TextInput label="Invitation link" readOnly value={link} onFocus={(e) => e.currentTarget.select()} />
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          <CopyButton value={link}>{({ copied, copy }) => <Button variant="default" onClick={copy}>{copied ? 'Copied' : 'Copy link'}</Button>}</CopyButton>
          <Button onClick={done}>Done</Button>
        </div>
      </div>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      {problem && problem.errors.length === 0 && <Note tone="bad">{problem.detail}</Note>}
      <TextInput label="E-mail" type="email" required value={email} onChange={(e) => setEmail(e.currentTarget.value)} error={problem?.fieldError('email')} data-autofocus />
      <Select label="Role" allowDeselect={false} data={roleData} value={role} onChange={setRole} description={assignableRoles.map((r) => `${r.label} ${r.may}`).join('; ') + '.'} error={problem?.fieldError('role')} />
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={done}>Cancel</Button>
        <Button type="submit" loading={invite.isPending}>Create invitation</Button>
      </div>
    </form>
  );
}

function RemoveDialog({ member, close }: { member: Member | null; close: () => void }) {
  const client = useQueryClient();
  const toasts = useToasts();
  const remove = useMutation({
    mutationFn: (id: string) => api.delete(`/api/settings/members/${id}`),
    onSuccess: () => { toasts.good('The member was removed.'); void client.invalidateQueries({ queryKey: key }); close(); },
    onError: (error) => toasts.bad('The member was not removed', error),
  });
  return (
    <Modal opened={member !== null} onClose={close} title={`Remove ${member?.name ?? ''}?`} closeButtonProps={{ 'aria-label': 'Close' }}>
      <div className="stack">
        <span>They are signed out of this organization and lose access to it at once. What they did stays. They can be invited again.</span>
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={close}>Keep member</Button>
          <Button color="red.9" loading={remove.isPending} onClick={() => member && remove.mutate(member.user_id)}>Remove member</Button>
        </div>
      </div>
    </Modal>
  );
}
