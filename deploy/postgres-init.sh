#!/bin/bash
# Runs once, when the volume is new: the roles with their passwords, our database and Temporal's two.
set -euo pipefail
secret() { cat "/run/secrets/$1"; }
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  -v owner="$(secret revarch_owner_password)" -v app="$(secret revarch_app_password)" \
  -v worker="$(secret revarch_worker_password)" -v temporal="$(secret temporal_password)" <<'SQL'
CREATE ROLE revarch_lookup NOLOGIN;
CREATE ROLE revarch_owner LOGIN PASSWORD :'owner' IN ROLE revarch_lookup;
CREATE ROLE revarch_app LOGIN PASSWORD :'app';
CREATE ROLE revarch_worker LOGIN PASSWORD :'worker';
CREATE ROLE temporal LOGIN PASSWORD :'temporal';
CREATE DATABASE revarch OWNER revarch_owner;
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
REVOKE CONNECT ON DATABASE revarch, temporal, temporal_visibility FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE revarch TO revarch_app, revarch_worker;
\connect revarch
ALTER SCHEMA public OWNER TO revarch_owner;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
SQL
