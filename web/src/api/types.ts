// The service's shapes, by the names that the pages use. They come from schema.d.ts, which `npm run generate` writes
// from the committed OpenAPI document.
import type { components } from './schema';

type Schemas = components['schemas'];
type With<T, Change> = Omit<T, keyof Change> & Change;

export type Member = Schemas['Member'];
export type Role = Member['role'];

export type Organization = Schemas['OrgRef'];
/** Whoever has signed in; only an API key has no role. */
export type Me = With<Schemas['Me'], { role: Role }>;
export type InvitationInfo = Schemas['InvitationOutputBody'];

export type Score = With<Schemas['scoring.ScoreView'], { rule_results: RuleResult[] }>;
export type ScoreModel = Score['model'];
export type ScoreLevel = NonNullable<Score['level']>;
/** The document lets the value be anything: it cannot list several types for one. */
export type RuleResult = With<Schemas['scoring.RuleResult'], { value: number | string | boolean | null }>;
export type Lever = Schemas['scoring.Lever'];
export type ScoringRules = Schemas['ScoringRules'];
export type ScoringRule = Schemas['scoring.ScoringRule'];

export type AccountRow = Schemas['accounts.AccountRow'];
export type AccountPage = Schemas['AccountPage'];
export type Account = Schemas['accounts.Account'];
export type AccountScores = With<Schemas['accounts.AccountScores'], { [M in ScoreModel]: Score | null }>;
export type AccountDetail = With<Schemas['AccountDetail'], { scores: AccountScores }>;
export type Official = Schemas['matching.Official'];
export type AccountMatch = Schemas['matching.Match'];
export type MatchPage = Schemas['ListMatchesOutputBody'];

export type Connector = Schemas['connections.Status'];
export type ConnectionStatus = Connector['status'];
export type Validation = Schemas['connections.Validation'];
export type DiscoveredField = Schemas['Field'];
export type Discovery = Schemas['Discovery'];
export type Mapping = Schemas['FieldMapping'];
export type MappingTarget = Schemas['MappingTarget'];
export type MappingSet = Schemas['ProviderMappings'];

export type Run = Schemas['runs.View'];
export type RunStatus = Run['status'];
export type RunPage = Schemas['ListRunsOutputBody'];
export type RunStarted = Schemas['StartedRun'];
export type RunFailure = Schemas['RunFailure'];
export type RunFailurePage = Schemas['FailuresOutputBody'];

export type ApiKey = Schemas['APIKey'];
export type Scope = ApiKey['scopes'][number];
export type CreatedApiKey = Schemas['CreatedKeyOutputBody'];

export type Invitation = Schemas['Invitation'];
export type MemberList = Schemas['MembersOutputBody'];

export type OrganizationSettings = Schemas['Organization'];

export type Task = Schemas['tasks.Task'];
export type TaskStatus = Task['status'];
export type TaskPriority = Task['priority'];
export type TaskPage = Schemas['TaskPage'];

export type Dashboard = Schemas['DashboardFigures'];
export type Readiness = Schemas['ReadinessReport'];
export type DataIssue = Schemas['readiness.DataIssue'];
export type AffectedRecord = Schemas['readiness.AffectedRecord'];
export type AffectedPage = Schemas['AffectedRecords'];

export type Release = Schemas['datasets.Release'];
export type Dataset = Schemas['datasets.Dataset'];

export type GovernanceEntry = Schemas['GovernanceEntry'];
export type GovernancePage = Schemas['GovernanceOutputBody'];
