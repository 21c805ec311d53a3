-- +goose Up
-- The ARR of each live account at the last computation of scores: what lists are sorted and totals summed by. Its source
-- is subscription_lines, by the rules of analytics/arr, which SQL does not repeat.
CREATE TABLE account_arr (
  org_id uuid NOT NULL,
  account_id uuid NOT NULL,
  arr_cents bigint, -- NULL: no recurring line is known
  as_of date NOT NULL, -- the organization's day it was computed for
  PRIMARY KEY (org_id, account_id),
  FOREIGN KEY (org_id, account_id) REFERENCES accounts (org_id, id) ON DELETE CASCADE
);
SELECT tenancy.protect('account_arr');
CREATE INDEX account_arr_rank ON account_arr (org_id, arr_cents DESC NULLS LAST, account_id);

-- What is wrong with the data of an account, since when. Rewritten when readiness is refreshed; first_seen_at stays
-- while the issue lasts.
CREATE TABLE account_issues (
  org_id uuid NOT NULL,
  account_id uuid NOT NULL,
  code text NOT NULL,
  detail text NOT NULL DEFAULT '',
  first_seen_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, account_id, code),
  FOREIGN KEY (org_id, account_id) REFERENCES accounts (org_id, id) ON DELETE CASCADE
);
SELECT tenancy.protect('account_issues');
CREATE INDEX account_issues_code ON account_issues (org_id, code, account_id);

-- The counts of the last refresh, per organization.
CREATE TABLE readiness_tallies (
  org_id uuid PRIMARY KEY REFERENCES orgs (id) ON DELETE CASCADE,
  checked_at timestamptz NOT NULL,
  counts jsonb NOT NULL
);
SELECT tenancy.protect('readiness_tallies');

CREATE INDEX tasks_in_order ON tasks (org_id, due_date, id);
CREATE INDEX tasks_account ON tasks (org_id, account_id) WHERE account_id IS NOT NULL;
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (org_id, expires_at);
CREATE INDEX opportunities_open ON opportunities (org_id, close_date, id) WHERE NOT is_closed AND deleted_at IS NULL;

-- +goose Down
DROP INDEX opportunities_open, idempotency_keys_expiry, tasks_account, tasks_in_order;
DROP TABLE readiness_tallies, account_issues, account_arr;
