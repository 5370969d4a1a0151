-- Operations whose gas the account pays for itself, through a paymaster that takes its coins. Their gas counts against the limits
-- of sponsorships until a block holds them, and where they made a bundle fail, which the treasury paid for.
alter table sponsorships add column paid_by_account boolean not null default false;

-- The paymaster of the sponsor that takes USDC of accounts, once its operator opened it. Its deposit and its USDC are in the books.
alter table sponsors add column usdc_paymaster text;
create index sponsors_with_usdc_paymaster on sponsors (blockchain, entity_id) where usdc_paymaster is not null;
