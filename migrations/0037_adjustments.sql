-- Adjustments close gaps that no block will close: each has a name, a reason and an actor, and is booked against an account
-- of its own, so that it is never mistaken for what a chain or a merchant did. docs/decisions/0031 says what they mean.

alter table accounts drop constraint accounts_kind_check;
alter table accounts add constraint accounts_kind_check
  check (kind in ('address', 'outside', 'fees', 'difference', 'wallet', 'settlement', 'unclaimed', 'adjustment'));
-- An adjustment is counted in what it corrects: coins in their token, money in its currency.
alter table accounts drop constraint accounts_unit_check;
alter table accounts add constraint accounts_unit_check
  check ((token_id is null) = (currency is not null)
    and (kind = 'adjustment' or (kind in ('wallet', 'settlement', 'unclaimed')) = (token_id is null)));

create table adjustments (
  entity_id uuid not null,
  id uuid not null,
  -- The address whose coins it corrects; empty where it corrects the money behind them, which is on no chain.
  blockchain text not null,
  address text not null,
  token_id uuid,
  currency text,
  -- The amount that the books lacked; negative when they had too much.
  amount numeric(78, 0) not null check (amount <> 0),
  reason text not null check (reason <> ''),
  actor text not null check (actor <> ''),
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  check ((token_id is null) = (currency is not null) and (token_id is null) = (blockchain = ''))
);
create trigger adjustments_append_only before update or delete on adjustments
  for each statement execute function refuse_change();
revoke update, delete on adjustments from bezant_runtime;

-- An adjustment is booked once, and nothing else is booked against these accounts.
create unique index postings_adjusted_once on postings (entity_id, fact) where fact like 'adjustment:%';
create function check_adjustments() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from added e join accounts a on a.entity_id = e.entity_id and a.id = e.account_id
    where a.kind = 'adjustment' and not exists (
      select 1 from postings p join adjustments j on j.entity_id = p.entity_id and p.fact = 'adjustment:' || j.id
      where p.entity_id = e.entity_id and p.id = e.posting_id)
  ) then
    raise exception 'what is booked as an adjustment has a name and a reason'
      using errcode = 'check_violation', constraint = 'entries_adjusted_by_name';
  end if;
  return null;
end $$;
create trigger entries_adjusted_by_name after insert on entries referencing new table as added
  for each statement execute function check_adjustments();

create view adjusted_accounts as
  select entity_id, currency, posted from accounts where kind = 'adjustment' and currency is not null;
