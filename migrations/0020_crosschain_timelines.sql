-- Timelines of cross-chain messages and of transfers of unified balances. They tell when something was signed by the clock of the
-- database, as the tables of other lanes do, and name each block that holds or held a burn or a mint: also one that a reorg took
-- back, which the messages and transfers themselves forget.
alter table attestation_signatures add column recorded_at timestamptz(3);
alter table attestation_signatures alter column recorded_at set default clock_timestamp();
-- When enough attesters had signed.
alter table messages add column attested_at timestamptz(3);

create index observed_crosschain_events_sent on observed_crosschain_events (blockchain, tx_hash) where kind = 'messageSent';
-- By the nonce of a message, or the hash of the specification of a transfer.
create index observed_crosschain_events_of_subject on observed_crosschain_events (coalesce(fields ->> 'nonce', fields ->> 'specHash'))
  where kind in ('messageReceived', 'minted', 'burned');
