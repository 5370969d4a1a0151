import { movementTable } from '#engines/movement'
import { sql } from '#runtime/db/db'

const none = sql`null`

/** User operations of modular wallets. What they move is told by the transfers of the same wallet. */
const userOperations = movementTable({
  from: sql`user_operations m`,
  kinds: { userOperation: undefined },
  direction: sql`'out'`,
  state: sql`m.state`,
  states: { open: ['SENT', 'CONFIRMED'], done: ['COMPLETE'], failed: ['FAILED'] },
  columns: { amount: none, tokenId: none, from: sql`m.sender`, to: none, txHash: sql`m.tx_hash` },
  walletId: sql`m.wallet_id`,
  addresses: [sql`m.sender`],
  amountOf: () => undefined,
})

const transfers = movementTable({
  from: sql`modular_transfers m`,
  kinds: { modularTransfer: undefined },
  direction: sql`case m.transfer_type when 'INBOUND_TRANSFER' then 'in' else 'out' end`,
  state: sql`m.state`,
  states: { open: ['CONFIRMED'], done: ['COMPLETE'], failed: ['FAILED'] },
  columns: { txHash: sql`m.tx_hash` },
  walletId: sql`m.wallet_id`,
})

export const modularMovements = [userOperations, transfers]
