-- `bezant policy history` looks for the few freezes among all that an entity ever did.

create index audit_of_freezes on audit (entity_id, create_date, id)
  where action in ('entity.frozen', 'entity.unfrozen', 'wallet.frozen', 'wallet.unfrozen');
