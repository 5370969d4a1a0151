import { currencyDecimals } from '#engines/ledger/index'
import { type MovementDirection, movementTable } from '#engines/movement'
import { type Db, sql } from '#runtime/db/db'
import { numeric, type RowOf, table, text, textOf, timestamptz, uuid } from '#runtime/db/table'

const entityTransfers = table('entity_unified_transfers', {
  entityId: uuid,
  id: uuid,
  direction: textOf<MovementDirection>(),
  state: text,
  blockchain: text,
  tokenId: uuid,
  amount: numeric,
  fromAddress: text,
  toAddress: text,
  createDate: timestamptz,
  updateDate: timestamptz,
})

/** A transfer from or to an address of an entity, which begins when the transfer is recorded. */
export type TransferLink = Omit<RowOf<typeof entityTransfers>, 'state' | 'updateDate'>

/** Inserts the links of transfers in the `tx` that records them. */
export const insertEntityTransfers = (tx: Db, links: readonly TransferLink[]) =>
  tx.run(
    entityTransfers.insert(links.map((link) => ({ ...link, state: 'pending', updateDate: link.createDate }))),
  )

/** Brings the links of transfers in line with their change, which no trigger could do where they are on another server. */
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
