import { movementTable } from '#engines/movement'
import { sql } from '#runtime/db/db'

/** Transactions of wallets. Those of the treasury belong to the payouts, transfers, refunds and sweeps that they carry out. */
export const transactionMovements = movementTable({
  from: sql`transactions m`,
  kinds: { transaction: undefined },
  direction: sql`case m.transaction_type when 'INBOUND' then 'in' else 'out' end`,
  state: sql`m.state`,
  states: {
    open: ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'CONFIRMED'],
    stuck: ['STUCK'],
    done: ['COMPLETE'],
    failed: ['FAILED', 'DENIED', 'CANCELLED'],
  },
  columns: {
    amounts: sql`m.amounts`,
    from: sql`coalesce(m.source_address, m.address)`,
    to: sql`coalesce(m.destination_address, m.contract_address)`,
    txHash: sql`m.tx_hash`,
  },
  shown: sql`m.wallet_id is not null and not m.unproven`,
  walletId: sql`m.wallet_id`,
  amountOf: (amount) => ({ column: sql`(m.amounts[1])::numeric`, value: sql`${amount}::numeric` }),
  reference: sql`m.ref_id`,
  indexed: {
    amount: sql`m.amounts[1] ~ '^[0-9]{1,78}([.][0-9]{1,77})?$'`,
    reference: sql`m.ref_id <> ''`,
  },
  addresses: [sql`m.destination_address`, sql`m.source_address`],
  addressed: (address) => [
    sql`m.destination_address = ${address}`,
    sql`m.source_address = ${address} and m.destination_address is distinct from ${address}`,
  ],
})
