import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { api, type Query } from '../api/client';

/** A list read page by page with the service's cursor. `pick` takes the rows out of one page. */
export function useCursorList<P extends { next_cursor?: string | null }, R>(
  key: string, path: string, query: Query, pick: (page: P) => R[], options?: { refetchInterval?: number },
) {
  const result = useInfiniteQuery({
    queryKey: [key, query],
    queryFn: ({ pageParam, signal }) => api.get<P>(path, { limit: 100, ...query, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page: P) => page.next_cursor || null,
    placeholderData: keepPreviousData,
    refetchInterval: options?.refetchInterval,
  });
  return {
    rows: result.data?.pages.flatMap(pick) ?? [],
    first: result.data?.pages[0],
    pending: result.isPending,
    stale: result.isPlaceholderData,
    error: result.error,
    retry: () => void result.refetch(),
    hasMore: result.hasNextPage,
    loadMore: () => void result.fetchNextPage(),
    loadingMore: result.isFetchingNextPage,
  };
}

export type CursorList<R> = Pick<ReturnType<typeof useCursorList<{ next_cursor?: string | null }, R>>, 'rows' | 'pending' | 'stale' | 'error' | 'retry' | 'hasMore' | 'loadMore' | 'loadingMore'>;
