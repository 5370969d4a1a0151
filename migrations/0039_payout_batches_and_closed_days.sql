-- Payouts from a file: the file is shown as it was understood, and nothing is paid before that is approved.
create table payout_batches (
  entity_id uuid not null,
  id uuid not null,
  name text not null,
  -- `complete`: each row is a payout, or failed to become one.
  state text not null check (state in ('previewed', 'approved', 'complete', 'cancelled')),
  -- SHA-256 of the rows as they were understood: an approval names it.
  content_hash bytea not null check (octet_length(content_hash) = 32),
  -- The senders, for the travel rule: those of every payout.
  identities jsonb,
  -- Findings about the whole file, beside the problems of its rows.
  notices jsonb not null,
  uploaded_by text not null,
  approved_by text,
  -- The request that approved it: that of its payouts in the audit trail.
  approval_request_id text,
  row_count integer not null check (row_count > 0),
  error_count integer not null,
  warning_count integer not null,
  created_count integer not null default 0,
  failed_count integer not null default 0,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  constraint payout_batches_approved_by check ((state in ('approved', 'complete')) <= (approved_by is not null)),
  constraint payout_batches_sound check (approved_by is null or error_count = 0)
);
-- The conditions, which are true of every batch that is looked for, keep these away from checks of foreign keys.
create index payout_batches_page on payout_batches (entity_id, create_date, id) where row_count > 0;
create index payout_batches_same on payout_batches (entity_id, content_hash) where state <> 'cancelled';
create index payout_batches_previewed on payout_batches (entity_id) where state = 'previewed';
create index payout_batches_approved on payout_batches (entity_id, id) where state = 'approved';
revoke delete on payout_batches from bezant_runtime;

create table payout_batch_rows (
  entity_id uuid not null,
  -- The id of its payout, before there is one: a row is paid once, whatever is repeated or restored.
  id uuid not null,
  batch_id uuid not null,
  -- As a spreadsheet numbers it: the header is the first row.
  number integer not null,
  -- The texts of the file by column, and what is wrong with them.
  cells jsonb not null,
  problems jsonb not null,
  has_problem boolean not null,
  -- The payment; null where an error leaves it unknown.
  recipient_id uuid,
  chain text,
  blockchain text,
  to_address text,
  currency text,
  token_id uuid,
  amount numeric(78, 0) check (amount > 0),
  reference text,
  state text not null check (state in ('waiting', 'created', 'failed')),
  error_code integer,
  error_text text,
  -- When a worker may look at it again, in the time of the database.
  next_attempt_at timestamptz not null default now(),
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, batch_id, number),
  foreign key (entity_id, batch_id) references payout_batches (entity_id, id)
);
create index payout_batch_rows_page on payout_batch_rows (entity_id, batch_id, create_date, id);
create index payout_batch_rows_wrong on payout_batch_rows (entity_id, batch_id, create_date, id) where has_problem;
create index payout_batch_rows_waiting on payout_batch_rows (entity_id, batch_id, next_attempt_at, number) where state = 'waiting';
revoke delete on payout_batch_rows from bezant_runtime;

-- For lists of others: how each payout stands.
create view payout_states as select entity_id, id, status, transaction_hash, error_code from payouts;

-- The days whose books are closed, in UTC and business time: their exports never change. One row for the installation.
create table closed_days (
  is_only boolean primary key default true check (is_only),
  -- Postings that begin from now on belong to no day up to this one.
  closed_through date not null,
  -- Every `tx` that could still add to those days has ended.
  final_through date not null,
  check (final_through <= closed_through)
);
revoke delete on closed_days from bezant_runtime;

-- Postings with a date in a day that was closed before they were written: they belong to the first open day.
create table late_postings (
  entity_id uuid not null,
  posting_id uuid not null,
  day date not null,
  primary key (entity_id, posting_id),
  foreign key (entity_id, posting_id) references postings (entity_id, id)
);
create index late_postings_of_day on late_postings (entity_id, day, posting_id);
create trigger late_postings_append_only before update or delete on late_postings
  for each statement execute function refuse_change();
revoke update, delete on late_postings from bezant_runtime;

create function note_late_postings() returns trigger language plpgsql as $$
declare
  through date;
begin
  select closed_through into through from closed_days;
  if through is not null then
    insert into late_postings (entity_id, posting_id, day)
    select entity_id, id, through + 1 from added where (create_date at time zone 'UTC')::date <= through;
  end if;
  return null;
end $$;
create trigger postings_late after insert on postings referencing new table as added
  for each statement execute function note_late_postings();
