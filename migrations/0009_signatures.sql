-- What was signed for each nonce of each key, written before the signature is made. One payload per nonce, and after it
-- only what is linked to the last one and offers enough more for nodes to take it: a line without forks.
-- Whatever an engine above asks for, custody signs nothing that is not here.

create table signatures (
  entity_id uuid not null,
  address text not null,
  blockchain text not null,
  nonce bigint not null check (nonce >= 0),
  -- Place in the line: 0 is what the nonce was given out for, each further one replaces the one before it.
  ordinal integer not null check (ordinal >= 0),
  digest bytea not null check (octet_length(digest) = 32),
  intent_id uuid not null,
  -- Moves nothing: it may take the place of another intent's bytes, only to use up the nonce.
  filler boolean not null default false,
  max_fee numeric(78, 0) not null check (max_fee >= 0),
  priority_fee numeric(78, 0) not null check (priority_fee >= 0),
  -- The digest that it takes the place of.
  replaces bytea,
  create_date timestamptz(3) not null,
  -- Of two that sign for one place at once, the second waits here and is refused.
  primary key (entity_id, address, blockchain, nonce, ordinal),
  constraint signatures_linked check ((ordinal = 0) = (replaces is null))
);
create trigger signatures_append_only before update or delete or truncate on signatures
  for each statement execute function refuse_change();

-- Real nodes ask for a tenth more of both prices, rounded up, and for more in any case.
create function check_replacement() returns trigger language plpgsql as $$
declare
  last signatures%rowtype;
begin
  select * into last from signatures s where s.entity_id = new.entity_id and s.address = new.address
    and s.blockchain = new.blockchain and s.nonce = new.nonce and s.ordinal = new.ordinal - 1;
  if last.digest is distinct from new.replaces then
    raise exception 'nonce % of % on %: a replacement must name what was signed last', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_linked', table = tg_table_name;
  end if;
  if new.intent_id <> last.intent_id and not new.filler then
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
create trigger signatures_replacement before insert on signatures
  for each row when (new.ordinal > 0) execute function check_replacement();
