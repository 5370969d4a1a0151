-- Bundles that a block held and the EntryPoint refused: an operation that spoils bundles goes alone, and then into none.
alter table operations add column failed_bundles integer not null default 0;
