import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import type { AccountDetail, AccountPage } from '../../api/types';

/** Narrows a view to one account, found by name; a link's account is shown by its name, too. */
export function AccountFilter({ value, onChange }: { value: string; onChange: (id: string | null) => void }) {
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), 200);
  const found = useQuery({
    queryKey: ['finder', query],
    queryFn: ({ signal }) => api.get<AccountPage>('/api/accounts', { query, limit: 8 }, signal),
    placeholderData: keepPreviousData,
    enabled: text !== '' || value === '',
  });
  const chosen = useQuery({ queryKey: ['account', value], queryFn: ({ signal }) => api.get<AccountDetail>(`/api/accounts/${encodeURIComponent(value)}`, undefined, signal), enabled: value !== '' });
  const options = new Map((found.data?.accounts ?? []).map((a) => [a.account_id, a.state ? `${a.name}, ${a.state}` : a.name]));
  if (value) options.set(value, chosen.data?.account.name ?? 'This account');
  return (
    <Select
      aria-label="Account" placeholder="All accounts" searchable clearable w={190} filter={({ options: all }) => all} nothingFoundMessage={found.isFetching ? 'Searching' : 'No account matches'}
      data={[...options].map(([id, label]) => ({ value: id, label }))} value={value || null} onChange={onChange} onSearchChange={setText} clearButtonProps={{ 'aria-label': 'All accounts' }}
    />
  );
}
