-- Every outbound transaction is screened before it is queued: against the lists as they are, and again when they change.

alter table transactions
  -- The decision, as customers see it; null while none is made.
  add column screening jsonb,
  -- The revision of the lists that the transaction was screened against last.
  add column screened_revision bigint not null default 0;

-- Only cleared transactions are signed; the others must not lengthen the walk to them.
drop index transactions_queue;
create index transactions_queue on transactions (blockchain, address, create_date, id)
  where transaction_type = 'OUTBOUND' and state in ('CLEARED', 'QUEUED') and tx_hash is null;
drop index transactions_senders;
create index transactions_senders on transactions (blockchain, entity_id, address)
  where transaction_type = 'OUTBOUND' and state in ('CLEARED', 'QUEUED') and tx_hash is null;
create index transactions_unscreened on transactions (blockchain, entity_id, create_date, id)
  where transaction_type = 'OUTBOUND' and state = 'INITIATED' and screening is null;
create index transactions_screened on transactions (blockchain, screened_revision, entity_id, create_date, id)
  where transaction_type = 'OUTBOUND' and state in ('CLEARED', 'QUEUED') and tx_hash is null;

-- Transactions that wait for an operator, and what was decided about each.
create table reviews (
  entity_id uuid not null,
  -- That of the transaction.
  id uuid not null,
  state text not null default 'pending' check (state in ('pending', 'approved', 'denied', 'withdrawn')),
  rule_name text not null,
  -- The operator who approved first, where two have to.
  first_approver text,
  decided_by text,
  reason text,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  check ((state in ('approved', 'denied')) = (decided_by is not null))
);
create index reviews_page on reviews (entity_id, create_date, id);
create index reviews_pending on reviews (entity_id, create_date, id) where state = 'pending';
