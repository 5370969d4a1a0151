-- The ABIs of contracts as other parts read them: the engine of transactions decodes reverts with their errors. Two branches,
-- so that each uses its index.

create view contract_interfaces as
  select entity_id, blockchain, address, deployment_id, abi_json, implementation ->> 'abiJson' as implementation_abi_json
  from contracts where address is not null
  union all
  select c.entity_id, c.blockchain, d.contract_address, c.deployment_id, c.abi_json,
    c.implementation ->> 'abiJson'
  from contracts c join deployments d on d.entity_id = c.entity_id and d.id = c.deployment_id;
