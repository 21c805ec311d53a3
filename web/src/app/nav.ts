import type { IconName } from '../components/icons';

export interface NavItem { to: string; label: string; icon: IconName; section?: 'Settings' }

/** What the navigation and the finder list, in the order people see it. */
export const navigation: NavItem[] = [
  { to: '/dashboard', label: 'Command Center', icon: 'gauge' },
  { to: '/accounts', label: 'Accounts', icon: 'building' },
  { to: '/tasks', label: 'Tasks', icon: 'tasks' },
  { to: '/runs', label: 'Runs', icon: 'runs' },
  { to: '/settings/connectors', label: 'Connectors', icon: 'plug', section: 'Settings' },
  { to: '/settings/integrations', label: 'Integrations', icon: 'key', section: 'Settings' },
  { to: '/settings/members', label: 'Members', icon: 'people', section: 'Settings' },
  { to: '/settings/organization', label: 'Organization', icon: 'sliders', section: 'Settings' },
  { to: '/settings/governance-log', label: 'Governance log', icon: 'log', section: 'Settings' },
];
