-- +goose Up
CREATE TABLE connections (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  provider text NOT NULL,
  status text NOT NULL CHECK (status IN ('disconnected', 'connected', 'error', 'reauthorization_required')),
  account_id text NOT NULL DEFAULT '',
  account_label text NOT NULL DEFAULT '',
  scopes text[] NOT NULL DEFAULT '{}',
  connected_by text NOT NULL DEFAULT '',
  connected_at timestamptz,
  last_sync_at timestamptz,
  next_sync_at timestamptz,
  error_code text,
  error_message text,
  error_at timestamptz,
  schema jsonb, -- as discovered last
  discovered_at timestamptz,
  mapping_version bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, provider)
);
SELECT tenancy.protect('connections');

CREATE TABLE connection_grants (
  org_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  sealed bytea NOT NULL, -- the grant, encrypted with the organization and the provider as associated data
  version bigint NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, connection_id),
  FOREIGN KEY (org_id, connection_id) REFERENCES connections (org_id, id) ON DELETE CASCADE
);
SELECT tenancy.protect('connection_grants');

CREATE TABLE field_mappings (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  provider text NOT NULL,
  object text NOT NULL,
  target_field text NOT NULL,
  source_field text NOT NULL,
  transform text,
  required boolean NOT NULL DEFAULT false,
  source_type text NOT NULL DEFAULT '',
  PRIMARY KEY (org_id, provider, object, target_field)
);
SELECT tenancy.protect('field_mappings');

CREATE TABLE sync_cursors (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  provider text NOT NULL,
  object text NOT NULL,
  cursor text NOT NULL DEFAULT '',
  pulled bigint NOT NULL DEFAULT 0,      -- records of the enumeration in progress
  full_run_id uuid,                      -- the full enumeration in progress, NULL otherwise
  completed_at timestamptz,              -- when the object last came to its end
  deletions_since timestamptz,           -- deletions are asked for from here on
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, provider, object)
);
SELECT tenancy.protect('sync_cursors');

-- Ids met by a full enumeration in progress: what stays unseen at its complete end was deleted at the source.
CREATE TABLE sync_seen (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  run_id uuid NOT NULL,
  object text NOT NULL,
  external_id text NOT NULL,
  PRIMARY KEY (org_id, run_id, object, external_id)
);
SELECT tenancy.protect('sync_seen');

CREATE TABLE raw_records (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  provider text NOT NULL,
  object text NOT NULL,
  external_id text NOT NULL,
  payload jsonb NOT NULL,
  source_updated_at timestamptz,
  deleted_at timestamptz,
  merged_into text,
  content_hash bytea NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, provider, object, external_id)
);
SELECT tenancy.protect('raw_records');

CREATE TABLE record_links (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  provider text NOT NULL,
  object text NOT NULL,
  external_id text NOT NULL,
  record_type text NOT NULL,
  record_id uuid NOT NULL,
  PRIMARY KEY (org_id, provider, object, external_id)
);
SELECT tenancy.protect('record_links');
CREATE INDEX record_links_record ON record_links (org_id, record_id);

-- +goose Down
DROP TABLE record_links, raw_records, sync_seen, sync_cursors, field_mappings, connection_grants, connections;
