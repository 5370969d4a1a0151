-- Refunds are payments that a merchant makes: nobody's address sent them, no block held them before, and a worker pays them.
alter table payments alter column from_address drop not null;
alter table payments alter column transaction_hash drop not null;
alter table payments alter column ordinal drop not null;
alter table payments alter column block_number drop not null;
alter table payments add column submitted boolean not null default false;
alter table payments add column error_code text;
alter table payments add column risk_reason text;
-- When a worker may look at it again, in the time of the database.
alter table payments add column look_after timestamptz not null default now();
alter table payments add constraint payments_received check (type = 'refund'
  or (from_address is not null and transaction_hash is not null and ordinal is not null and block_number is not null));
alter table payments add constraint payments_refund_of check (type = 'payment' or payment_intent_id is not null);
create index refunds_waiting on payments (blockchain, create_date, id)
  where type = 'refund' and status = 'pending' and not submitted;
create index refunds_under_way on payments (blockchain) where type = 'refund' and status = 'pending' and submitted;
