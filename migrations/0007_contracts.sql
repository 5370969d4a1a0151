-- Contracts that an entity deployed or imported. A deployment is a transaction: the state, the address and the errors of a
-- deployed contract are those of its transaction, read through a view, so that they cannot differ from it.

create table contracts (
  entity_id uuid not null,
  id uuid not null,
  name text not null,
  description text,
  input_type text not null check (input_type in ('IMPORT', 'BYTECODE', 'TEMPLATE')),
  blockchain text not null,
  archived boolean not null default false,
  verification_status text not null check (verification_status in ('UNVERIFIED', 'VERIFIED')),
  -- The address of an imported contract.
  address text,
  -- The transaction of a deployed contract.
  deployment_id uuid,
  abi_json text,
  functions jsonb not null,
  events jsonb not null,
  source_code jsonb not null,
  -- The contract behind a proxy.
  implementation jsonb,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  check ((input_type = 'IMPORT') = (address is not null)),
  check ((address is null) <> (deployment_id is null))
);
create index contracts_page on contracts (entity_id, create_date, id);
create unique index contracts_imported_once on contracts (entity_id, blockchain, address) where address is not null;
create unique index contracts_deployed_once on contracts (entity_id, deployment_id) where deployment_id is not null;

-- The ABIs of contracts as other parts read them: the engine of transactions decodes reverts with their errors. Two branches,
-- so that each uses its index.
create view contract_interfaces as
  select entity_id, blockchain, address, deployment_id, abi_json, implementation ->> 'abiJson' as implementation_abi_json
  from contracts where address is not null
  union all
  select c.entity_id, c.blockchain, d.contract_address, c.deployment_id, c.abi_json,
    c.implementation ->> 'abiJson'
  from contracts c join deployments d on d.entity_id = c.entity_id and d.id = c.deployment_id;
