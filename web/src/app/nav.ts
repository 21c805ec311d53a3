import type { Role } from '../api/types';
import type { IconName } from '../components/icons';
import { atLeast } from '../lib/roles';

export interface NavItem { to: string; label: string; icon: IconName; section?: 'Settings'; role?: Role }

// What the navigation and the finder list, in the order people see it.
const navigation: NavItem[] = [
  { to: '/dashboard', label: 'Command Center', icon: 'gauge' },
  { to: '/accounts', label: 'Accounts', icon: 'building' },
  { to: '/tasks', label: 'Tasks', icon: 'tasks' },
  { to: '/expansion', label: 'Expansion', icon: 'grow' },
  { to: '/runs', label: 'Runs', icon: 'runs' },
  { to: '/settings/connectors', label: 'Connectors', icon: 'plug', section: 'Settings' },
  { to: '/settings/imports', label: 'Imports', icon: 'upload', section: 'Settings' },
  { to: '/settings/integrations', label: 'Integrations', icon: 'key', section: 'Settings' },
  { to: '/settings/scoring', label: 'Scoring', icon: 'scale', section: 'Settings' },
  { to: '/settings/members', label: 'Members', icon: 'people', section: 'Settings' },
  { to: '/settings/organization', label: 'Organization', icon: 'sliders', section: 'Settings' },
  { to: '/settings/governance-log', label: 'Governance log', icon: 'log', section: 'Settings' },
  { to: '/settings/datasets', label: 'Datasets', icon: 'data', section: 'Settings', role: 'operator' },
];

/** What a person of this role gets to see. */
export const navigationOf = (role: Role) => navigation.filter((n) => !n.role || atLeast(role, n.role));
