// Line icons on a 16 px grid. They are decoration: the words beside them or the control's label carry the meaning.

const shapes = {
  gauge: 'M2.5 12a5.5 5.5 0 1 1 11 0M8 12l2.6-4',
  building: 'M3 14V4.5L8 2l5 2.5V14M1.5 14h13M6 7h.01M10 7h.01M6 10h.01M10 10h.01',
  check: 'M3 8.5 6.5 12 13 4.5',
  tasks: 'M2 4.2 3.2 5.4 5.4 3M2 11.2l1.2 1.2L5.4 10M8 4.5h6M8 11.5h6',
  runs: 'M13.5 8A5.5 5.5 0 1 1 11.6 3.8M13.5 2v3h-3',
  plug: 'M6 2v3M10 2v3M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5V14',
  key: 'M9.2 6.8 14 2M12 4l1.5 1.5M6.5 13a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4z',
  people: 'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M11 3a2.3 2.3 0 0 1 0 4.3M12 9.8c1.6.5 2.5 1.8 2.5 3.7',
  sliders: 'M2 5h7M13 5h1M11 3v4M2 11h1M7 11h7M5 9v4',
  scale: 'M8 2v12M4.5 14h7M3 5h10M3 5 1.2 9.5h3.6zM13 5l-1.8 4.5h3.6z',
  data: 'M2.5 4c0-1.1 2.5-2 5.5-2s5.5.9 5.5 2-2.5 2-5.5 2-5.5-.9-5.5-2zM2.5 4v8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2V4M2.5 8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2',
  log: 'M4 2h8v12H4zM6.5 5.5h3M6.5 8h3M6.5 10.5h2',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5 14 14',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1',
  moon: 'M13 9.5A5.6 5.6 0 0 1 6.5 3 5.6 5.6 0 1 0 13 9.5z',
  menu: 'M2 4h12M2 8h12M2 12h12',
  collapse: 'M2.5 2.5h11v11h-11zM6 2.5v11M11 6.5 9.5 8 11 9.5',
  warn: 'M8 2 14.5 13.5h-13zM8 6.5v3.2M8 11.6h.01',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5V11M8 5h.01',
  up: 'M4 9.5 8 5.5l4 4',
  down: 'M4 6.5l4 4 4-4',
  columns: 'M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10',
  download: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10',
  plus: 'M8 3v10M3 8h10',
  user: 'M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8zM2.8 14c.4-2.8 2.4-4.3 5.2-4.3s4.8 1.5 5.2 4.3',
  grow: 'M2.5 13.5h11M4 11V8.5M7.5 11V6M11 11V3.5M9 5l2-2 2 2',
  grip: 'M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  upload: 'M8 10V2.5M4.8 5.5 8 2.3l3.2 3.2M3 13.5h10',
  open: 'M9 2.5h4.5V7M13.5 2.5 7.5 8.5M11.5 9v4.5h-9v-9H7',
} as const;

export type IconName = keyof typeof shapes;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}

export type Tone = 'good' | 'info' | 'warn' | 'bad' | 'none';

/** A different shape per tone, so that meaning never rests on colour alone. */
export function ToneShape({ tone }: { tone: Tone }) {
  return (
    <svg width="8" height="8" viewBox="0 0 8 8" fill="currentColor" aria-hidden="true">
      {tone === 'good' && <circle cx="4" cy="4" r="4" />}
      {tone === 'info' && <circle cx="4" cy="4" r="3" fill="none" stroke="currentColor" strokeWidth="2" />}
      {tone === 'warn' && <path d="M4 0 8 8H0z" />}
      {tone === 'bad' && <path d="M0 0h8v8H0z" />}
      {tone === 'none' && <path d="M0 3h8v2H0z" />}
    </svg>
  );
}
