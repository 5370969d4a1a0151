-- The deposit of a paymaster is booked: a paymaster is a managed address, whose native coins are its deposit at the EntryPoint.

alter table managed_addresses drop constraint managed_addresses_purpose_check;
alter table managed_addresses add constraint managed_addresses_purpose_check
  check (purpose in ('wallet', 'deposit', 'treasury', 'modular', 'paymaster'));
alter table managed_addresses drop constraint managed_addresses_key_of_purpose;
alter table managed_addresses add constraint managed_addresses_key_of_purpose
  check ((purpose in ('modular', 'paymaster')) = (key_id is null));

-- The contract that pays for the sponsor; null of sponsors from before, until a worker registers it.
alter table sponsors add column paymaster text;
create index sponsors_without_paymaster on sponsors (blockchain) where paymaster is null;
