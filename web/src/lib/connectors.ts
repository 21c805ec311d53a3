import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../api/client';
import type { ConnectionStatus, Connector, Discovery, RunStarted } from '../api/types';
import { runningKey } from '../app/RunningJobs';
import type { Tone } from '../components/icons';
import { useToasts } from '../components/toasts';
import { runKey } from './live';

export const connectorsKey = ['connectors'];
export const statusTone: Record<ConnectionStatus, Tone> = {
  disconnected: 'none', connected: 'good', syncing: 'info', error: 'bad', reauthorization_required: 'warn',
};
export const statusText: Record<ConnectionStatus, string> = {
  disconnected: 'Not connected', connected: 'Connected', syncing: 'Syncing', error: 'Error', reauthorization_required: 'Sign in again',
};
export const kindText: Record<string, string> = {
  crm: 'CRM', workspace: 'Mail and calendar', district_intel: 'District intelligence', district_intelligence: 'District intelligence',
};
export const isConnected = (c: Connector) => c.status !== 'disconnected';
export const authPath = (provider: string) => `/api/connectors/${encodeURIComponent(provider)}/auth`;

export function useConnectors() {
  return useQuery({
    queryKey: connectorsKey,
    queryFn: ({ signal }) => api.get<{ connectors: Connector[] }>('/api/connectors/status', undefined, signal),
    select: (body) => body.connectors,
    refetchInterval: (query) => (query.state.data?.connectors.some((c) => c.running_run_id) ? 5_000 : 60_000),
  });
}

export function useDiscovery(provider: string) {
  return useQuery({
    queryKey: ['discovery', provider],
    queryFn: ({ signal }) => api.get<Discovery>(`/api/connectors/${encodeURIComponent(provider)}/discover`, undefined, signal),
    staleTime: 5 * 60_000, // it asks the provider, which takes a while
  });
}

export function useSync(provider: string) {
  const client = useQueryClient();
  const toasts = useToasts();
  return useMutation({
    mutationFn: (request: { mode: 'incremental' | 'full'; confirm_deletions?: boolean }) => api.post<RunStarted>(`/api/connectors/${encodeURIComponent(provider)}/sync`, request),
    onSuccess: ({ run, already_running }) => {
      client.setQueryData(runKey(run.id), run);
      void client.invalidateQueries({ queryKey: connectorsKey });
      void client.invalidateQueries({ queryKey: runningKey });
      toasts.good(already_running ? 'A sync is already at work.' : 'The sync has started.');
    },
    onError: (error) => toasts.bad('The sync did not start', error),
  });
}

const authErrors: Record<string, string> = {
  denied: 'The connection was declined on the provider’s page, or you may not connect providers. Nothing was changed.',
  access_denied: 'The connection was declined on the provider’s page. Nothing was changed.',
  invalid: 'The connection request is unknown, was used already or took longer than ten minutes. Start the connection again here.',
  unauthenticated: 'Your session ended meanwhile. Start the connection again here.',
  client_misconfigured: 'The provider refused this installation’s client. Your operator has to check its client ID and secret.',
  scope_missing: 'The provider granted too little. Connect again with a user that may read accounts, contacts, opportunities and tasks.',
  throttled: 'Too many attempts. Wait a minute, then connect again.',
  unavailable: 'The provider could not be reached. Try again in a few minutes.',
};
export const authError = (code: string) => authErrors[code] ?? `The provider did not complete the connection (${code.replaceAll('_', ' ')}). Try again; if it keeps failing, check the provider’s settings.`;
