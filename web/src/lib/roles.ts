import type { Role } from '../api/types';

const order: Role[] = ['viewer', 'rep', 'manager', 'admin', 'operator'];

/** Whether a role includes what another may do. The service decides; this only keeps useless buttons off the page. */
export const atLeast = (role: Role | undefined, needed: Role) => order.indexOf(role ?? 'viewer') >= order.indexOf(needed);

export const assignableRoles: { value: Role; label: string; may: string }[] = [
  { value: 'viewer', label: 'Viewer', may: 'reads everything' },
  { value: 'rep', label: 'Rep', may: 'also writes tasks' },
  { value: 'manager', label: 'Manager', may: 'also syncs, imports and exports' },
  { value: 'admin', label: 'Admin', may: 'also connectors, settings, members and keys' },
];
