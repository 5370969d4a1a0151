-- The origins of the sites that may show the page of users in a frame.

create table page_origins (
  entity_id uuid not null references entities (id),
  origin text not null check (length(origin) between 1 and 261),
  create_date timestamptz(3) not null,
  primary key (entity_id, origin)
);
-- A browser asks for the page without a key: any entity that lists the origin allows the frame.
create index page_origins_by_origin on page_origins (origin);

revoke update on page_origins from bezant_runtime;
