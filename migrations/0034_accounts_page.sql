-- Operators list the accounts of their books, newest first. The condition is true of every account: it keeps the index away
-- from checks of foreign keys, which would read all accounts of the entity by it (0021).

create index accounts_page on accounts (entity_id, create_date, id) where kind <> '';
