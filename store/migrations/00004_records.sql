-- +goose Up
CREATE TABLE accounts (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  provider text NOT NULL,
  external_id text NOT NULL,
  name text NOT NULL,
  normalized_name text NOT NULL DEFAULT '',
  domain text,
  city text,
  state text,
  status text CHECK (status IN ('customer', 'prospect', 'former_customer')),
  segment text CHECK (segment IN ('Enterprise', 'Mid-Market', 'SMB')),
  segment_derived boolean NOT NULL DEFAULT false,
  territory text,
  buyer_type text CHECK (buyer_type IN ('k12', 'higher_ed')),
  nces_id text,
  unitid text,
  enrollment bigint,
  owner_external_id text,
  parent_external_id text,
  arr_cents bigint, -- as the CRM states it for the whole account; ARR itself comes from subscription_lines
  renewal_date date,
  seats bigint,
  active_28d bigint,
  active_prior_28d bigint,
  products_owned bigint,
  products_live bigint,
  tickets_open bigint,
  p1_open bigint,
  tickets_90d bigint,
  csat_90d double precision,
  overdue_days bigint,
  onboarding_pct double precision,
  goals_met_pct double precision,
  competitor text,
  mapping_id integer NOT NULL, -- mapping_versions: where each field comes from
  source_created_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  merged_into uuid,
  PRIMARY KEY (org_id, id)
);
SELECT tenancy.protect('accounts');
CREATE INDEX accounts_name ON accounts (org_id, normalized_name, state) WHERE deleted_at IS NULL;

CREATE TABLE contacts (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  provider text NOT NULL,
  external_id text NOT NULL,
  account_id uuid,
  account_external_id text,
  first_name text,
  last_name text,
  name text NOT NULL,
  email text,
  phone text,
  title text,
  champion boolean,
  left_on date,
  owner_external_id text,
  mapping_id integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, account_id) REFERENCES accounts (org_id, id)
);
SELECT tenancy.protect('contacts');
CREATE INDEX contacts_account ON contacts (org_id, account_id);

CREATE TABLE opportunities (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  provider text NOT NULL,
  external_id text NOT NULL,
  account_id uuid,
  account_external_id text,
  name text NOT NULL,
  stage text NOT NULL,
  amount_cents bigint,
  close_date date,
  is_closed boolean NOT NULL DEFAULT false,
  is_won boolean NOT NULL DEFAULT false,
  type text,
  forecast_category text,
  probability double precision,
  owner_external_id text,
  stage_changed_at timestamptz,
  created_on timestamptz,
  mapping_id integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, account_id) REFERENCES accounts (org_id, id)
);
SELECT tenancy.protect('opportunities');
CREATE INDEX opportunities_account ON opportunities (org_id, account_id);

CREATE TABLE activities (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  provider text NOT NULL,
  external_id text NOT NULL,
  account_id uuid,
  account_external_id text,
  contact_id uuid,
  contact_external_id text,
  owner_external_id text,
  type text,
  subject text,
  status text,
  on_date date,
  completed_at timestamptz,
  mapping_id integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, account_id) REFERENCES accounts (org_id, id),
  FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id)
);
SELECT tenancy.protect('activities');
CREATE INDEX activities_account ON activities (org_id, account_id, on_date DESC);
CREATE INDEX activities_contact ON activities (org_id, contact_id) WHERE contact_id IS NOT NULL;

CREATE TABLE subscription_lines (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  product_id uuid,
  source text NOT NULL CHECK (source IN ('account_total', 'product')),
  provider text NOT NULL,
  external_id text NOT NULL,
  arr_cents bigint NOT NULL,
  quantity numeric,
  start_date date,
  end_date date,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, provider, source, external_id),
  FOREIGN KEY (org_id, account_id) REFERENCES accounts (org_id, id)
);
SELECT tenancy.protect('subscription_lines');
CREATE INDEX subscription_lines_account ON subscription_lines (org_id, account_id);

-- What scores read, one row per change and never changed after. A computation at T reads known_at <= T only.
CREATE TABLE feature_facts (
  org_id uuid NOT NULL,
  account_id uuid NOT NULL,
  feature text NOT NULL,
  known_at timestamptz NOT NULL,
  valid_at timestamptz NOT NULL,
  value double precision, -- NULL: became unknown
  source_ref text NOT NULL,
  PRIMARY KEY (org_id, account_id, feature, known_at) -- no foreign key: one check per fact costs more than the fact
);
SELECT tenancy.protect('feature_facts');
REVOKE UPDATE, DELETE ON feature_facts FROM revarch_app, revarch_worker;

CREATE TABLE rule_sets (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  model_version text NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, model_version)
);
SELECT tenancy.protect('rule_sets');

CREATE TABLE scores (
  org_id uuid NOT NULL,
  account_id uuid NOT NULL,
  model text NOT NULL,
  composite real, -- NULL: insufficient data
  coverage real NOT NULL,
  model_version text NOT NULL,
  computed_at timestamptz NOT NULL,
  took_us integer NOT NULL, -- how long computing took
  body bytea NOT NULL, -- scoring.Compact
  PRIMARY KEY (org_id, account_id, model),
  FOREIGN KEY (org_id, account_id) REFERENCES accounts (org_id, id) ON DELETE CASCADE
);
SELECT tenancy.protect('scores');
CREATE INDEX scores_rank ON scores (org_id, model, composite DESC NULLS LAST, account_id);

CREATE TABLE tasks (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  title text NOT NULL CHECK (length(title) BETWEEN 1 AND 500),
  status text NOT NULL DEFAULT 'OPEN' CHECK (status IN ('OPEN', 'IN_PROGRESS', 'BLOCKED', 'DONE', 'CANCELLED')),
  assignee text NOT NULL DEFAULT '',
  priority text NOT NULL DEFAULT 'MEDIUM' CHECK (priority IN ('LOW', 'MEDIUM', 'HIGH', 'URGENT')),
  due_date date,
  source_type text NOT NULL DEFAULT 'manual' CHECK (source_type IN ('NBA', 'signal', 'play', 'MQL handoff', 'manual')),
  source_id uuid,
  account_id uuid,
  created_by text NOT NULL DEFAULT '',
  version bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, account_id) REFERENCES accounts (org_id, id)
);
SELECT tenancy.protect('tasks');
CREATE INDEX tasks_due ON tasks (org_id, status, due_date, id);

-- How an account was tied to the official record of a district or an institution.
CREATE TABLE account_matches (
  org_id uuid NOT NULL,
  account_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('district', 'institution')),
  status text NOT NULL CHECK (status IN ('matched', 'ambiguous')),
  official_id text, -- LEAID or UNITID; NULL while ambiguous
  method text NOT NULL CHECK (method IN ('exact_id', 'name_state')),
  candidates text[] NOT NULL DEFAULT '{}',
  matched_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, account_id),
  FOREIGN KEY (org_id, account_id) REFERENCES accounts (org_id, id) ON DELETE CASCADE
);
SELECT tenancy.protect('account_matches');

-- +goose Down
DROP TABLE account_matches, tasks, scores, rule_sets, feature_facts, subscription_lines, activities, opportunities, contacts, accounts;
