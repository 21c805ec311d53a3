export function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="6" fill="var(--mantine-color-accent-7)" />
      <path d="M7 24V15M13 24V9M19 24v-6M25 24V12" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
    </svg>
  );
}
