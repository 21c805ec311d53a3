-- +goose Up
-- Sums over all signals of a product and status, so that no page has to add up a million of them. Whoever writes signals
-- writes these, in the same transaction.
CREATE TABLE expansion_totals (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  product_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'pitched', 'won', 'dismissed')),
  count bigint NOT NULL,
  unpriced bigint NOT NULL,
  estimated_arr_cents bigint NOT NULL, -- of the priced ones
  expected_arr_cents bigint NOT NULL,
  PRIMARY KEY (org_id, product_id, status)
);
SELECT tenancy.protect('expansion_totals');
INSERT INTO expansion_totals (org_id, product_id, status, count, unpriced, estimated_arr_cents, expected_arr_cents)
SELECT org_id, product_id, status, count(*), count(*) FILTER (WHERE estimated_arr_cents IS NULL), coalesce(sum(estimated_arr_cents), 0),
  coalesce(sum(expected_arr_cents), 0) FROM expansion_signals GROUP BY org_id, product_id, status;

-- +goose Down
DROP TABLE expansion_totals;
