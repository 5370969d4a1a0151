#!/bin/bash
# Creates the roles and the database of docs/operate.md when the database server of compose.yaml starts for the first time.
set -euo pipefail
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\set owner `cat "$SECRETS_DIR/owner-password"`
\set app `cat "$SECRETS_DIR/app-password"`
create role bezant_runtime nologin;
create role bezant login password :'owner';
create role bezant_app login password :'app';
grant bezant_runtime to bezant, bezant_app;
create database bezant owner bezant;
SQL
