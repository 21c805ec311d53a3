import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client';
import type { AccountPage } from '../api/types';

/** Picks one account by searching for it. */
export function AccountPicker({ value, onChange, error }: { value: string | null; onChange: (id: string | null) => void; error?: string }) {
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), 200);
  const found = useQuery({
    queryKey: ['finder', query],
    queryFn: ({ signal }) => api.get<AccountPage>('/api/accounts', { query, limit: 8 }, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <Select
      label="Account" placeholder="Search by name" searchable clearable error={error}
      data={(found.data?.accounts ?? []).map((a) => ({ value: a.account_id, label: a.state ? `${a.name}, ${a.state}` : a.name }))}
      filter={({ options }) => options}
      nothingFoundMessage={found.isFetching ? 'Searching' : 'No account matches'}
      value={value} onChange={onChange} searchValue={text} onSearchChange={setText}
    />
  );
}
