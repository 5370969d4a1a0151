import { type Db, jsonOf, sql } from '#runtime/db/db'

type GatewayEventKind = 'deposit.finalized' | 'mint.finalized' | 'mint.forwarded'

/** An event of an address. `subject` names the deposit or the transfer: the same one never makes a second event. */
export type NewGatewayEvent = {
  kind: GatewayEventKind
  blockchain: string
  domain: number
  subject: string
  address: string
  amountAtomic: bigint
  from: string
  to: string
  txHash: string
}

export type GatewayEvent = Omit<NewGatewayEvent, 'domain' | 'subject'> & { id: string }

/** The entities that watch the addresses of these events, which are given by their place. */
export const watchersOf = (tx: Db, events: readonly Pick<NewGatewayEvent, 'address' | 'domain'>[]) =>
  tx.all<{ index: number; entityId: string }>(sql`select distinct asked.index, w.entity_id
    from jsonb_to_recordset(${jsonOf(events.map(({ address, domain }, index) => ({ index, address, domain })))}::jsonb)
      as asked(index integer, address text, domain integer)
    join notification_watchers w on w.addresses @> array[asked.address] and asked.domain = any(w.domains)
    order by w.entity_id, asked.index`)

/** Inserts events of entities that are new; returns their ids. */
export const insertGatewayEvents = (
  tx: Db,
  events: readonly (NewGatewayEvent & { entityId: string; id: string })[],
  at: string,
) =>
  tx.all<{
    entityId: string
    id: string
  }>(sql`insert into gateway_events (entity_id, id, kind, blockchain, subject, address,
      amount, from_address, to_address, tx_hash, create_date)
    select entity_id, id, kind, blockchain, subject, address, amount_atomic, "from", "to", tx_hash, ${at}::timestamptz
    from jsonb_to_recordset(${jsonOf(events)}::jsonb) as row(entity_id uuid, id uuid, kind text, blockchain text, subject text,
      address text, amount_atomic numeric, "from" text, "to" text, tx_hash text)
    order by entity_id, id on conflict do nothing returning entity_id, id`)

export const findGatewayEvent = (db: Db, entityId: string, id: string) =>
  db.maybe<GatewayEvent>(sql`select id, kind, blockchain, address, amount as amount_atomic, from_address as "from",
      to_address as "to", tx_hash from gateway_events where entity_id = ${entityId} and id = ${id}`)
