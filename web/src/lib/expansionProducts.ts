import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client';
import { paths, type WhitespacePage } from '../api/expansion';
import { expansionKey } from './expansionRuns';

/** The active products by name, for filters. */
export function useProductChoices(): { value: string; label: string }[] {
  const { data } = useQuery({
    queryKey: [...expansionKey, 'products'],
    queryFn: ({ signal }) => api.get<WhitespacePage>(paths.whitespace, { limit: 1 }, signal),
    staleTime: 5 * 60_000,
  });
  return (data?.products ?? []).map((p) => ({ value: p.product_id, label: p.name })).sort((a, b) => a.label.localeCompare(b.label));
}
