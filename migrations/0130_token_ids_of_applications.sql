-- Applications carry the ids of these tokens of test networks, as the hosted service has them; this server had ids of its own.
-- The rows of a token that this database knows move to the new id, those of append-only tables too: what they state stays.
-- The names are those that the contracts and the service give. Records of what was shown before keep the earlier ids.

do $$
declare
  -- The id until now, and the one that applications carry.
  moves constant uuid[] := array[
    ['b9b2109a-c05d-5151-b97e-47534f6e5311', '979869da-9115-5f7d-917d-12d434e56ae7'],
    ['fffbd35f-c552-53a6-96ee-c910914385eb', 'c22b378a-843a-59b6-aaf5-bcba622729e6'],
    ['273e2dd9-d5e5-5ab5-b76a-5b5329edc8dc', '0c8f8485-f74f-5e28-80f2-3cc4e80ef71c'],
    ['15686f0f-16b3-5d76-b13c-bcff8a5bf2eb', 'f2ab11ae-53fa-5373-86e5-8b38447b65fb'],
    ['8f2c3563-cae1-57c5-aea3-a9ace5cff15d', '9ad91eb5-e152-5d81-b60e-151d5fd2b3d3']
  ];
  moved uuid[];
  place record;
begin
  -- A table with checks that wait for the commit cannot be altered.
  set constraints all immediate;
  foreach moved slice 1 in array moves loop
    continue when not exists (select from tokens where id = moved[1]);
    -- The two rows must differ in blockchain until the earlier one is gone.
    insert into tokens
      select (jsonb_populate_record(t, jsonb_build_object('id', moved[2], 'blockchain', t.blockchain || ' moved'))).*
      from tokens t where t.id = moved[1];
    for place in
      select c.table_name, c.column_name from information_schema.columns c
        join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
      where c.table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.data_type = 'uuid'
        and c.column_name in ('token_id', 'source_token_id')
      order by c.table_name, c.column_name
    loop
      execute format('alter table %I disable trigger user', place.table_name);
      execute format('update %I set %I = $1 where %I = $2', place.table_name, place.column_name, place.column_name)
        using moved[2], moved[1];
      execute format('alter table %I enable trigger user', place.table_name);
    end loop;
    delete from tokens where id = moved[1];
    update tokens set blockchain = regexp_replace(blockchain, ' moved$', '') where id = moved[2];
  end loop;
end
$$;

update tokens t set name = n.name from (values
    ('BASE-SEPOLIA', null, 'Base Ethereum-Sepolia'),
    ('ARB-SEPOLIA', null, 'Arbitrum Ethereum-Sepolia'),
    ('ETH-SEPOLIA', 'USDC', 'USDC'), ('BASE-SEPOLIA', 'USDC', 'USDC'), ('OP-SEPOLIA', 'USDC', 'USDC'),
    ('MATIC-AMOY', 'USDC', 'USDC'), ('UNI-SEPOLIA', 'USDC', 'USDC'), ('MONAD-TESTNET', 'USDC', 'USDC'),
    ('LINEA-SEPOLIA', 'USDC', 'USDC'), ('ZKS-SEPOLIA', 'USDC', 'USDC'), ('UNI', 'USDC', 'USDC'),
    ('MONAD', 'USDC', 'USDC'), ('ETH', 'EURC', 'Euro Coin')
  ) as n (blockchain, symbol, name)
  where t.blockchain = n.blockchain and t.listed
    and ((n.symbol is null and t.is_native) or (t.symbol = n.symbol and not t.is_native));

update tokens set symbol = 'POL-AMOY' where blockchain = 'MATIC-AMOY' and is_native and listed;
