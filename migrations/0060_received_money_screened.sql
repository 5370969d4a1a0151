-- Received money is screened by its sender. What a rule leaves to an operator is held: the coins of a wallet by a hold, a
-- deposit by not being credited.

alter table holds drop constraint holds_purpose_check;
alter table holds add constraint holds_purpose_check check (purpose in ('amount', 'fee', 'money', 'review'));

-- Wallets to freeze for what they received: not in the tx of the block, which must not wait for signers of an entity.
alter table transactions add column to_freeze boolean not null default false;
create index transactions_to_freeze on transactions (blockchain, entity_id, create_date, id) where to_freeze;

-- Whether an operator has to decide about a deposit, or what was decided; null where no rule asked for a review.
alter table payments add column review text check (review in ('pending', 'approved', 'denied'));
alter table transfers add column review text check (review in ('pending', 'approved', 'denied'));
create index payments_uncredited on payments (entity_id) where review in ('pending', 'denied');
create index transfers_uncredited on transfers (entity_id) where review in ('pending', 'denied');

alter table reviews
  -- What is reviewed, whose id is that of the review.
  add column resource text not null default 'transaction' check (resource in ('transaction', 'payment', 'transfer'));
alter table reviews alter column resource drop default;

-- Every address that a list may come to name: where the installation keeps money, and where customers pay to.
create view screened_addresses as
  select entity_id, purpose as resource, owner_id as id, blockchain as chain, address from managed_addresses
  union all
  select entity_id, 'recipient', id, chain, address from recipients where deleted_date is null
  union all
  select entity_id, 'recipientAddress', id, chain, address from recipient_addresses where deleted_date is null;
