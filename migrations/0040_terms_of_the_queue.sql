-- Standard names: a deferred item has a next attempt, an owner requests a replacement, and a transaction that only uses up a
-- nonce is a no-op.

alter table rests rename to deferrals;
alter table deferrals rename column look_after to next_attempt_at;
alter index rests_pkey rename to deferrals_pkey;
alter index rests_by_age rename to deferrals_by_age;
alter table payouts rename column look_after to next_attempt_at;
alter table transfers rename column look_after to next_attempt_at;
alter table payments rename column look_after to next_attempt_at;

alter table transactions rename column wanted to requested_replacement;
alter table transactions rename constraint transactions_wanted_check to transactions_requested_replacement_check;
alter index transactions_wanted rename to transactions_requested_replacement;

alter table attempts drop constraint attempts_kind_check;
update attempts set kind = 'noop' where kind = 'filler';
alter table attempts add constraint attempts_kind_check check (kind in ('original', 'bump', 'cancel', 'noop'));

alter table signatures rename column filler to noop;
-- Unchanged but for the name of the column.
create or replace function check_replacement() returns trigger language plpgsql as $$
declare
  last signatures%rowtype;
begin
  select * into last from signatures s where s.entity_id = new.entity_id and s.address = new.address
    and s.blockchain = new.blockchain and s.nonce = new.nonce and s.ordinal = new.ordinal - 1;
  if last.digest is distinct from new.replaces then
    raise exception 'nonce % of % on %: a replacement must name what was signed last', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_linked', table = tg_table_name;
  end if;
  if new.intent_id <> last.intent_id and not new.noop then
    raise exception 'nonce % of % on % belongs to another intent', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_of_one_intent', table = tg_table_name;
  end if;
  if new.max_fee < greatest(ceil(last.max_fee * 1.1), last.max_fee + 1)
    or new.priority_fee < greatest(ceil(last.priority_fee * 1.1), last.priority_fee + 1) then
    raise exception 'nonce % of % on %: a replacement must offer a tenth more in cap and tip', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_offer_more', table = tg_table_name;
  end if;
  return new;
end $$;
