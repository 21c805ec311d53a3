import { NativeSelect } from '@mantine/core';

type Choice = string | { value: string; label: string };

/** A filter with a few choices and one for all of them. The browser's own control: quick, and right on a phone. */
export function FilterSelect({ label, all, choices, value, onChange, width = 140 }: { label: string; all: string; choices: Choice[]; value: string; onChange: (value: string) => void; width?: number }) {
  return (
    <NativeSelect aria-label={label} w={width} value={value} data={[{ value: '', label: all }, ...choices.map((c) => (typeof c === 'string' ? { value: c, label: c } : c))]} onChange={(e) => onChange(e.currentTarget.value)} />
  );
}
