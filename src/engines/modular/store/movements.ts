import { type MovementTable, movementColumns } from '#engines/movement'
import { sql } from '#runtime/db/db'

/** User operations of modular wallets. What they move is told by the transfers of the same wallet. */
const userOperations: MovementTable = {
  kinds: { userOperation: undefined },
  states: { open: ['SENT', 'CONFIRMED'], done: ['COMPLETE'], failed: ['FAILED'] },
  source: (entityId) => ({
    columns: movementColumns({
      id: sql`u.id`,
      kind: sql`'userOperation'`,
      direction: sql`'out'`,
      state: sql`u.state`,
      blockchain: sql`u.blockchain`,
      from: sql`u.sender`,
      txHash: sql`u.tx_hash`,
      createDate: sql`u.create_date`,
      updateDate: sql`u.update_date`,
    }),
    from: sql`user_operations u`,
    alias: 'u',
    scope: sql`u.entity_id = ${entityId}`,
  }),
  state: sql`u.state`,
  blockchain: sql`u.blockchain`,
  addressed: (address) => [sql`u.sender = ${address}`],
  ofWallet: (walletId) => sql`u.wallet_id = ${walletId}`,
  sentAs: (txHash) => sql`u.tx_hash = ${txHash}`,
}

const transfers: MovementTable = {
  kinds: { modularTransfer: undefined },
  states: { open: ['CONFIRMED'], done: ['COMPLETE'], failed: ['FAILED'] },
  source: (entityId) => ({
    columns: movementColumns({
      id: sql`m.id`,
      kind: sql`'modularTransfer'`,
      direction: sql`case m.transfer_type when 'INBOUND_TRANSFER' then 'in' else 'out' end`,
      state: sql`m.state`,
      amount: sql`m.amount`,
      tokenId: sql`m.token_id`,
      blockchain: sql`m.blockchain`,
      from: sql`m.from_address`,
      to: sql`m.to_address`,
      txHash: sql`m.tx_hash`,
      createDate: sql`m.create_date`,
      updateDate: sql`m.update_date`,
    }),
    from: sql`modular_transfers m`,
    alias: 'm',
    scope: sql`m.entity_id = ${entityId}`,
  }),
  state: sql`m.state`,
  blockchain: sql`m.blockchain`,
  addressed: (address) => [
    sql`m.to_address = ${address}`,
    sql`m.from_address = ${address} and m.to_address <> ${address}`,
  ],
  ofWallet: (walletId) => sql`m.wallet_id = ${walletId}`,
  sentAs: (txHash) => sql`m.tx_hash = ${txHash}`,
}

export const modularMovements: readonly MovementTable[] = [userOperations, transfers]
