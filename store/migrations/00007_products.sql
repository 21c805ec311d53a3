-- +goose Up
CREATE TABLE products (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  provider text NOT NULL,
  external_id text NOT NULL,
  sku text, -- as the source calls it; imports name products by it
  name text NOT NULL,
  list_price_cents bigint,
  active boolean NOT NULL DEFAULT true,
  mapping_id integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  PRIMARY KEY (org_id, id)
);
SELECT tenancy.protect('products');
CREATE INDEX products_sku ON products (org_id, sku);

-- What an account bought: one row per line of a contract or asset. Recurring revenue of it stands in subscription_lines
-- under the same id.
CREATE TABLE account_products (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  provider text NOT NULL,
  external_id text NOT NULL,
  account_id uuid,
  account_external_id text,
  product_id uuid,
  product_external_id text,
  name text,
  arr_cents bigint,
  quantity double precision,
  start_date date,
  end_date date,
  status text CHECK (status IN ('active', 'ended')),
  bundle text, -- lines of one order with the same bundle were sold together
  mapping_id integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, account_id) REFERENCES accounts (org_id, id),
  FOREIGN KEY (org_id, product_id) REFERENCES products (org_id, id)
);
SELECT tenancy.protect('account_products');
CREATE INDEX account_products_account ON account_products (org_id, account_id);
CREATE INDEX account_products_product ON account_products (org_id, product_id);
ALTER TABLE subscription_lines ADD FOREIGN KEY (org_id, product_id) REFERENCES products (org_id, id);

-- +goose Down
ALTER TABLE subscription_lines DROP CONSTRAINT subscription_lines_org_id_product_id_fkey;
DROP TABLE account_products, products;
