import { useId } from 'react';

/** A few exclusive choices side by side: radio buttons that look like one switch. */
export function Choice({ label, choices, value, onChange }: { label: string; choices: { value: string; label: string }[]; value: string; onChange: (value: string) => void }) {
  const name = useId();
  return (
    <fieldset className="choice">
      <legend className="sr">{label}</legend>
      {choices.map((c) => (
        <label key={c.value}>
          <input type="radio" name={name} checked={c.value === value} onChange={() => onChange(c.value)} />
          <span>{c.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
