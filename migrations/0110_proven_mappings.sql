-- A mapping counts once its wallet has the owner: anybody with the key of a page may claim one, for the owner of another.

-- When the wallet was first seen to move after the claim, or was known to have the owner; null of a claim.
alter table owner_mappings add column bound_date timestamptz(3);
-- The block of the wallet's first successful operation since the claim, which may have added the owner.
alter table owner_mappings add column moved_date timestamptz(3);

-- Wallets of one owner have that owner from their creation on.
update owner_mappings m set bound_date = m.create_date
from modular_wallets w
where w.entity_id = m.entity_id and w.blockchain = m.blockchain and w.address = m.wallet_address
  and jsonb_array_length(coalesce(w.owners -> 'owners', '[]'))
    + jsonb_array_length(coalesce(w.owners -> 'webauthnOwners', '[]')) = 1
  and m.owner in (w.owners -> 'owners' -> 0 ->> 'address',
    (w.owners -> 'webauthnOwners' -> 0 ->> 'publicKeyX') || ':' || (w.owners -> 'webauthnOwners' -> 0 ->> 'publicKeyY'));
-- The others are compared with the chain when their owner next asks for them.
update owner_mappings set moved_date = create_date where bound_date is null;

create index owner_mappings_bound on owner_mappings (entity_id, blockchain, owner, bound_date, id) where bound_date is not null;
create index owner_mappings_moved on owner_mappings (entity_id, blockchain, owner, moved_date, id)
  where bound_date is null and moved_date is not null;
create index owner_mappings_claims on owner_mappings (entity_id, blockchain, wallet_address);
create index owner_mappings_idle on owner_mappings (entity_id, create_date) where bound_date is null and moved_date is null;
