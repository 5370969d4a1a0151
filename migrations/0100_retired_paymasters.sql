-- The code of paymasters changed, and with it their addresses: they pay in bundles of their sponsor alone. Those of sponsors from
-- before are retired: a worker registers the new one, and has the treasury take back the deposit of the old one.
alter table sponsors add column retired_paymaster text;
update sponsors set retired_paymaster = paymaster, paymaster = null where paymaster is not null;
create index sponsors_with_retired_paymaster on sponsors (blockchain, entity_id) where retired_paymaster is not null;

alter table account_calls drop constraint account_calls_purpose_check;
alter table account_calls add constraint account_calls_purpose_check
  check (purpose in ('bundle', 'contract', 'deposit', 'withdrawal'));
