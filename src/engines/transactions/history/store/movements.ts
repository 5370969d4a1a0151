import { type MovementTable, movementColumns } from '#engines/movement'
import { sql } from '#runtime/db/db'

/** Transactions of wallets. Those of the treasury belong to the payouts, transfers, refunds and sweeps that they carry out. */
export const transactionMovements: MovementTable = {
  kinds: { transaction: undefined },
  states: {
    open: ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'CONFIRMED'],
    stuck: ['STUCK'],
    done: ['COMPLETE'],
    failed: ['FAILED', 'DENIED', 'CANCELLED'],
  },
  source: (entityId) => ({
    columns: movementColumns({
      id: sql`t.id`,
      kind: sql`'transaction'`,
      direction: sql`case t.transaction_type when 'INBOUND' then 'in' else 'out' end`,
      state: sql`t.state`,
      amounts: sql`t.amounts`,
      amount: sql`t.amount`,
      tokenId: sql`t.token_id`,
      blockchain: sql`t.blockchain`,
      from: sql`coalesce(t.source_address, t.address)`,
      to: sql`coalesce(t.destination_address, t.contract_address)`,
      txHash: sql`t.tx_hash`,
      createDate: sql`t.create_date`,
      updateDate: sql`t.update_date`,
    }),
    from: sql`transactions t`,
    alias: 't',
    scope: sql`t.entity_id = ${entityId} and t.wallet_id is not null and not t.unproven`,
  }),
  state: sql`t.state`,
  blockchain: sql`t.blockchain`,
  addressed: (address) => [
    sql`t.destination_address = ${address}`,
    sql`t.source_address = ${address} and t.destination_address is distinct from ${address}`,
  ],
  ofWallet: (walletId) => sql`t.wallet_id = ${walletId}`,
  sentAs: (txHash) => sql`t.tx_hash = ${txHash}`,
}
