-- Operators list the accounts of their books, newest first.

create index accounts_page on accounts (entity_id, create_date, id);
