-- A distributed PostgreSQL can keep these tables on several servers: triggers of tables that each server has whole only refuse, rights
-- are those of whole tables, and locks are those that all servers share. Triggers of the tables of tenants get the form that such a
-- server needs from distributed.sql, when it is distributed.

-- Tables that each server has whole fire no triggers, which would run on all of them: the program brings the movements of messages
-- and of transfers in line, and each migration that changes the kinds builds the view anew.
drop trigger messages_followed on messages;
drop function follow_message();
drop function state_of_burn(messages);
create function state_of_burn(state text, received_tx_hash text, block_hash text, lost_amount numeric) returns text
language sql immutable parallel safe
  return case when lost_amount > 0 and block_hash is null then 'lost' when received_tx_hash is not null then 'delivered'
    when state = 'complete' then 'attested' else 'pending' end;

drop trigger unified_transfers_followed on unified_transfers;
drop function follow_unified_transfer();

drop trigger notified_kinds_build on notified_kinds;
drop function build_notified_resources();
create function build_notified_resources() returns void language plpgsql as $$
begin
  execute 'create or replace view notified_resources as ' || (
    select string_agg(
      format('select %L::text as kind, entity_id, id, update_date, snapshot from %I', kind, view), ' union all ' order by kind)
    from notified_kinds);
end $$;

-- A trigger that a truncation fires is on no shard, so that its table needs another one for what shards do.
do $$
declare
  kept text;
begin
  foreach kept in array '{signatures, operation_signatures, attestation_signatures, audit_links, audit_heads}'::text[] loop
    execute format('drop trigger %I on %I', kept || '_append_only', kept);
    execute format('create trigger %I before update or delete on %I for each statement execute function refuse_change()',
      kept || '_append_only', kept);
    execute format('create trigger %I before truncate on %I for each statement execute function refuse_change()',
      kept || '_never_emptied', kept);
  end loop;
end $$;

-- As before, without limits inside, which a distributed server would not spread over its shards.
create or replace view unfollowed_transfers as
  select e.engine, o.entity_id, t.currency, o.direction,
    in_millionths(case s.kind when 'applied' then o.amount else -o.amount end, t.decimals) as amount
  from (values ('transactions'), ('treasury')) as e (engine)
  cross join (select distinct blockchain from tokens where currency is not null) k
  left join step_cursors c on c.engine = e.engine and c.blockchain = k.blockchain
  join block_steps s on s.blockchain = k.blockchain and s.step > coalesce(c.step, 0)
  join observed_transfers o on o.blockchain = k.blockchain and o.block_hash = s.block_hash and o.purpose in ('deposit', 'treasury')
  join tokens t on t.id = o.token_id
  where t.currency is not null
    and not (t.is_native and o.direction = 'out' and o.kind = 'value')
    and not exists (select 1 from observed_transfers i
      where i.entity_id = o.entity_id and i.blockchain = o.blockchain and i.block_hash = o.block_hash
        and i.tx_hash = o.tx_hash and i.kind = o.kind and i.position = o.position and i.direction <> o.direction
        and i.purpose in ('deposit', 'treasury'));

-- Rights on some columns are rights of one server: shards that move lose them, and locks of rows that each server has ask for the
-- right to change whole tables. The role of the program gets that, and a trigger refuses statements that set another column.
-- Logins that inherit the rights of that role, and have left it, are refused, too; the owner's functions keep the books.
create function refuse_columns() returns trigger language plpgsql as $$
begin
  if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then return null; end if;
  raise exception 'permission denied for columns of % that never change', tg_table_name using errcode = 'insufficient_privilege';
end $$;

-- A migration that adds a column to such a table calls it again.
create function keep_columns(kept regclass, changing text[]) returns void language plpgsql as $$
begin
  execute format('create or replace trigger columns_kept before update of %s on %s for each statement '
      'execute function refuse_columns()',
    (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
      where attrelid = kept and attnum > 0 and not attisdropped and attname <> all(changing)), kept);
end $$;

select keep_columns('challenges', '{status, correlation_ids, error_code, error_message, update_date}');
select keep_columns('attestation_keys', '{retired_date, sealed_private_key}');
select keep_columns('accounts', '{update_date}');
select keep_columns('attempts',
  '{state, lease_until, fencing_token, broadcast_count, last_error, accepted_at, death_proof}');
select keep_columns('passkeys', '{counter, update_date}');
select keep_columns('screening_entries', '{to_version}');
select keep_columns('webhook_keys', '{sealed_private_key, sealed_ed25519_private_key}');
select keep_columns('user_token_keys', '{sealed_private_key}');
-- Locked with others that are changed, and never changed.
select keep_columns('block_steps', '{}');
select keep_columns('unified_signed_intents', '{}');
revoke update (status, correlation_ids, error_code, error_message, update_date) on challenges from bezant_runtime;
revoke update (retired_date, sealed_private_key) on attestation_keys from bezant_runtime;
revoke update (update_date) on accounts from bezant_runtime;
revoke update (state, lease_until, fencing_token, broadcast_count, last_error, accepted_at, death_proof) on attempts from bezant_runtime;
revoke update (counter, update_date) on passkeys from bezant_runtime;
revoke update (to_version) on screening_entries from bezant_runtime;
revoke update (sealed_private_key, sealed_ed25519_private_key) on webhook_keys from bezant_runtime;
revoke update (sealed_private_key) on user_token_keys from bezant_runtime;
grant update on challenges, attestation_keys, accounts, attempts, passkeys, screening_entries, webhook_keys, user_token_keys,
  block_steps, unified_signed_intents to bezant_runtime;

-- Whether values may still be sealed with the version that a new one names. The closing of a version locks this table alone, on every
-- server, and so waits for those that have read it here and stored a value.
create or replace function is_root_key_open(sealed bytea) returns boolean language plpgsql volatile as $$
begin
  return sealed is null
    or not exists (select from root_keys k where k.version = root_key_version(sealed) and k.closed_date is not null);
end $$;

-- Its arguments are the columns with sealed values. The condition of a trigger could not read the table on a shard.
create function check_root_key() returns trigger language plpgsql as $$
declare
  sealed text;
begin
  foreach sealed in array tg_argv loop
    if not is_root_key_open((to_jsonb(new) ->> sealed)::bytea) then
      raise exception 'a value of % was sealed with a version of the root key that is closed: restart this process with the newest one',
        tg_table_name using errcode = 'restrict_violation';
    end if;
  end loop;
  return new;
end $$;

do $$
declare
  each record;
begin
  for each in
    select t.tgrelid::regclass as kept, t.tgname, string_agg(a.attname, ', ') as columns
    from pg_trigger t join pg_attribute a on a.attrelid = t.tgrelid and a.attnum = any(t.tgattr)
    where t.tgfoid = 'refuse_closed_root_key'::regproc and t.tgparentid = 0 group by 1, 2
  loop
    execute format('drop trigger %I on %s', each.tgname, each.kept);
    execute format('create trigger %I before insert or update of %s on %s for each row execute function check_root_key(%2$s)',
      each.tgname, each.columns, each.kept);
  end loop;
end $$;
drop function refuse_closed_root_key();
