-- Transactions that expire: chains on which no block executes one from a time of its own on.

-- Milliseconds of the chain's time; null for a transaction that lives until its nonce is used.
alter table attempts add column expires_ms bigint;
-- The newest block that was applied when the first bytes of this expiry were signed: later ones may have them.
alter table attempts add column signed_at bigint;
-- The final block that ended its life, and the next nonce of its sender after that block. Such bytes are not sent any more.
alter table attempts add column death_proof jsonb;
alter table attempts add constraint attempts_dead_after_expiry
  check (death_proof is null or (death_proof -> 'block' ->> 'timeMs')::bigint >= expires_ms - expires_ms % 1000);
grant update (death_proof) on attempts to bezant_runtime;
create index attempts_expiring on attempts (blockchain, expires_ms)
  where expires_ms is not null and death_proof is null and state in ('signed', 'sent');

alter table signatures add column expires_ms bigint;
alter table signatures add column death_proof jsonb;

-- As before, and another expiry only after a proof that no block can execute what was signed last.
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
  if new.expires_ms is distinct from last.expires_ms
    and coalesce((new.death_proof -> 'block' ->> 'timeMs')::bigint >= last.expires_ms
      and (new.death_proof ->> 'nextNonce')::bigint <= new.nonce, false) is false then
    raise exception 'nonce % of % on %: another expiry needs a proof that the last one passed unused', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_after_death', table = tg_table_name;
  end if;
  return new;
end $$;
