-- The program runs as `bezant_runtime`, which owns nothing: books, trails and signed bytes can be added to and never be
-- rewritten, whatever the program is made to do. Who runs the migrations owns the tables.

do $$ begin
  create role bezant_runtime nologin;
exception
  -- Roles belong to the server; another database on it may have made this one, also just now.
  when duplicate_object or unique_violation then null;
end $$;
do $$ begin
  if not pg_has_role(current_user, 'bezant_runtime', 'member') then
    execute format('grant bezant_runtime to %I', current_user);
  end if;
end $$;

grant usage on schema public to bezant_runtime;
grant select, insert, update, delete on all tables in schema public to bezant_runtime;
alter default privileges in schema public grant select, insert, update, delete on tables to bezant_runtime;

revoke update, delete on postings, entries, holds, hold_resolutions, events, audit,
  policy_versions, policy_decisions, signatures from bezant_runtime;
revoke insert, update, delete on schema_migrations from bezant_runtime;

-- Locking an account's row asks for the right to write one of its columns.
revoke update, delete on accounts from bezant_runtime;
grant update (update_date) on accounts to bezant_runtime;
-- Cached balances are written by the triggers alone.
alter function apply_entries() security definer set search_path = public, pg_temp;
alter function apply_holds() security definer set search_path = public, pg_temp;
alter function apply_resolutions() security definer set search_path = public, pg_temp;

-- An attempt's bytes, nonce and prices are what was signed; only how its sending went may change.
revoke update, delete on attempts from bezant_runtime;
grant update (state, lease_until, fencing_token, broadcast_count, last_error) on attempts to bezant_runtime;
