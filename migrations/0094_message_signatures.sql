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
