-- +goose Up
-- Rows that could not be read in full stay for what others may repeat or refer to.
ALTER TABLE import_rows ADD COLUMN refused boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE import_rows DROP COLUMN refused;
