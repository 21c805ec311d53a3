import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Navigate, useNavigate, useSearchParams } from 'react-router';
import { api, ApiError } from '../api/client';
import type { Me } from '../api/types';
import { Mark } from '../components/Mark';
import { Note } from '../components/basics';
import { meKey, safeReturn, useMeQuery } from '../app/session';
import { plural } from '../lib/format';
import { useNow, usePageTitle } from '../lib/hooks';

export default function SignIn() {
  usePageTitle('Sign in');
  const [params] = useSearchParams();
  const back = safeReturn(params.get('return'));
  const client = useQueryClient();
  const navigate = useNavigate();
  const me = useMeQuery();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [waitUntil, setWaitUntil] = useState(0);
  const now = useNow(500, waitUntil > 0);
  const wait = Math.max(0, Math.ceil((waitUntil - now) / 1000));

  const signIn = useMutation({
    mutationFn: () => api.post<Me>('/api/auth/login', { email: email.trim(), password }),
    onSuccess: (session) => {
      client.clear();
      client.setQueryData(meKey, session);
      void navigate(back, { replace: true });
    },
    onError: (error) => {
      if (error instanceof ApiError && error.retryAfter) setWaitUntil(Date.now() + error.retryAfter * 1000);
    },
  });
  if (me.data && signIn.isIdle) return <Navigate replace to={back} />;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wait === 0) signIn.mutate();
  };
  return (
    <main className="center">
      <form className="panel card stack" onSubmit={submit} aria-labelledby="sign-in-title">
        <div className="row"><Mark /><h1 id="sign-in-title">Sign in to RevArch</h1></div>
        {signIn.error && <Note tone="bad">{failure(signIn.error, wait)}</Note>}
        <TextInput label="E-mail" type="email" name="email" autoComplete="username" required withAsterisk={false} value={email} onChange={(e) => setEmail(e.currentTarget.value)} data-autofocus />
        <PasswordInput label="Password" name="password" autoComplete="current-password" required withAsterisk={false} value={password} onChange={(e) => setPassword(e.currentTarget.value)} visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }} />
        <Button type="submit" fullWidth loading={signIn.isPending} disabled={wait > 0}>{wait > 0 ? `Wait ${wait} s` : 'Sign in'}</Button>
      </form>
    </main>
  );
}

function failure(error: Error, wait: number): string {
  if (!(error instanceof ApiError)) return 'Something unexpected happened. Try again.';
  if (error.status === 401) return 'The e-mail or the password is not right.';
  if (error.status === 429) return wait > 0 ? `Too many attempts. You can try again in ${plural(wait, 'second')}.` : 'You can try again now.';
  return error.detail;
}
