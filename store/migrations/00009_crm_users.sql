-- +goose Up
-- Users of the CRM: accounts, deals and activities name their owner by provider and external id.
CREATE TABLE crm_users (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  provider text NOT NULL,
  external_id text NOT NULL,
  name text NOT NULL,
  email text,
  active boolean NOT NULL DEFAULT true,
  mapping_id integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  PRIMARY KEY (org_id, id)
);
SELECT tenancy.protect('crm_users');
CREATE UNIQUE INDEX crm_users_external ON crm_users (org_id, provider, external_id);

-- +goose Down
DROP TABLE crm_users;
