import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { Icon } from './icons';

/** A text filter that follows the URL and writes to it once typing pauses. */
export function SearchField({ label, value, onChange, placeholder, width = 220 }: { label: string; value: string; onChange: (value: string) => void; placeholder?: string; width?: number }) {
  const [text, setText] = useState(value);
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    // Back, or a cleared filter: the URL changed from outside.
    setSeen(value);
    setText(value);
  }
  const push = useDebouncedCallback((next: string) => {
    setSeen(next);
    onChange(next);
  }, 250);
  return (
    <TextInput
      aria-label={label}
      placeholder={placeholder ?? label}
      leftSection={<Icon name="search" />}
      w={width}
      value={text}
      onChange={(e) => {
        setText(e.currentTarget.value);
        push(e.currentTarget.value);
      }}
    />
  );
}
