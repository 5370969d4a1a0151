import { currencyDecimals } from '#engines/ledger/index'
import { type MovementDirection, movementTable } from '#engines/movement'
import { type Db, type Sql, sql } from '#runtime/db/db'
import { numeric, table, text, textOf, timestamptz, uuid } from '#runtime/db/table'

const entityMessages = table('entity_messages', {
  entityId: uuid,
  id: uuid,
  direction: textOf<MovementDirection>(),
  state: text,
  blockchain: text,
  tokenId: uuid,
  amount: numeric,
  fromAddress: text,
  toAddress: text,
  txHash: text,
  createDate: timestamptz,
  updateDate: timestamptz,
})

/** A burn from or to an address of an entity. */
export type MessageLink = {
  entityId: string
  /** Names the message. */
  nonce: string
  direction: MovementDirection
  tokenId: string
  from: string
  to: string
  createDate: string
}

const stateOf = (m: Sql) =>
  sql`state_of_burn(${m}.state, ${m}.received_tx_hash, ${m}.block_hash, ${m}.lost_amount)`

/** Brings the links of messages in line with what was changed in them; every change of a message ends with it. */
export async function followMessages(tx: Db, nonces: readonly string[]): Promise<void> {
  if (nonces.length === 0) return
  const changed = await tx.all<{ id: string; state: string; date: string | null }>(sql`select id,
      ${stateOf(sql`m`)} as state, greatest(attested_date, received_date) as date
    from messages m where nonce = any(${nonces}::text[])`)
  if (changed.length === 0) return
  await tx.run(sql`update entity_messages e set state = n.s, update_date = greatest(e.update_date, n.d)
    from unnest(${changed.map(({ id }) => id)}::uuid[], ${changed.map(({ state }) => state)}::text[],
      ${changed.map(({ date }) => date)}::timestamptz[]) as n(i, s, d)
    where e.id = n.i and e.state <> n.s`)
}

/** Removes the links of messages that are gone. Their foreign key does so as well where one server has both tables. */
export async function removeEntityMessages(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.run(sql`delete from entity_messages where id = any(${ids}::uuid[])`)
}

type LinkedMessage = {
  id: string
  nonce: string
  state: string
  blockchain: string
  amount: bigint
  txHash: string
}

/** Inserts links; a message that is mined again keeps those that it has. */
export async function insertEntityMessages(tx: Db, links: readonly MessageLink[]): Promise<void> {
  const found =
    await tx.all<LinkedMessage>(sql`select id, nonce, ${stateOf(sql`m`)} as state, blockchain, amount, tx_hash
    from messages m where nonce = any(${links.map(({ nonce }) => nonce)}::text[])`)
  const byNonce = new Map(found.map((message) => [message.nonce, message]))
  const rows = links.map(({ nonce, from, to, ...link }) => ({
    ...byNonce.get(nonce)!,
    ...link,
    fromAddress: from,
    toAddress: to,
    updateDate: link.createDate,
  }))
  await tx.run(sql`${entityMessages.insert(rows)}
    on conflict (entity_id, id) do update set direction = excluded.direction, state = excluded.state,
      amount = excluded.amount, from_address = excluded.from_address, to_address = excluded.to_address`)
}

/** Burns that are minted on another chain. The wallet's transaction that burns is a movement of its own. */
export const messageMovements = movementTable({
  from: sql`entity_messages m`,
  kinds: { message: undefined },
  direction: sql`m.direction`,
  state: sql`m.state`,
  states: { open: ['pending', 'attested'], done: ['delivered'], failed: ['lost'] },
  // Messages count in the units of the contract, and the books may count the same coin in others.
  columns: { txHash: sql`m.tx_hash`, decimals: sql`${currencyDecimals}` },
})
