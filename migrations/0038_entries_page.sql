-- Operators read the entries of one account, newest first. An account that all customers share has millions of them, so the date
-- stands beside the account, where an index keeps them in that order. It is the date of the posting.

alter table entries disable trigger entries_append_only;
alter table entries add column create_date timestamptz(3);
update entries e set create_date = p.create_date from postings p where p.entity_id = e.entity_id and p.id = e.posting_id;
alter table entries alter column create_date set not null;
alter table entries enable trigger entries_append_only;

drop index entries_by_account;
create index entries_of_account on entries (entity_id, account_id, create_date, posting_id);

create or replace function entries_join_own_tx() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from added e join postings p on p.entity_id = e.entity_id and p.id = e.posting_id
    where p.written_by <> pg_current_xact_id() or p.create_date <> e.create_date
  ) then
    raise exception 'entries are written with their posting, and have its date' using errcode = 'check_violation';
  end if;
  return null;
end $$;
