-- The metadata of NFTs, where a setting lets the server fetch it.
create table item_metadata (
  token_id uuid primary key references tokens (id),
  -- The address that it was fetched from; another one makes it outdated.
  uri text not null,
  -- Compact JSON; null while none was fetched.
  content text,
  failure_count integer not null default 0,
  -- When it may be fetched again.
  due_at timestamptz not null
);
