import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, type ReactNode } from 'react';
import { Navigate, useLocation } from 'react-router';
import { api, ApiError, onUnauthenticated } from '../api/client';
import type { Me, Role } from '../api/types';
import { Problem } from '../components/basics';
import { atLeast } from '../lib/roles';

const Context = createContext<Me | null>(null);
export const meKey = ['me'];

export function useMeQuery() {
  return useQuery({
    queryKey: meKey,
    queryFn: async ({ signal }) => {
      try {
        return await api.get<Me>('/api/auth/me', undefined, signal);
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return null;
        throw error;
      }
    },
    staleTime: 60_000,
  });
}

/** Only a path of this app: a link may not send a person elsewhere after signing in. */
export function safeReturn(path: string | null): string {
  return path && /^\/(?![/\\])/.test(path) && !path.startsWith('/sign-in') ? path : '/';
}

/** Shows its children to signed-in people; others go to the sign-in page and come back here afterwards. */
export function RequireSession({ children }: { children: ReactNode }) {
  const me = useMeQuery();
  const client = useQueryClient();
  const location = useLocation();
  useEffect(() => onUnauthenticated(() => client.setQueryData(meKey, null)), [client]);
  if (me.isPending) return <div className="center" role="status" aria-label="Loading" />;
  if (me.isError) {
    return <main className="center"><Problem what="Your session could not be read" error={me.error} retry={() => void me.refetch()} /></main>;
  }
  if (!me.data) {
    const here = location.pathname + location.search;
    return <Navigate replace to={here === '/' ? '/sign-in' : `/sign-in?return=${encodeURIComponent(here)}`} />;
  }
  return <Context value={me.data}>{children}</Context>;
}

export function useMe(): Me {
  const me = use(Context);
  if (!me) throw new Error('useMe needs a session');
  return me;
}

export const useMay = (role: Role) => atLeast(useMe().role, role);
