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
ALTER TABLE subscription_lines ADD COLUMN ended boolean NOT NULL DEFAULT false; -- the source says it is over: no grace

-- Entries of price books: the highest one in use is the list price of its product.
CREATE TABLE product_prices (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  provider text NOT NULL,
  external_id text NOT NULL,
  product_id uuid,
  product_external_id text,
  price_cents bigint,
  active boolean NOT NULL DEFAULT true,
  mapping_id integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, product_id) REFERENCES products (org_id, id)
);
SELECT tenancy.protect('product_prices');
CREATE INDEX product_prices_product ON product_prices (org_id, product_id);

-- Lines of deals: those of one won deal that start on the same day were sold as one bundle.
CREATE TABLE order_lines (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  provider text NOT NULL,
  external_id text NOT NULL,
  opportunity_id uuid,
  opportunity_external_id text,
  product_id uuid,
  product_external_id text,
  quantity double precision,
  total_cents bigint,
  on_date date,
  mapping_id integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, opportunity_id) REFERENCES opportunities (org_id, id),
  FOREIGN KEY (org_id, product_id) REFERENCES products (org_id, id)
);
SELECT tenancy.protect('order_lines');
CREATE INDEX order_lines_opportunity ON order_lines (org_id, opportunity_id);
CREATE INDEX order_lines_product ON order_lines (org_id, product_id);

-- Files of imports on their way: how far each is read, and its rows until they are merged as a whole or dropped.
CREATE TABLE imports (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  byte_offset bigint NOT NULL DEFAULT 0, -- of the file: what is before it is staged
  lines bigint NOT NULL DEFAULT 0,       -- line breaks before it
  rows bigint NOT NULL DEFAULT 0,        -- read, bad ones included
  bad bigint NOT NULL DEFAULT 0,
  read_at timestamptz,                   -- when the file came to its end
  merged_at timestamptz,
  PRIMARY KEY (org_id, run_id),
  FOREIGN KEY (org_id, run_id) REFERENCES runs (org_id, id) ON DELETE CASCADE
);
SELECT tenancy.protect('imports');

-- No foreign key: a dry run stages under an id of its own and rolls back.
CREATE TABLE import_rows (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  run_id uuid NOT NULL,
  line bigint NOT NULL,
  id uuid NOT NULL, -- of the record, should it be new
  key text COLLATE "C" NOT NULL,
  account_key text COLLATE "C", -- external id of the account it refers to
  product_key text COLLATE "C", -- sku of the product it refers to
  cells text[] NOT NULL, -- by the resource's fields, as PostgreSQL reads them; NULL for empty
  PRIMARY KEY (org_id, run_id, line)
);
SELECT tenancy.protect('import_rows');

-- +goose Down
DROP TABLE import_rows, imports, order_lines, product_prices;
ALTER TABLE subscription_lines DROP COLUMN ended;
ALTER TABLE subscription_lines DROP CONSTRAINT subscription_lines_org_id_product_id_fkey;
DROP TABLE account_products, products;
