-- Policies have rules for settlements of payments that others signed (x402), with limits of their own: what payers pay is no money of
-- the entity. `networkFee`: what the treasury pays for a settlement, as estimated until its block is final.
alter table policy_spending add column purpose text not null default 'signature'
  check (purpose in ('signature', 'settlement', 'networkFee'));
alter table policy_spending drop constraint policy_spending_pkey;
alter table policy_spending add primary key (entity_id, intent_id, blockchain, token, purpose);
-- No wallet of the entity pays what a payer signed.
alter table policy_spending alter column wallet_set_id drop not null;
alter table policy_spending alter column wallet_id drop not null;
alter table policy_spending add constraint policy_spending_of_wallet
  check (purpose <> 'signature' or (wallet_set_id is not null and wallet_id is not null));
drop index policy_spending_window;
create index policy_spending_window on policy_spending (entity_id, purpose, token, create_date) where released_date is null;
