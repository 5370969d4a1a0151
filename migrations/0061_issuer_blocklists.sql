-- The blocklist of a stablecoin's issuer, as its events tell of it, is a list of screening with a version for each block that
-- changes it.

alter table screening_lists drop constraint screening_lists_kind_check;
alter table screening_lists add constraint screening_lists_kind_check
  check (kind in ('sanctions', 'block', 'allow', 'issuer'));
alter table screening_versions drop constraint screening_versions_change_check;
alter table screening_versions add constraint screening_versions_change_check
  check (change in ('import', 'add', 'remove', 'rollback', 'chain'));

-- What each block changed, to undo it when the block is orphaned.
create table issuer_changes (
  blockchain text not null,
  block_hash text not null,
  list text not null references screening_lists (name),
  space text not null,
  address text not null,
  blocked boolean not null,
  primary key (blockchain, block_hash, list, address)
);
