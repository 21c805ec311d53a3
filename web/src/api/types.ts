// The service's shapes, by the names that the pages use. They come from schema.d.ts, which `npm run generate` writes
// from the committed OpenAPI document. That document cannot say that a referred object or an id may be null, so what may
// be is said here.
import type { components } from './schema';

type Schemas = components['schemas'];
type Nullable<T, K extends keyof T> = Omit<T, K> & { [P in K]: T[P] | null };
type With<T, Change> = Omit<T, keyof Change> & Change;

export type Role = 'viewer' | 'rep' | 'manager' | 'admin' | 'operator';

export type Organization = Schemas['OrgRef'];
export type Me = With<Schemas['Me'], { role: Role }>;
export type InvitationInfo = Schemas['InvitationOutputBody'];

export type Score = With<Schemas['ScoreView'], { rule_results: RuleResult[] }>;
export type ScoreModel = Schemas['ScoreView']['model'];
export type ScoreLevel = NonNullable<Score['level']>;
export type RuleResult = With<Schemas['scoring.RuleResult'], { value: number | string | boolean | null }>;
export type Lever = Schemas['scoring.Lever'];
export type ScoringRules = Schemas['ScoringRules'];
export type ScoringRule = Schemas['scoring.ScoringRule'];

export type AccountRow = Schemas['accounts.AccountRow'];
export type AccountPage = Schemas['AccountPage'];
export type Account = Nullable<Schemas['accounts.Account'], 'match'>;
export type AccountScores = { [M in ScoreModel]: Score | null } & { reason: string | null };
export type AccountDetail = With<Schemas['AccountDetail'], { account: Account; scores: AccountScores; tasks: Task[] }>;
export type Official = Schemas['matching.Official'];
export type AccountMatch = Nullable<Schemas['matching.Match'], 'official'>;
export type MatchPage = With<Schemas['ListMatchesOutputBody'], { matches: AccountMatch[] }>;

export type Connector = Nullable<Schemas['connections.Status'], 'error' | 'running_run_id'>;
export type ConnectionStatus = Connector['status'];
export type Validation = Schemas['connections.Validation'];
export type DiscoveredField = Schemas['Field'];
export type Discovery = Schemas['Discovery'];
export type Mapping = Schemas['FieldMapping'];
export type MappingTarget = Schemas['MappingTarget'];
export type MappingSet = With<Schemas['ProviderMappings'], { run?: Run }>;

export type Run = Nullable<Schemas['runs.View'], 'error'>;
export type RunStatus = Run['status'];
export type RunPage = With<Schemas['ListRunsOutputBody'], { runs: Run[] }>;
export type RunStarted = With<Schemas['StartedRunBody'], { run: Run }>;
export type RunFailure = Schemas['RunFailure'];
export type RunFailurePage = Schemas['FailuresOutputBody'];

export type Scope = 'read' | 'write_safe' | 'write_destructive' | 'admin';
export type ApiKey = Nullable<Schemas['APIKey'], 'created_by'>;
export type CreatedApiKey = Schemas['CreatedKeyOutputBody'];

export type Member = With<Schemas['Member'], { role: Role }>;
export type Invitation = Schemas['Invitation'];
export type MemberList = With<Schemas['MembersOutputBody'], { members: Member[] }>;

export type OrganizationSettings = Schemas['Organization'];

export type Task = Nullable<Schemas['tasks.Task'], 'source_id' | 'account_id'>;
export type TaskStatus = Task['status'];
export type TaskPriority = Task['priority'];
export type TaskPage = With<Schemas['TaskPage'], { tasks: Task[] }>;

export type Dashboard = Schemas['DashboardFigures'];
export type Readiness = Schemas['ReadinessReport'];
export type DataIssue = Schemas['readiness.DataIssue'];
export type AffectedRecord = Schemas['readiness.AffectedRecord'];
export type AffectedPage = Schemas['AffectedRecords'];

export type Release = Schemas['datasets.Release'];
export type Dataset = With<Schemas['datasets.Dataset'], { current: Release | null; releases: Release[] }>;

export type GovernanceEntry = Schemas['GovernanceEntry'];
export type GovernancePage = Schemas['GovernanceOutputBody'];
