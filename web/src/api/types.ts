// The shapes of the REST API as the pages use them. Everything imports from here, so these names are the only ones
// that change hands when the generated schema takes over.

export type Role = 'viewer' | 'rep' | 'manager' | 'admin' | 'operator';

export interface Organization { id: string; name: string }
export interface Me {
  user: { id: string; email: string; name: string };
  organization: Organization;
  role: Role;
  organizations: Organization[];
}
export interface InvitationInfo { organization_name: string; email: string; role: Role; expires_at: string }

export type ScoreModel = 'health' | 'risk' | 'priority' | 'expansion';
export interface CategoryScore { category: string; weight: number; score: number | null; coverage: number }
export interface RuleResult {
  rule_id: string;
  category: string;
  value: number | string | boolean | null;
  score: number | null;
  threshold: string | number | null;
  triggered: boolean;
  weight: number;
  contribution: number;
  missing: boolean | string[] | null;
  source?: string | null;
}
export interface Score {
  model: ScoreModel;
  composite_score: number | null;
  coverage: number;
  confidence: string;
  status: string;
  category_scores: CategoryScore[];
  rule_results: RuleResult[];
  rules_evaluated: number;
  rules_triggered: string[];
  computation_time_ms: number;
  model_version: string;
  computed_at: string;
  levers: { rule_id: string; points: number }[];
}

export interface AccountRow {
  account_id: string;
  name: string;
  segment: string | null;
  territory: string | null;
  state: string | null;
  status: string;
  nces_id: string | null;
  unitid: string | null;
  domain: string | null;
  arr_cents: number | null;
  health: number | null;
  risk: number | null;
  priority: number | null;
  health_status: string | null;
  reason: string | null;
}
export interface AccountPage { accounts: AccountRow[]; total: number; next_cursor: string | null; currency: string }

export interface Account {
  account_id: string;
  name: string;
  domain: string | null;
  segment: string | null;
  territory: string | null;
  state: string | null;
  status: string;
  nces_id: string | null;
  unitid: string | null;
  owner_email: string | null;
  renewal_date: string | null;
  arr_cents: number | null;
  currency: string;
  match: { kind: string; id: string; name: string; method: string } | null;
  sources: string[];
}
export interface Contact {
  contact_id: string;
  name: string;
  title: string | null;
  email: string | null;
  phone: string | null;
  champion: boolean;
  left_at: string | null;
  last_activity_at: string | null;
}
export interface Opportunity {
  opportunity_id: string;
  name: string;
  stage: string | null;
  amount_cents: number | null;
  close_date: string | null;
  forecast_category: string | null;
  is_closed: boolean;
  is_won: boolean;
  type: string | null;
}
export interface Activity { activity_id: string; type: string; subject: string | null; at: string }
export interface AccountDetail {
  account: Account;
  scores: Record<ScoreModel, Score | null> & { reason: string | null };
  contacts: Contact[];
  opportunities: Opportunity[];
  activities: Activity[];
  tasks: Task[];
}

export type ConnectionStatus = 'disconnected' | 'connected' | 'syncing' | 'error' | 'reauthorization_required';
export interface Connector {
  provider: string;
  display_name: string;
  kind: string;
  status: ConnectionStatus;
  account_label: string | null;
  last_sync_at: string | null;
  next_sync_at: string | null;
  error: { code: string; message: string; at?: string | null } | null;
  running_run_id: string | null;
  available: boolean;
}
export interface DiscoveredField {
  name: string;
  label: string;
  type: string;
  custom: boolean;
  nullable: boolean;
  picklist_values: string[] | null;
}
export interface DiscoveredObject { name: string; label: string; custom: boolean; supported: boolean; fields: DiscoveredField[] }
export interface Discovery { provider: string; discovered_at: string; objects: DiscoveredObject[] }
export interface Mapping {
  object: string;
  source_field: string;
  target_field: string;
  transform: string | null;
  required: boolean;
  source_type: string;
}
export interface MappingTarget {
  object: string;
  target_field: string;
  label: string;
  type: string;
  required: boolean;
  description: string | null;
}
export interface MappingSet {
  provider: string;
  version: number | string;
  mappings: Mapping[];
  targets: MappingTarget[];
  suggestions: Mapping[];
  run?: Run | null;
}

export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
export interface RunWarning { code: string; message: string; count: number }
export interface Run {
  id: string;
  kind: string;
  subject: string;
  status: RunStatus;
  phase: string | null;
  progress: { done: number; total: number | null; unit: string } | null;
  counts: Record<string, number>;
  warnings: RunWarning[];
  error: { code: string; message: string } | null;
  started_by: string | null;
  started_at: string | null;
  finished_at: string | null;
  workflow_id: string | null;
  temporal_url: string | null;
}
export interface RunPage { runs: Run[]; next_cursor: string | null }
export interface RunStarted { run: Run; already_running?: boolean }

export type Scope = 'read' | 'write_safe' | 'write_destructive' | 'admin';
export interface ApiKey {
  id: string;
  name: string;
  prefix: string;
  scopes: Scope[];
  created_by: string | null;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  revoked_at: string | null;
}
export interface CreatedApiKey { api_key: ApiKey; secret: string }

export interface Member { user_id: string; email: string; name: string; role: Role; joined_at: string }
export interface Invitation { id: string; email: string; role: Role; expires_at: string; created_at: string }
export interface MemberList { members: Member[]; invitations: Invitation[] }

export interface OrganizationSettings {
  id: string;
  name: string;
  time_zone: string;
  fiscal_year_start_month: number;
  reporting_currency: string;
  derive_segment: boolean;
  renewal_grace_days: number;
  work_hours: { start: string; end: string; days: (string | number)[] };
}

export type TaskStatus = 'OPEN' | 'IN_PROGRESS' | 'BLOCKED' | 'DONE' | 'CANCELLED';
export type TaskPriority = 'LOW' | 'MEDIUM' | 'HIGH' | 'URGENT';
export interface Task {
  task_id: string;
  title: string;
  status: TaskStatus;
  assignee: string | null;
  priority: TaskPriority | null;
  due_date: string | null;
  overdue: boolean;
  source_type: string;
  source_id: string | null;
  account_id: string | null;
  account_name: string | null;
}
export interface TaskSummary { open: number; in_progress: number; done: number; overdue: number }
export interface TaskPage { tasks: Task[]; summary: TaskSummary; next_cursor: string | null }

export interface Dashboard {
  as_of: string;
  currency: string;
  arr_cents: number | null;
  pipeline_cents: number | null;
  nrr: number | null;
  nrr_reason: string | null;
  at_risk_accounts: number | null;
  active_signal_count: number | null;
  forecast_health: string | null;
  data_readiness: {
    level: 'ready' | 'degraded' | 'blocked';
    scoring_ready_accounts: number;
    total_accounts: number;
    blocking_issues: { code: string; count: number; share: number; severity: string }[];
  };
}

export interface GovernanceEntry {
  entry_id: string;
  at: string;
  actor: string;
  actor_kind: string;
  key_prefix: string | null;
  surface: string;
  tool: string;
  subject_type: string | null;
  subject_id: string | null;
  before: unknown;
  after: unknown;
  reason: string | null;
  request_id: string | null;
  hash: string;
}
export interface GovernancePage { entries: GovernanceEntry[]; chain_ok: boolean; next_cursor: string | null }
