-- +goose Up
-- What an affinity matrix was computed from; one per organization, replaced with its entries.
CREATE TABLE affinity_matrices (
  org_id uuid PRIMARY KEY REFERENCES orgs (id) ON DELETE CASCADE,
  run_id uuid NOT NULL,
  computed_at timestamptz NOT NULL,
  as_of date NOT NULL, -- the organization's day it was computed for
  products bigint NOT NULL,
  accounts bigint NOT NULL, -- owning accounts
  records bigint NOT NULL -- products owned, lines of the same one counted once
);
SELECT tenancy.protect('affinity_matrices');

-- One row per scope and unordered pair of products, product_a before product_b; both directions are rendered from it.
-- It names products without a foreign key: retired ones leave with the next computation.
CREATE TABLE affinity_entries (
  org_id uuid NOT NULL REFERENCES affinity_matrices (org_id) ON DELETE CASCADE,
  scope smallint NOT NULL CHECK (scope BETWEEN 0 AND 3), -- all, Enterprise, Mid-Market, SMB
  product_a uuid NOT NULL,
  product_b uuid NOT NULL,
  n bigint NOT NULL,
  n_a bigint NOT NULL,
  n_b bigint NOT NULL,
  n_ab bigint NOT NULL,
  first_a bigint NOT NULL,
  first_b bigint NOT NULL,
  same_day bigint NOT NULL,
  bundled bigint NOT NULL,
  method smallint NOT NULL,
  significant_ab boolean NOT NULL,
  significant_ba boolean NOT NULL,
  p double precision NOT NULL, -- -1: not tested
  q double precision NOT NULL,
  cross_ab double precision NOT NULL, -- -1: no accounts
  cross_ba double precision NOT NULL,
  PRIMARY KEY (org_id, scope, product_a, product_b),
  CHECK (product_a < product_b)
);
SELECT tenancy.protect('affinity_entries');

-- What each regeneration of expansion signals counted.
CREATE TABLE expansion_runs (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  run_id uuid NOT NULL,
  matrix_run_id uuid NOT NULL, -- of the affinity matrix it used
  computed_at timestamptz NOT NULL,
  as_of date NOT NULL,
  counts jsonb NOT NULL,
  whitespace jsonb NOT NULL, -- owning accounts, and how many own each product
  PRIMARY KEY (org_id, run_id)
);
SELECT tenancy.protect('expansion_runs');
CREATE INDEX expansion_runs_latest ON expansion_runs (org_id, computed_at DESC, run_id DESC);

-- A product that an account may buy. Pending ones belong to the regeneration, the others to people.
CREATE TABLE expansion_signals (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  account_id uuid NOT NULL, -- no foreign keys: a million checks cost more than the rows, and neither side is ever removed
  product_id uuid NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'pitched', 'won', 'dismissed')),
  reason text,
  place double precision NOT NULL, -- the priority; unpriced ones stand 1000 lower, an unknown priority counts as -1
  priority double precision, -- 0 to 100
  priority_basis smallint NOT NULL, -- expansion.Basis
  probability double precision NOT NULL,
  estimated_arr_cents bigint, -- NULL: unpriced
  expected_arr_cents bigint,
  price_basis smallint NOT NULL, -- expansion.PriceBasis
  price_scope smallint NOT NULL,
  evidence_scope smallint NOT NULL,
  gate_failed smallint NOT NULL, -- expansion.Check
  gate_unknown smallint NOT NULL,
  days_to_renewal integer, -- when it was computed
  antecedents bytea NOT NULL, -- 32 bytes each: product, then probability, lift, weight and share as big-endian float32
  version bigint NOT NULL DEFAULT 1,
  status_changed_by text NOT NULL DEFAULT '',
  status_changed_at timestamptz,
  created_at timestamptz NOT NULL, -- since when it stands; stays while each regeneration finds it again
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
SELECT tenancy.protect('expansion_signals');
CREATE UNIQUE INDEX expansion_signals_live ON expansion_signals (org_id, account_id, product_id) WHERE status IN ('pending', 'pitched');
CREATE INDEX expansion_signals_closed ON expansion_signals (org_id, account_id, product_id) WHERE status IN ('won', 'dismissed');
CREATE INDEX expansion_signals_place ON expansion_signals (org_id, status, place DESC);

-- +goose Down
DROP TABLE expansion_signals, expansion_runs, affinity_entries, affinity_matrices;
