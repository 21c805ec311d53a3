-- +goose Up
-- Whom expansion may not offer what: accounts that asked for nothing more, and products that are not for every sector or state.
ALTER TABLE accounts ADD COLUMN expansion_opt_out boolean;
ALTER TABLE products
  ADD COLUMN offered_to text, -- buyer types, by commas; NULL for all
  ADD COLUMN offered_in text; -- states, by commas; NULL for all

-- +goose Down
ALTER TABLE accounts DROP COLUMN expansion_opt_out;
ALTER TABLE products DROP COLUMN offered_to, DROP COLUMN offered_in;
