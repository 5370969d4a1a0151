import { currencyDecimals } from '#engines/ledger/index'
import { type MovementDirection, movementTable } from '#engines/movement'
import { type Db, type Sql, sql } from '#runtime/db/db'

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
  await tx.run(sql`update entity_messages e set state = ${stateOf(sql`m`)},
      update_date = greatest(e.update_date, m.attested_date, m.received_date)
    from messages m where m.id = e.id and m.nonce = any(${nonces}::text[]) and e.state <> ${stateOf(sql`m`)}`)
}

/** Inserts links; a message that is mined again keeps those that it has. */
export const insertEntityMessages = (tx: Db, links: readonly MessageLink[]) =>
  tx.run(sql`insert into entity_messages (entity_id, id, direction, state, blockchain, token_id, amount, from_address,
      to_address, tx_hash, create_date, update_date)
    select l.e, k.id, l.d, ${stateOf(sql`k`)}, k.blockchain, l.t, k.amount, l.f, l.o, k.tx_hash, l.c, l.c
    from unnest(${links.map(({ entityId }) => entityId)}::uuid[], ${links.map(({ nonce }) => nonce)}::text[],
      ${links.map(({ direction }) => direction)}::text[], ${links.map(({ tokenId }) => tokenId)}::uuid[],
      ${links.map(({ from }) => from)}::text[], ${links.map(({ to }) => to)}::text[],
      ${links.map(({ createDate }) => createDate)}::timestamptz[]) as l(e, n, d, t, f, o, c)
    join messages k on k.nonce = l.n
    on conflict (entity_id, id) do update set direction = excluded.direction, state = excluded.state,
      amount = excluded.amount, from_address = excluded.from_address, to_address = excluded.to_address`)

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
