import { useState, type DragEvent } from 'react';
import { Icon } from '../icons';

/** Takes one file, dropped or chosen. */
export function DropZone({ label, hint, accept, onFile }: { label: string; hint: string; accept: string; onFile: (file: File) => void }) {
  const [over, setOver] = useState(false);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) onFile(file);
  };
  return (
    <label className="drop" data-over={over || undefined} onDragOver={(e) => { e.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={onDrop}>
      <Icon name="upload" />
      <span>{label}</span>
      <span className="dim">{hint}</span>
      <input
        type="file" accept={accept}
        onChange={(e) => {
          const file = e.currentTarget.files?.[0];
          e.currentTarget.value = ''; // the same file, corrected, may be chosen again
          if (file) onFile(file);
        }}
      />
    </label>
  );
}
