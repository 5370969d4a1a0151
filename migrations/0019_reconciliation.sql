-- Proof that the books equal the chains.

-- For whoever compares: what each posting put into an account, and by which block.
create view posted_entries as
  select e.entity_id, e.account_id, p.blockchain, p.block_hash, e.amount
  from entries e join postings p on p.entity_id = e.entity_id and p.id = e.posting_id;
create view address_accounts as
  select entity_id, id, blockchain, address, token_id, posted from accounts where kind = 'address';

-- How far the books of a chain were compared: up to which final block all that moved, and where the slow round over
-- every address stands.
create table reconciliations (
  blockchain text primary key,
  block_number bigint not null default -1,
  round_address text not null default '',
  round_entity_id uuid not null default '00000000-0000-0000-0000-000000000000',
  lease_until timestamptz
);

-- A balance that was not the chain's. Written once for each pair of amounts, and never taken back: that the gap is gone
-- shows in the next comparison.
create table reconciliation_gaps (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  address text not null,
  token_id uuid not null,
  block_number bigint not null,
  block_hash text not null,
  booked numeric(78, 0) not null,
  on_chain numeric(78, 0) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index reconciliation_gaps_of_address on reconciliation_gaps (entity_id, blockchain, address, token_id, create_date);
create trigger reconciliation_gaps_append_only before update or delete on reconciliation_gaps
  for each statement execute function refuse_change();
revoke update, delete on reconciliation_gaps from bezant_runtime;
