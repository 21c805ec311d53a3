import { CloseButton } from '@mantine/core';
import { createContext, use, useCallback, useMemo, useState, type ReactNode } from 'react';
import { ApiError } from '../api/client';
import { Icon, type Tone } from './icons';

interface Toast { id: number; tone: Tone; text: string }
interface Toasts { good: (text: string) => void; bad: (what: string, error?: unknown) => void }

const Context = createContext<Toasts | null>(null);
let last = 0;

/** Short messages in a corner, announced to screen readers; failures stay until closed. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const close = useCallback((id: number) => setToasts((all) => all.filter((t) => t.id !== id)), []);
  const value = useMemo<Toasts>(() => {
    const add = (tone: Tone, text: string) => {
      const id = ++last;
      setToasts((all) => [...all.slice(-3), { id, tone, text }]);
      if (tone === 'good') setTimeout(() => close(id), 6000);
    };
    return {
      good: (text) => add('good', text),
      bad: (what, error) => add('bad', error instanceof ApiError ? `${what}: ${error.detail}` : what),
    };
  }, [close]);
  return (
    <Context value={value}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map((toast) => (
          <div key={toast.id} className="note" data-tone={toast.tone}>
            <Icon name={toast.tone === 'bad' ? 'warn' : 'check'} />
            <span style={{ flex: 1 }}>{toast.text}</span>
            <CloseButton size="sm" aria-label="Close message" onClick={() => close(toast.id)} />
          </div>
        ))}
      </div>
    </Context>
  );
}

export function useToasts(): Toasts {
  const toasts = use(Context);
  if (!toasts) throw new Error('useToasts needs a ToastProvider');
  return toasts;
}
