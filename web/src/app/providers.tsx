import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { useState, type ReactNode } from 'react';
import { ApiError } from '../api/client';
import { ToastProvider } from '../components/toasts';
import { cssVariables, theme } from '../theme';

const schemes = localStorageColorSchemeManager({ key: 'revarch-color-scheme' });
const nonce = () => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';

// The lock on scrolling behind a dialog writes a style element of its own, which needs the nonce as well.
setNonce(nonce());

export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // What the service refused it will refuse again; only its own trouble and lost connections are worth another try.
        retry: (failures, error) => failures < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 502),
      },
    },
  });
}

export function Providers({ children, client, env }: { children: ReactNode; client?: QueryClient; env?: 'test' }) {
  const [own] = useState(() => client ?? newQueryClient());
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} colorSchemeManager={schemes} defaultColorScheme="auto" getStyleNonce={nonce} env={env}>
      <QueryClientProvider client={own}>
        <ToastProvider>{children}</ToastProvider>
      </QueryClientProvider>
    </MantineProvider>
  );
}
