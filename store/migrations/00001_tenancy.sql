-- +goose Up
-- Schemas, the helper that protects a tenant table, and the pre-tenant tables. Roles exist before (store.EnsureRoles).
CREATE SCHEMA IF NOT EXISTS tenancy;
CREATE SCHEMA IF NOT EXISTS lookup;
CREATE SCHEMA IF NOT EXISTS edu;
GRANT USAGE ON SCHEMA public, edu, lookup TO revarch_app, revarch_worker;
GRANT USAGE ON SCHEMA public TO revarch_lookup;
GRANT USAGE, CREATE ON SCHEMA lookup TO revarch_lookup;
REVOKE ALL ON SCHEMA tenancy FROM PUBLIC;

-- protect makes a table with org_id a tenant table: row-level security for everyone, the owner's own policy for
-- migrations and backup, and the usual grants.
-- +goose StatementBegin
CREATE FUNCTION tenancy.protect(t regclass, org_column text DEFAULT 'org_id') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t);
  EXECUTE format('CREATE POLICY org ON %s USING (%I = (SELECT NULLIF(current_setting(''app.org_id'', true), '''')::uuid))', t, org_column);
  EXECUTE format('CREATE POLICY owner ON %s TO revarch_owner USING (true) WITH CHECK (true)', t);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO revarch_app, revarch_worker', t);
END $$;
-- +goose StatementEnd

CREATE TABLE orgs (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  is_system boolean NOT NULL DEFAULT false,
  time_zone text NOT NULL DEFAULT 'America/New_York',
  fiscal_year_start_month smallint NOT NULL DEFAULT 7 CHECK (fiscal_year_start_month BETWEEN 1 AND 12),
  reporting_currency char(3) NOT NULL DEFAULT 'USD',
  derive_segment boolean NOT NULL DEFAULT false,
  renewal_grace_days integer NOT NULL DEFAULT 90 CHECK (renewal_grace_days BETWEEN 0 AND 730),
  work_hours jsonb NOT NULL DEFAULT '{"start":"08:00","end":"17:00","days":[1,2,3,4,5]}',
  version bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
SELECT tenancy.protect('orgs', 'id');
CREATE UNIQUE INDEX orgs_one_system ON orgs (is_system) WHERE is_system;

-- Users are global: one person, one password, many organizations.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL CHECK (email = lower(email) AND length(email) <= 320),
  name text NOT NULL DEFAULT '',
  password_hash text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  disabled_at timestamptz
);
CREATE UNIQUE INDEX users_email ON users (email);

CREATE TABLE memberships (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('viewer', 'rep', 'manager', 'admin', 'operator')),
  joined_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, user_id)
);
SELECT tenancy.protect('memberships');
CREATE INDEX memberships_user ON memberships (user_id);

-- A user row is visible to the organizations the person belongs to; only the person changes it (app.user_id).
ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
CREATE POLICY member ON users FOR SELECT USING (
  id = (SELECT NULLIF(current_setting('app.user_id', true), '')::uuid)
  OR EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = users.id));
CREATE POLICY self ON users FOR UPDATE USING (id = (SELECT NULLIF(current_setting('app.user_id', true), '')::uuid));
CREATE POLICY signup ON users FOR INSERT WITH CHECK (id = (SELECT NULLIF(current_setting('app.user_id', true), '')::uuid));
CREATE POLICY owner ON users TO revarch_owner USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON users TO revarch_app, revarch_worker;

CREATE TABLE sessions (
  hash bytea PRIMARY KEY, -- SHA-256 of the cookie's random token
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  FOREIGN KEY (org_id, user_id) REFERENCES memberships (org_id, user_id) ON DELETE CASCADE
);
SELECT tenancy.protect('sessions');
CREATE INDEX sessions_member ON sessions (org_id, user_id);

CREATE TABLE api_keys (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  prefix text NOT NULL,
  hash bytea NOT NULL UNIQUE, -- SHA-256 of the secret
  scopes text[] NOT NULL,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  PRIMARY KEY (org_id, id)
);
SELECT tenancy.protect('api_keys');

CREATE TABLE invitations (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'rep', 'manager', 'admin')),
  hash bytea NOT NULL UNIQUE, -- SHA-256 of the link's token
  invited_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  PRIMARY KEY (org_id, id)
);
SELECT tenancy.protect('invitations');

CREATE TABLE oauth_states (
  hash bytea PRIMARY KEY, -- SHA-256 of the state parameter
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  user_id uuid NOT NULL,
  session_hash bytea, -- the browser session that started the flow; NULL when a key did
  provider text NOT NULL,
  redirect_uri text NOT NULL,
  verifier bytea NOT NULL, -- PKCE verifier, encrypted
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
SELECT tenancy.protect('oauth_states');

-- Failed sign-ins, by account and by client address; the key is a hash and tells nothing.
CREATE TABLE login_failures (
  key bytea PRIMARY KEY,
  failures integer NOT NULL,
  last_failed_at timestamptz NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON login_failures TO revarch_app;

-- Look-ups that find an organization before it is known. They run as revarch_lookup, which may read just these tables.
GRANT SELECT ON orgs, users, memberships, sessions, api_keys, invitations TO revarch_lookup;
GRANT SELECT, DELETE ON oauth_states TO revarch_lookup;
CREATE POLICY lookup ON orgs FOR SELECT TO revarch_lookup USING (true);
CREATE POLICY lookup ON users FOR SELECT TO revarch_lookup USING (true);
CREATE POLICY lookup ON memberships FOR SELECT TO revarch_lookup USING (true);
CREATE POLICY lookup ON sessions FOR SELECT TO revarch_lookup USING (true);
CREATE POLICY lookup ON api_keys FOR SELECT TO revarch_lookup USING (true);
CREATE POLICY lookup ON invitations FOR SELECT TO revarch_lookup USING (true);
CREATE POLICY lookup ON oauth_states TO revarch_lookup USING (true);

CREATE FUNCTION lookup.org_of_key(h bytea) RETURNS TABLE (org_id uuid, key_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
  AS 'SELECT k.org_id, k.id FROM api_keys k WHERE k.hash = h';
CREATE FUNCTION lookup.session(h bytea) RETURNS TABLE (org_id uuid, user_id uuid, expires_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
  AS 'SELECT s.org_id, s.user_id, s.expires_at FROM sessions s WHERE s.hash = h';
CREATE FUNCTION lookup.user_by_email(e text) RETURNS TABLE (user_id uuid, name text, password_hash text, disabled_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
  AS 'SELECT u.id, u.name, u.password_hash, u.disabled_at FROM users u WHERE u.email = lower(e)';
CREATE FUNCTION lookup.memberships_of(u uuid) RETURNS TABLE (org_id uuid, org_name text, role text, joined_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
  AS 'SELECT m.org_id, o.name, m.role, m.joined_at FROM memberships m JOIN orgs o ON o.id = m.org_id WHERE m.user_id = u ORDER BY o.name, m.org_id';
CREATE FUNCTION lookup.invitation(h bytea) RETURNS TABLE (org_id uuid, invitation_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
  AS 'SELECT i.org_id, i.id FROM invitations i WHERE i.hash = h';
CREATE FUNCTION lookup.oauth_state_take(h bytea) RETURNS TABLE (org_id uuid, user_id uuid, session_hash bytea, provider text, redirect_uri text, verifier bytea, expires_at timestamptz)
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp
  AS 'DELETE FROM oauth_states s WHERE s.hash = h RETURNING s.org_id, s.user_id, s.session_hash, s.provider, s.redirect_uri, s.verifier, s.expires_at';
CREATE FUNCTION lookup.org_ids() RETURNS TABLE (org_id uuid, is_system boolean)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
  AS 'SELECT o.id, o.is_system FROM orgs o ORDER BY o.id';

-- The version of the schema, for programs that may not read goose's table.
GRANT SELECT ON goose_db_version TO revarch_lookup;
CREATE FUNCTION lookup.schema_version() RETURNS bigint
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
  AS 'SELECT max(version_id) FROM goose_db_version WHERE is_applied';

-- +goose StatementBegin
DO $$ DECLARE f regprocedure; BEGIN
  FOR f IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'lookup'::regnamespace LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO revarch_lookup', f);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO revarch_app, revarch_worker', f);
  END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
DROP SCHEMA lookup CASCADE;
DROP TABLE login_failures, oauth_states, invitations, api_keys, sessions, memberships, users, orgs;
DROP SCHEMA edu CASCADE;
DROP SCHEMA tenancy CASCADE;
