-- +goose Up
-- Official education data: the platform's, without an organization. The worker writes it, everybody reads it.
CREATE TABLE edu.releases (
  id uuid PRIMARY KEY,
  dataset text NOT NULL CHECK (dataset IN ('ipeds_hd', 'saipe_districts', 'ccd_lea_directory')),
  vintage_year integer NOT NULL, -- see vintage_basis
  vintage_basis text NOT NULL CHECK (vintage_basis IN ('school_year', 'calendar_year')),
  vintage_label text NOT NULL, -- the publisher's own
  release text NOT NULL CHECK (release IN ('preliminary', 'provisional', 'final', 'revised')),
  release_rank smallint NOT NULL,
  token text NOT NULL DEFAULT '', -- the publisher's release mark in the file name
  scope text NOT NULL DEFAULT 'national' CHECK (scope IN ('national', 'state', 'partial')),
  layout text NOT NULL,
  encoding text NOT NULL,
  source_name text NOT NULL,
  sha256 bytea NOT NULL, -- of the file as it was uploaded
  rows bigint NOT NULL DEFAULT 0,
  bad_rows bigint NOT NULL DEFAULT 0,
  checks jsonb NOT NULL DEFAULT '[]',
  status text NOT NULL DEFAULT 'loading' CHECK (status IN ('loading', 'current', 'superseded', 'failed')),
  failure text NOT NULL DEFAULT '', -- the public text of why it failed
  run_id uuid NOT NULL, -- of the system organization
  created_at timestamptz NOT NULL,
  loaded_at timestamptz
);
-- The one release of a dataset that readers get when they ask for none in particular.
CREATE UNIQUE INDEX releases_current ON edu.releases (dataset) WHERE status = 'current';
CREATE UNIQUE INDEX releases_run ON edu.releases (run_id);
CREATE INDEX releases_dataset ON edu.releases (dataset, vintage_year DESC, created_at DESC);

CREATE TABLE edu.institutions (
  release_id uuid NOT NULL,
  unitid text NOT NULL,
  opeid text NOT NULL DEFAULT '',
  ein text NOT NULL DEFAULT '',
  name text NOT NULL,
  normalized_name text NOT NULL, -- datasets.NormalizeName
  alias text NOT NULL DEFAULT '',
  address text NOT NULL DEFAULT '',
  city text NOT NULL DEFAULT '',
  state text NOT NULL,
  fips text NOT NULL DEFAULT '',
  zip text NOT NULL DEFAULT '',
  county text NOT NULL DEFAULT '',
  county_fips text NOT NULL DEFAULT '',
  website text NOT NULL DEFAULT '',
  system_name text NOT NULL DEFAULT '',
  sector integer,
  ic_level integer,
  control integer,
  carnegie integer,
  carnegie_edition text NOT NULL DEFAULT '',
  locale integer,
  size_class integer,
  degree_granting boolean,
  hbcu boolean,
  tribal boolean,
  cy_active boolean,
  closed_at text NOT NULL DEFAULT '', -- as printed
  closed_on date,
  death_year integer,
  new_id text NOT NULL DEFAULT '', -- UNITID it merged into
  latitude double precision,
  longitude double precision,
  PRIMARY KEY (release_id, unitid)
);
CREATE INDEX institutions_name ON edu.institutions (release_id, state, normalized_name);

CREATE TABLE edu.districts (
  release_id uuid NOT NULL,
  leaid text NOT NULL,
  state_leaid text NOT NULL DEFAULT '',
  name text NOT NULL,
  normalized_name text NOT NULL, -- datasets.NormalizeName
  phone text NOT NULL DEFAULT '',
  address text NOT NULL DEFAULT '',
  city text NOT NULL DEFAULT '',
  state text NOT NULL,
  fips text NOT NULL DEFAULT '',
  zip text NOT NULL DEFAULT '',
  county text NOT NULL DEFAULT '',
  county_fips text NOT NULL DEFAULT '',
  website text NOT NULL DEFAULT '',
  lea_type integer,
  status integer,
  grade_low text NOT NULL DEFAULT '',
  grade_high text NOT NULL DEFAULT '',
  charter boolean,
  enrollment integer,
  latitude double precision,
  longitude double precision,
  PRIMARY KEY (release_id, leaid)
);
CREATE INDEX districts_name ON edu.districts (release_id, state, normalized_name);

