-- Tokens of any contract: every ERC-20, ERC-721 and ERC-1155 that a managed wallet sends or receives. The balances of listed
-- tokens follow their transfers; those of other tokens follow what the contract says of itself, since its logs may lie.

-- An item is one NFT of a contract: a row of its own, so that accounts and holds know it as they know a token.
alter table tokens
  add column listed boolean not null default true,
  -- Named like a listed token: never shown by default.
  add column look_alike boolean not null default false,
  add column collection_id uuid references tokens (id),
  add column item_id numeric(78, 0),
  -- The address of the metadata of an item, as its contract tells it.
  add column uri text,
  add constraint tokens_item_check check ((collection_id is null) = (item_id is null));
alter table tokens drop constraint tokens_blockchain_address_key;
alter table tokens add constraint tokens_of_contract unique nulls not distinct (blockchain, address, item_id);

-- A transfer of any other contract's token from or to a managed wallet, one row per managed side and item. A claim of the
-- contract: no balance is booked from it.
create table observed_token_transfers (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  tx_hash text not null,
  log_index integer not null,
  -- The place in a batch.
  position integer not null,
  direction text not null check (direction in ('in', 'out')),
  token_address text not null,
  standard text not null,
  item_id numeric(78, 0),
  from_address text not null,
  to_address text not null,
  amount numeric(78, 0) not null,
  address text not null,
  wallet_id uuid not null,
  block_time timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, block_hash, log_index, position, direction)
);
create index observed_token_transfers_by_block on observed_token_transfers (blockchain, block_hash);

-- The balances that are compared with the contract when they are due: of one wallet in one token or item.
create table token_checks (
  entity_id uuid not null,
  token_id uuid not null references tokens (id),
  address text not null,
  blockchain text not null,
  due_at timestamptz not null,
  -- Since when the balance has not changed, or could not be read: the longer, the later the next comparison.
  since timestamptz not null,
  -- The block of the latest comparison.
  block_number bigint not null default -1,
  primary key (entity_id, token_id, address)
);
-- A balance of zero without a hold is due at its next transfer only.
create index token_checks_due on token_checks (blockchain, entity_id, due_at) where due_at < 'infinity';
create index token_checks_of_wallet on token_checks (entity_id, blockchain, address);

alter table accounts drop constraint accounts_kind_check;
alter table accounts add constraint accounts_kind_check check (kind in
  ('address', 'outside', 'fees', 'difference', 'drift', 'wallet', 'settlement', 'unclaimed', 'adjustment'));

-- Holds of unlisted tokens end when the contract was asked for the balance after the transfer, not with its block.
alter table holds add column of_unlisted boolean not null default false;
create index holds_of_unlisted on holds (entity_id, account_id) where of_unlisted;

alter table transactions
  add column nft_token_ids text[],
  -- Whether its changes are notified: not those of a token that is named like a listed one.
  add column announced boolean not null default true;

-- Monitored tokens: lists of balances and transactions omit the tokens that an entity excluded by selecting others, and for
-- everybody those that are named like a listed token.
create view hidden_tokens as
  select s.entity_id, t.id as token_id
  from monitored_token_scopes s cross join tokens t
  where s.scope = 'SELECTED' and not exists (select 1 from monitored_tokens m
    where m.entity_id = s.entity_id and m.token_id = coalesce(t.collection_id, t.id))
  union all
  select e.id, t.id from entities e cross join tokens t where t.look_alike;
drop view unmonitored_tokens;

-- The hash of a block's contents covers the logs of all contracts now: earlier hashes compare with none.
update blocks set content_hash = null where content_hash is not null;
