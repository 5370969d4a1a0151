-- Chains whose blocks take the transactions of an address in any order, each as long as a block that it names is recent.

-- A nonce tells equal transactions apart there: what others sign has none.
alter table observed_transactions alter column nonce drop not null;
create index observed_transactions_unordered on observed_transactions (entity_id, blockchain, tx_hash) where nonce is null;

-- The last height at which a block can have the bytes; null for those that end otherwise.
alter table attempts add column last_height bigint;
-- The highest fee that it may cost, and the coins that it takes beside that, such as the rent of an account that it creates. Null in
-- older rows, which took the product of limit and price, and nothing beside it.
alter table attempts add column fee_max numeric(78, 0);
alter table attempts add column deposit numeric(78, 0);
alter table attempts drop constraint attempts_dead_after_expiry;
alter table attempts add constraint attempts_dead_after_expiry check (death_proof is null
  or coalesce((death_proof -> 'block' ->> 'timeMs')::bigint >= expires_ms - expires_ms % 1000, false)
  or coalesce((death_proof -> 'block' ->> 'number')::bigint >= last_height, false));
create index attempts_ending on attempts (blockchain, last_height)
  where last_height is not null and death_proof is null and state in ('signed', 'sent', 'rejected');

alter table signatures add column last_height bigint;

-- As before; and where lives end by height, whatever is signed next needs a proof: a block could have both.
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
  if (last.last_height is not null or new.last_height is not null)
    and coalesce((new.death_proof -> 'block' ->> 'number')::bigint >= last.last_height, false) is false then
    raise exception 'nonce % of % on %: what lives up to a height is replaced after a proof that it ended there', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_after_death', table = tg_table_name;
  end if;
  return new;
end $$;
