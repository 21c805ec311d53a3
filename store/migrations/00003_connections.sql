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

-- Every mapping that canonical rows were made with. A row keeps the small id instead of a source per field: the same
-- text on each of a million rows would outweigh the rows themselves.
CREATE TABLE mapping_versions (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id integer NOT NULL, -- ascending within the organization
  provider text NOT NULL,
  object text NOT NULL,
  hash bytea NOT NULL, -- of the entries
  entries jsonb NOT NULL, -- canonical field -> provider field
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, provider, object, hash)
);
SELECT tenancy.protect('mapping_versions');

CREATE TABLE sync_cursors (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  provider text NOT NULL,
  object text NOT NULL,
  cursor text NOT NULL DEFAULT '',
  pulled bigint NOT NULL DEFAULT 0,      -- records of the enumeration in progress
  full_run_id uuid,                      -- the full enumeration in progress, NULL otherwise
  full_done boolean NOT NULL DEFAULT false, -- it has come to its complete end
  track_seen boolean NOT NULL DEFAULT false, -- it notes what it meets: something was stored before it began
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
  object text COLLATE "C" NOT NULL,
  external_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (org_id, external_id, object, run_id)
);
SELECT tenancy.protect('sync_seen');

CREATE TABLE raw_records (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  provider text COLLATE "C" NOT NULL,
  object text COLLATE "C" NOT NULL,
  external_id text COLLATE "C" NOT NULL,
  payload jsonb NOT NULL,
  source_updated_at timestamptz,
  deleted_at timestamptz,
  merged_into text,
  content_hash bytea NOT NULL, -- empty while the record cannot be mapped, so that it is tried again
  received_at timestamptz NOT NULL DEFAULT now(),
  -- The id comes second: without statistics the planner takes organization, provider and object for selective enough.
  PRIMARY KEY (org_id, external_id, object, provider)
);
SELECT tenancy.protect('raw_records');
CREATE INDEX raw_records_merged ON raw_records (org_id, provider, object) WHERE merged_into IS NOT NULL;

CREATE TABLE record_links (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  provider text COLLATE "C" NOT NULL,
  object text COLLATE "C" NOT NULL,
  external_id text COLLATE "C" NOT NULL,
  record_type text NOT NULL,
  record_id uuid NOT NULL, -- the record that stands for it: the winner's after a merge
  merged_from uuid, -- after a merge, the record it was before
  -- The id comes second: without statistics the planner takes organization, provider and object for selective enough.
  PRIMARY KEY (org_id, external_id, object, provider)
);
SELECT tenancy.protect('record_links');
CREATE INDEX record_links_record ON record_links (org_id, record_id);
CREATE INDEX record_links_merged ON record_links (org_id, provider) WHERE merged_from IS NOT NULL;

-- +goose Down
DROP TABLE record_links, raw_records, sync_seen, sync_cursors, mapping_versions, field_mappings, connection_grants, connections;
