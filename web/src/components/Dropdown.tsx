import { Popover } from '@mantine/core';
import { useState, type ReactElement, type ReactNode } from 'react';

/** A button that opens a small panel; focus goes into it and comes back, Escape closes it. */
export function Dropdown({ label, width = 240, target, children }: { label: string; width?: number; target: (toggle: () => void) => ReactElement; children: (close: () => void) => ReactNode }) {
  const [opened, setOpened] = useState(false);
  return (
    <Popover opened={opened} onChange={setOpened} width={width} position="bottom-end" trapFocus returnFocus transitionProps={{ duration: 80 }} radius="sm">
      <Popover.Target>{target(() => setOpened((o) => !o))}</Popover.Target>
      <Popover.Dropdown aria-label={label} p={6}>{children(() => setOpened(false))}</Popover.Dropdown>
    </Popover>
  );
}
