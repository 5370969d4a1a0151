import { currencyDecimals } from '#engines/ledger/index'
import { type MovementDirection, movementTable } from '#engines/movement'
import { type Db, sql } from '#runtime/db/db'

/** A transfer from or to an address of an entity. */
export type TransferLink = {
  entityId: string
  direction: MovementDirection
  amountAtomic: bigint
  from: string
  to: string
}

/** Inserts the links of a transfer that was recorded in the same `tx`. */
export const insertEntityTransfers = (
  tx: Db,
  { id, tokenId }: { id: string; tokenId: string },
  links: readonly TransferLink[],
) =>
  tx.run(sql`insert into entity_unified_transfers (entity_id, id, direction, state, blockchain, token_id, amount, from_address,
      to_address, create_date, update_date)
    select l.e, k.id, l.d, k.state, k.blockchain, ${tokenId}::uuid, l.a, l.f, l.o, k.create_date, k.update_date
    from unnest(${links.map(({ entityId }) => entityId)}::uuid[], ${links.map(({ direction }) => direction)}::text[],
      ${links.map(({ amountAtomic }) => amountAtomic.toString())}::numeric[], ${links.map(({ from }) => from)}::text[],
      ${links.map(({ to }) => to)}::text[]) as l(e, d, a, f, o)
    join unified_transfers k on k.id = ${id}`)

/** Brings the links of transfers in line with their change, which no trigger of a table that each server has whole could do. */
export const setEntityTransferState = (
  tx: Db,
  ids: readonly string[],
  { state, mintTxHash, updateDate }: { state: string; mintTxHash: string | null; updateDate: string },
) =>
  tx.run(sql`update entity_unified_transfers set state = ${state}, mint_tx_hash = ${mintTxHash},
    update_date = greatest(update_date, ${updateDate}) where id = any(${ids}::uuid[])`)

/** Transfers of unified balances, of depositors and receivers that are addresses of the entity. */
export const unifiedMovements = movementTable({
  from: sql`entity_unified_transfers m`,
  kinds: { unifiedTransfer: undefined },
  direction: sql`m.direction`,
  state: sql`m.state`,
  states: { open: ['pending', 'confirmed'], done: ['finalized'], failed: ['failed', 'expired'] },
  // As with messages.
  columns: { txHash: sql`m.mint_tx_hash`, decimals: sql`${currencyDecimals}` },
})
