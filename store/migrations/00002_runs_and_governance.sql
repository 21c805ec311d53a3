-- +goose Up
CREATE TABLE runs (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  phase text NOT NULL DEFAULT 'queued',
  progress_done bigint NOT NULL DEFAULT 0,
  progress_total bigint,
  progress_unit text NOT NULL DEFAULT '',
  counts jsonb NOT NULL DEFAULT '{}',
  warnings jsonb NOT NULL DEFAULT '[]',
  input jsonb NOT NULL DEFAULT '{}', -- ids and options only, what the workflow is started with
  error_code text,
  error_message text,
  trigger text NOT NULL DEFAULT 'manual', -- manual, schedule or engine
  started_by text NOT NULL DEFAULT '',
  workflow_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  cancel_requested_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id)
);
SELECT tenancy.protect('runs');
CREATE UNIQUE INDEX runs_live ON runs (org_id, kind, subject) WHERE status IN ('queued', 'running');
CREATE INDEX runs_recent ON runs (org_id, created_at DESC, id DESC);

-- Records that a run could not take, so that one bad record never loses the run.
CREATE TABLE run_failures (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  object text NOT NULL,
  external_id text NOT NULL,
  code text NOT NULL,
  message text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, run_id, object, external_id),
  FOREIGN KEY (org_id, run_id) REFERENCES runs (org_id, id) ON DELETE CASCADE
);
SELECT tenancy.protect('run_failures');

CREATE TABLE governance_heads (
  org_id uuid PRIMARY KEY REFERENCES orgs (id) ON DELETE CASCADE,
  seq bigint NOT NULL,
  hash bytea NOT NULL
);
SELECT tenancy.protect('governance_heads');

CREATE TABLE governance_log (
  org_id uuid NOT NULL REFERENCES orgs (id),
  seq bigint NOT NULL,
  id uuid NOT NULL,
  at timestamptz NOT NULL,
  actor_kind text NOT NULL, -- user, key, engine
  actor_id text NOT NULL,
  actor_label text NOT NULL,
  key_prefix text NOT NULL DEFAULT '',
  surface text NOT NULL CHECK (surface IN ('mcp', 'rest', 'engine')),
  tool text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('ok', 'denied', 'failed')),
  args jsonb NOT NULL DEFAULT '{}',
  subject_type text NOT NULL DEFAULT '',
  subject_id text NOT NULL DEFAULT '',
  before jsonb,
  after jsonb,
  reason text NOT NULL DEFAULT '',
  request_id text NOT NULL DEFAULT '',
  prev_hash bytea NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (org_id, seq),
  UNIQUE (org_id, id)
);
SELECT tenancy.protect('governance_log');
REVOKE UPDATE, DELETE ON governance_log FROM revarch_app, revarch_worker;

-- Answers of writes, kept for a day under the caller's idempotency key.
CREATE TABLE idempotency_keys (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  principal text NOT NULL,
  key text NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
  tool text NOT NULL,
  request_hash bytea NOT NULL,
  response jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, principal, key)
);
SELECT tenancy.protect('idempotency_keys');

CREATE TABLE uploads (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  name text NOT NULL,
  purpose text NOT NULL,
  size bigint NOT NULL DEFAULT 0,
  chunks integer NOT NULL DEFAULT 0,
  sha256 bytea,
  complete boolean NOT NULL DEFAULT false,
  created_by text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id)
);
SELECT tenancy.protect('uploads');
CREATE TABLE upload_chunks (
  org_id uuid NOT NULL,
  upload_id uuid NOT NULL,
  seq integer NOT NULL,
  data bytea NOT NULL CHECK (length(data) <= 1048576),
  PRIMARY KEY (org_id, upload_id, seq),
  FOREIGN KEY (org_id, upload_id) REFERENCES uploads (org_id, id) ON DELETE CASCADE
);
ALTER TABLE upload_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
SELECT tenancy.protect('upload_chunks');

-- +goose Down
DROP TABLE upload_chunks, uploads, idempotency_keys, governance_log, governance_heads, run_failures, runs;
