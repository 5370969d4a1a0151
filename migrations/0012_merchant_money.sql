-- What a merchant owns: one wallet per entity, one account per currency, whatever chains the coins lie on. `wallet` is the
-- merchant's money, `settlement` its counterpart: what came in less what went out. They are booked in a currency, all other
-- kinds in a token; docs/decisions/0013 says how both hang together.
alter table accounts alter column token_id drop not null;
alter table accounts add column currency text;
alter table accounts drop constraint accounts_kind_check;
alter table accounts add constraint accounts_kind_check
  check (kind in ('address', 'outside', 'fees', 'difference', 'wallet', 'settlement'));
alter table accounts add constraint accounts_unit_check
  check ((kind in ('wallet', 'settlement')) = (token_id is null) and (token_id is null) = (currency is not null));
create unique index accounts_of_currency on accounts (entity_id, currency, kind, address) where currency is not null;

create or replace function check_zero_sum() returns trigger language plpgsql as $$
declare
  unbalanced uuid;
begin
  select e.posting_id into unbalanced
    from added e join accounts a on a.entity_id = e.entity_id and a.id = e.account_id
    group by e.entity_id, e.posting_id, a.token_id, a.currency having sum(e.amount) <> 0 limit 1;
  if unbalanced is not null then
    raise exception 'the entries of posting % do not sum to zero', unbalanced
      using errcode = 'check_violation', constraint = 'entries_zero_sum';
  end if;
  return null;
end $$;

-- Each deposit that the merchant's wallet was credited with, and the sweep that took its coins to the treasury.
create table credits (
  entity_id uuid not null,
  -- The payment or incoming transfer.
  id uuid not null,
  currency text not null,
  blockchain text not null,
  token_id uuid not null,
  -- The deposit address that the coins came to.
  address text not null,
  amount numeric(78, 0) not null check (amount > 0),
  sweep_id uuid,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index credits_unswept on credits (entity_id, blockchain, token_id, amount) where sweep_id is null;
create index credits_by_sweep on credits (entity_id, sweep_id) where sweep_id is not null;

-- Payments that were settled before wallets existed.
insert into accounts (entity_id, id, kind, currency, blockchain, address, create_date, update_date)
  select p.entity_id, gen_random_uuid(), k.kind, p.currency, '', p.merchant_wallet_id, min(p.update_date), min(p.update_date)
  from payments p cross join (values ('wallet'), ('settlement')) as k (kind) where p.status = 'paid'
  group by p.entity_id, k.kind, p.currency, p.merchant_wallet_id;
insert into credits (entity_id, id, currency, blockchain, token_id, address, amount, create_date)
  select entity_id, id, currency, blockchain, token_id, deposit_address, amount, update_date from payments where status = 'paid';
insert into postings (entity_id, id, blockchain, block_hash, fact, create_date)
  select entity_id, id, '', '', 'payment:' || id, create_date from credits;
insert into entries (entity_id, posting_id, account_id, amount)
  select c.entity_id, c.id, a.id, case a.kind when 'wallet' then c.amount else -c.amount end
  from credits c join accounts a on a.entity_id = c.entity_id and a.currency = c.currency;
