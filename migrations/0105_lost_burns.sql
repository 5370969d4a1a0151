-- Burns that were attested and whose block is gone: what they minted, or can mint, has no coins behind it. They stay charged
-- against the allowance, and halt attestations before finality on their chain, until they are mined again or an operator books
-- the loss.
alter table messages
  add column lost_amount numeric(78, 0) not null default 0 check (lost_amount >= 0),
  -- What an operator booked as lost, by whom and why.
  add column booked_loss numeric(78, 0) not null default 0 check (booked_loss >= 0),
  add column loss_booked_by text,
  add column loss_booked_reason text,
  add column loss_booked_date timestamptz(3);
update messages set lost_amount = amount where state = 'complete' and block_hash is null and amount is not null;
create index messages_lost on messages (blockchain) where lost_amount > 0;
