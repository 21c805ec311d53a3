import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Link, useParams } from 'react-router';
import { api, ApiError } from '../api/client';
import type { InvitationInfo } from '../api/types';
import { Empty, Loading, Note, When } from '../components/basics';
import { Mark } from '../components/Mark';
import { words } from '../lib/format';
import { usePageTitle } from '../lib/hooks';

export default function Invite() {
  usePageTitle('Accept invitation');
  const { token = '' } = useParams();
  const path = `/api/auth/invitations/${encodeURIComponent(token)}`;
  const invitation = useQuery({ queryKey: ['invitation', token], queryFn: () => api.get<InvitationInfo>(path), retry: false });
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const accept = useMutation({
    mutationFn: () => api.post(`${path}/accept`, { name: name.trim(), password }),
    onSuccess: () => window.location.assign('/'), // a new session: everything is read afresh
  });
  const problem = accept.error instanceof ApiError ? accept.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate();
  };
  return (
    <main className="center">
      <div className="panel card">
        {invitation.isPending && <Loading />}
        {invitation.isError && (
          <Empty title="This invitation cannot be used" action={<Link to="/sign-in">Go to sign in</Link>}>
            {invitation.error instanceof ApiError && invitation.error.status !== 404 ? invitation.error.detail : 'It may have expired, been used or been withdrawn. Ask the person who invited you for a new one.'}
          </Empty>
        )}
        {invitation.data && (
          <form className="stack" onSubmit={submit} aria-labelledby="invite-title">
            <div className="row"><Mark /><h1 id="invite-title">Join {invitation.data.organization_name}</h1></div>
            <p className="dim" style={{ margin: 0 }}>
              {invitation.data.email} is invited as {words(invitation.data.role).toLowerCase()}. The invitation ends <When at={invitation.data.expires_at} />.
            </p>
            {accept.error && problem?.errors.length === 0 && <Note tone="bad">{problem.detail}</Note>}
            <TextInput label="Your name" name="name" autoComplete="name" required value={name} onChange={(e) => setName(e.currentTarget.value)} error={problem?.fieldError('name')} />
            <PasswordInput label="Password" description="With an account already, enter its password." name="password" autoComplete="new-password" required value={password} onChange={(e) => setPassword(e.currentTarget.value)} error={problem?.fieldError('password')} visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }} />
            <Button type="submit" loading={accept.isPending}>Accept invitation</Button>
          </form>
        )}
      </div>
    </main>
  );
}
