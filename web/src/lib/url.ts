import { useCallback } from 'react';
import { useSearchParams } from 'react-router';

/**
 * Filters, sort and tabs live in the URL, so that a link shows what its sender saw. Setting a value to null or ''
 * removes it; filters replace the history entry, steps such as opening a panel push one so that Back closes it.
 */
export function useUrlState() {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (changes: Record<string, string | null | undefined>, options?: { push?: boolean }) =>
      setParams(
        (old) => {
          const next = new URLSearchParams(old);
          for (const [key, value] of Object.entries(changes)) {
            if (value) next.set(key, value);
            else next.delete(key);
          }
          return next;
        },
        { replace: !options?.push, preventScrollReset: true },
      ),
    [setParams],
  );
  const get = useCallback((key: string) => params.get(key) ?? '', [params]);
  return { get, set, params };
}
