-- Cross-chain messages that contracts of followed chains sent, and their attestations. They belong to no entity: a chain shows
-- them to all.
create table messages (
  id uuid primary key,
  blockchain text not null,
  domain integer not null,
  tx_hash text not null,
  -- The place among the messages of its transaction: with the hash it names the message also when it is mined again.
  ordinal integer not null,
  -- Made of domain, transaction and ordinal; a transmitter delivers one message of each nonce.
  nonce text not null unique,
  -- Null while no block of the chain has the message.
  block_hash text,
  block_number bigint,
  log_index integer not null,
  -- As it was emitted.
  message text not null,
  destination_domain bigint not null,
  -- The fields of a burn; null of a message that another contract sent.
  amount numeric(78, 0),
  max_fee numeric(78, 0),
  -- Whether an attestation before finality is asked for, and why there was none.
  fast boolean not null,
  delay_reason text check (delay_reason in ('insufficient_fee', 'amount_above_max', 'insufficient_allowance_available')),
  forwards boolean not null default false,
  state text not null check (state in ('pending', 'complete')),
  -- Filled in and signed.
  attested_message text,
  attestation text,
  digest text,
  finality_threshold integer,
  expiration_block numeric(78, 0),
  attested_date timestamptz(3),
  -- A further attestation without an end is asked for, once the block is final.
  reattest boolean not null default false,
  -- The part of the allowance for attestations before finality that this message takes, until its block is final.
  allowance_taken numeric(78, 0) not null default 0 check (allowance_taken >= 0),
  -- The delivery, as a block of the destination shows it.
  received_blockchain text,
  received_block_hash text,
  -- The height of the block that shows a delivery, which is complete when that is final.
  received_block_number bigint,
  received_tx_hash text,
  -- When that block was followed, in business time.
  received_date timestamptz(3),
  -- The treasury's transaction that delivers it, where that is asked for.
  forward_id uuid,
  forward_entity_id uuid,
  -- The fee that the attestation takes for the delivery, in base units; null where there is none. This server delivers a
  -- message only where it pays for that.
  forward_fee numeric(78, 0) check (forward_fee > 0),
  forward_failure text,
  -- A delivery that costs more gas than its fee covers waits, and tells so.
  forward_delay text,
  -- Of a burn that was attested and whose block is gone: what it minted, or can mint, has no coins behind it. It stays charged
  -- against the allowance, and halts attestations before finality on its chain, until it is mined again or an operator books the
  -- loss.
  lost_amount numeric(78, 0) not null default 0 check (lost_amount >= 0),
  -- The amount that an operator booked as lost; the operator, and the reason.
  booked_loss numeric(78, 0) not null default 0 check (booked_loss >= 0),
  loss_booked_by text,
  loss_booked_reason text,
  loss_booked_date timestamptz(3),
  create_date timestamptz(3) not null,
  unique (blockchain, tx_hash, ordinal),
  check ((block_hash is null) = (block_number is null)),
  check ((state = 'complete') = (attestation is not null)),
  check (num_nulls(attested_message, attestation, digest, finality_threshold, expiration_block, attested_date) in (0, 6))
);
create index messages_pending on messages (blockchain, create_date, id) where state = 'pending' or reattest;
create index messages_by_block on messages (blockchain, block_hash) where block_hash is not null;
create index messages_of_allowance on messages (blockchain, block_number) where allowance_taken > 0;
create index messages_by_delivery on messages (received_blockchain, received_block_hash)
  where received_block_hash is not null;
create index messages_by_digest on messages (digest) where digest is not null;
create index messages_to_forward on messages (destination_domain, create_date, id)
  where forward_fee is not null and forward_id is null and received_tx_hash is null;
-- Finds the deliveries whose transactions may have failed, which is asked whenever work is announced for their chain.
create index messages_under_delivery on messages (destination_domain)
  where forward_id is not null and forward_failure is null and received_tx_hash is null;
create index messages_lost on messages (blockchain) where lost_amount > 0;

-- The state of a burn, as its movement shows it: lost where it was attested and its block is gone.
create function state_of_burn(m messages) returns text language sql immutable as $$
  select case when m.lost_amount > 0 and m.block_hash is null then 'lost' when m.received_tx_hash is not null then 'delivered'
    when m.state = 'complete' then 'attested' else 'pending' end
$$;

-- The burns from and to addresses of entities, as movements: one row for each entity that burns or receives. A message itself belongs
-- to none.
create table entity_messages (
  entity_id uuid not null,
  -- That of the message.
  id uuid not null references messages (id) on delete cascade,
  direction text not null check (direction in ('in', 'out', 'internal')),
  -- Follows the message by a trigger, so that whatever changes one changes the other.
  state text not null check (state in ('pending', 'attested', 'delivered', 'lost')),
  -- The source.
  blockchain text not null,
  token_id uuid not null,
  amount numeric(78, 0) not null,
  from_address text not null,
  to_address text not null,
  tx_hash text not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index entity_messages_page on entity_messages (entity_id, create_date, id);
create index entity_messages_unfinished on entity_messages (entity_id, state, create_date, id) where state <> 'delivered';
create index entity_messages_by_blockchain on entity_messages (entity_id, blockchain, create_date, id);
create index entity_messages_by_source on entity_messages (entity_id, from_address, create_date, id);
create index entity_messages_by_destination on entity_messages (entity_id, to_address, create_date, id);
create index entity_messages_by_amount on entity_messages (entity_id, amount, create_date, id);
create index entity_messages_by_id on entity_messages (id);
create index entity_messages_by_hash on entity_messages (entity_id, tx_hash);

create function follow_message() returns trigger language plpgsql as $$
begin
  update entity_messages e set state = state_of_burn(new),
    update_date = greatest(e.update_date, new.attested_date, new.received_date) where e.id = new.id;
  return null;
end $$;
create trigger messages_followed after update of state, received_tx_hash, lost_amount, block_hash on messages
  for each row when (state_of_burn(new) <> state_of_burn(old)) execute function follow_message();

-- Messages that several attesters sign, filled in and recorded until as many have signed as the contracts want. An orphaned block
-- takes its proposals with their signatures, and so does a message that is filled in anew.
create table message_proposals (
  message_id uuid primary key references messages (id) on delete cascade,
  -- Filled in, and the hash of that.
  attested_message text not null,
  digest text not null,
  finality_threshold integer not null,
  expiration_block numeric(78, 0) not null,
  forward_fee numeric(78, 0) check (forward_fee > 0),
  create_date timestamptz(3) not null
);

-- The attesters that were asked to sign a proposal, and what they answered.
create table message_signatures (
  message_id uuid not null references message_proposals (message_id) on delete cascade,
  -- The address of the attester.
  attester text not null,
  -- Null until the attester has answered with it.
  signature text,
  -- The attester is not asked before: the lease of the process that asks, and then the pause before the next try. In the time of
  -- the database.
  ask_date timestamptz(3) not null,
  tries integer not null,
  primary key (message_id, attester)
);

-- How far the attester has followed each chain.
create table message_heights (
  blockchain text primary key,
  followed bigint not null,
  final bigint not null
);

-- The burns that are attested before they are final: at most as much as the operator is ready to lose to reorgs.
create table fast_allowances (
  environment text primary key check (environment in ('TEST', 'LIVE')),
  used numeric(78, 0) not null default 0 check (used >= 0)
);
insert into fast_allowances (environment) values ('TEST'), ('LIVE');