CREATE TABLE edu.poverty (
  release_id uuid NOT NULL,
  leaid text NOT NULL,
  state text NOT NULL,
  population bigint NOT NULL,
  children_5_17 bigint NOT NULL,
  children_in_poverty bigint NOT NULL,
  estimate_year integer NOT NULL,
  PRIMARY KEY (release_id, leaid)
);

-- Closed by what IPEDS says of the current year, or because it left IPEDS or merged into another.
CREATE VIEW edu.current_institutions AS
SELECT i.*, (i.cy_active IS FALSE OR i.death_year IS NOT NULL OR i.new_id <> '') AS closed,
  r.vintage_year, r.vintage_label
FROM edu.institutions i JOIN edu.releases r ON r.id = i.release_id AND r.dataset = 'ipeds_hd' AND r.status = 'current';

CREATE VIEW edu.current_poverty AS
SELECT p.*, r.vintage_year, r.vintage_label
FROM edu.poverty p JOIN edu.releases r ON r.id = p.release_id AND r.dataset = 'saipe_districts' AND r.status = 'current';

-- One row per district that either publisher knows: what CCD tells, and name and state of SAIPE where CCD is silent.
CREATE VIEW edu.current_districts AS
WITH ccd AS (
  SELECT d.*, r.vintage_label AS label FROM edu.districts d
  JOIN edu.releases r ON r.id = d.release_id AND r.dataset = 'ccd_lea_directory' AND r.status = 'current'
), saipe AS (
  SELECT d.*, r.vintage_label AS label FROM edu.districts d
  JOIN edu.releases r ON r.id = d.release_id AND r.dataset = 'saipe_districts' AND r.status = 'current'
)
SELECT leaid, COALESCE(c.name, s.name) AS name, COALESCE(c.normalized_name, s.normalized_name) AS normalized_name,
  CASE WHEN s.normalized_name IS DISTINCT FROM COALESCE(c.normalized_name, s.normalized_name) THEN s.normalized_name END AS other_normalized_name,
  COALESCE(c.state, s.state) AS state, COALESCE(c.fips, s.fips) AS fips,
  c.state_leaid, c.phone, c.address, c.city, c.zip, c.county, c.county_fips, c.website, c.lea_type, c.status, c.grade_low, c.grade_high,
  c.charter, c.enrollment, c.latitude, c.longitude,
  -- A closing that the older directory tells does not outweigh the newer roster.
  COALESCE(c.status IN (2, 6), false) AND s.leaid IS NULL AS closed,
  c.label AS ccd_label, s.label AS saipe_label
FROM ccd c FULL JOIN saipe s USING (leaid);

GRANT SELECT ON ALL TABLES IN SCHEMA edu TO revarch_app, revarch_worker;
GRANT INSERT, UPDATE, DELETE ON edu.releases, edu.institutions, edu.districts, edu.poverty TO revarch_worker;

-- A person may decide what matching cannot.
ALTER TABLE account_matches DROP CONSTRAINT account_matches_method_check,
  ADD CONSTRAINT account_matches_method_check CHECK (method IN ('exact_id', 'name_state', 'manual'));
CREATE INDEX account_matches_status ON account_matches (org_id, status, account_id);

-- +goose Down
DROP INDEX account_matches_status;
DELETE FROM account_matches WHERE method = 'manual';
ALTER TABLE account_matches DROP CONSTRAINT account_matches_method_check,
  ADD CONSTRAINT account_matches_method_check CHECK (method IN ('exact_id', 'name_state'));
DROP VIEW edu.current_districts, edu.current_poverty, edu.current_institutions;
DROP TABLE edu.poverty, edu.districts, edu.institutions, edu.releases;
