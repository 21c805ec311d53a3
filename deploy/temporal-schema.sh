#!/bin/sh
# Makes Temporal's schema, or brings it to the version of this image: run before every start of the server.
set -eu
SQL_PASSWORD=$(cat /run/secrets/temporal_password)
export SQL_PASSWORD
for store in temporal visibility; do
  database=temporal
  [ "$store" = temporal ] || database=temporal_visibility
  sql() { temporal-sql-tool --plugin postgres12 --endpoint "$SQL_HOST" --port "$SQL_PORT" --user "$SQL_USER" --database "$database" "$@"; }
  sql setup-schema --version 0.0 || echo "$database has its version table already"
  sql update-schema --schema-dir "/etc/temporal/schema/postgresql/v12/$store/versioned"
done
