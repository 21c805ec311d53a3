import { Modal, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type KeyboardEvent } from 'react';
import { useNavigate } from 'react-router';
import { api } from '../api/client';
import type { AccountPage, AccountRow } from '../api/types';
import { navigationOf } from './nav';
import { useMe } from './session';

interface Hit { to: string; label: string; note: string }

// The service lists what matches by risk; what was typed in full or begins so is what one most likely wants.
function closestFirst(rows: AccountRow[], wanted: string): AccountRow[] {
  const distance = ({ name }: AccountRow) => (name.toLowerCase() === wanted ? 0 : name.toLowerCase().startsWith(wanted) ? 1 : 2);
  return [...rows].sort((a, b) => distance(a) - distance(b));
}

/** Ctrl-K: pages by name and accounts by query, with the arrows and Enter. */
export default function Finder({ close }: { close: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [query] = useDebouncedValue(text.trim(), 150);
  const navigate = useNavigate();
  const me = useMe();
  const accounts = useQuery({
    queryKey: ['finder', query],
    queryFn: ({ signal }) => api.get<AccountPage>('/api/accounts', { query, limit: 8 }, signal),
    enabled: query.length >= 2,
    placeholderData: keepPreviousData,
  });
  const wanted = text.trim().toLowerCase();
  const hits: Hit[] = [
    ...navigationOf(me.role)
      .filter((n) => n.label.toLowerCase().includes(wanted))
      .map((n) => ({ to: n.to, label: n.label, note: n.section ?? 'Page' })),
    ...(query.length >= 2 ? closestFirst(accounts.data?.accounts ?? [], wanted) : []).map((a) => ({
      to: `/accounts/${a.account_id}`, label: a.name, note: [a.state, a.segment].filter(Boolean).join(' · ') || 'Account',
    })),
  ];
  const chosen = Math.min(at, hits.length - 1);
  const go = (hit: Hit | undefined) => {
    if (!hit) return;
    close();
    void navigate(hit.to);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, hits.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
    else if (event.key === 'Enter') go(hits[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal opened onClose={close} title="Search" size="lg" yOffset="12vh" centered={false} closeButtonProps={{ 'aria-label': 'Close search' }}>
      <TextInput
        data-autofocus
        aria-label="Search accounts and pages"
        placeholder="Account name, domain or page"
        value={text}
        onChange={(e) => { setText(e.currentTarget.value); setAt(0); }}
        onKeyDown={onKey}
        role="combobox"
        aria-expanded
        aria-controls="finder-hits"
        aria-activedescendant={hits.length ? `finder-${chosen}` : undefined}
        autoComplete="off"
      />
      {hits.length > 0 ? (
        <ul id="finder-hits" className="finder" role="listbox" aria-label="Results">
          {hits.map((hit, i) => (
            // The keyboard works on the field above, which names the active option.
            // eslint-disable-next-line jsx-a11y/click-events-have-key-events
            <li key={hit.to} id={`finder-${i}`} role="option" aria-selected={i === chosen} onMouseMove={() => setAt(i)} onClick={() => go(hit)}>
              <span>{hit.label}</span><span className="dim">{hit.note}</span>
            </li>
          ))}
        </ul>
      ) : (
        <p id="finder-hits" className="dim" role="status" style={{ padding: '8px 10px' }}>
          {accounts.isFetching ? 'Searching' : `Nothing matches “${text.trim()}”.`}
        </p>
      )}
    </Modal>
  );
}
