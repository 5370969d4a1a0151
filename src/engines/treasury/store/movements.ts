import { type MovementTable, movementColumns } from '#engines/movement'
import { type Db, type Sql, sql } from '#runtime/db/db'

const dates = { createDate: sql`m.create_date`, updateDate: sql`m.update_date` }
const states = { open: ['pending'], done: ['complete'], failed: ['failed'] } as const
const scopeOf = (entityId: string): Sql => sql`m.entity_id = ${entityId}`

/** Payments and refunds. The payer of a refund is the merchant, whose treasury has many addresses. */
const payments: MovementTable = {
  kinds: { payment: sql`m.type = 'payment'`, refund: sql`m.type = 'refund'` },
  states: { open: ['pending', 'confirmed', 'action_required'], done: ['paid'], failed: ['failed'] },
  source: (entityId) => ({
    columns: movementColumns({
      id: sql`m.id`,
      kind: sql`m.type`,
      direction: sql`case m.type when 'payment' then 'in' else 'out' end`,
      state: sql`m.status`,
      amount: sql`m.amount`,
      tokenId: sql`m.token_id`,
      blockchain: sql`m.blockchain`,
      from: sql`m.from_address`,
      to: sql`m.deposit_address`,
      txHash: sql`m.transaction_hash`,
      ...dates,
    }),
    from: sql`payments m`,
    alias: 'm',
    scope: scopeOf(entityId),
  }),
  state: sql`m.status`,
  blockchain: sql`m.blockchain`,
  addressed: (address) => [
    sql`m.deposit_address = ${address}`,
    sql`m.from_address = ${address} and m.deposit_address <> ${address}`,
  ],
  sentAs: (txHash) => sql`m.transaction_hash = ${txHash}`,
}

const payouts: MovementTable = {
  kinds: { payout: undefined },
  states,
  source: (entityId) => ({
    columns: movementColumns({
      id: sql`m.id`,
      kind: sql`'payout'`,
      direction: sql`'out'`,
      state: sql`m.status`,
      amount: sql`m.amount`,
      tokenId: sql`m.token_id`,
      blockchain: sql`m.blockchain`,
      to: sql`m.to_address`,
      txHash: sql`m.transaction_hash`,
      ...dates,
    }),
    from: sql`payouts m`,
    alias: 'm',
    scope: scopeOf(entityId),
  }),
  state: sql`m.status`,
  blockchain: sql`m.blockchain`,
  addressed: (address) => [sql`m.to_address = ${address}`],
  sentAs: (txHash) => sql`m.transaction_hash = ${txHash}`,
}

/** Transfers to the merchant's own addresses, and what arrived at the deposit addresses of the account. */
const transfers: MovementTable = {
  kinds: { transfer: undefined },
  states: { ...states, open: ['pending', 'running'] },
  source: (entityId) => ({
    columns: movementColumns({
      id: sql`m.id`,
      kind: sql`'transfer'`,
      direction: sql`m.direction`,
      state: sql`m.status`,
      amount: sql`m.amount`,
      tokenId: sql`m.token_id`,
      blockchain: sql`m.blockchain`,
      from: sql`m.from_address`,
      to: sql`m.to_address`,
      txHash: sql`m.transaction_hash`,
      ...dates,
    }),
    from: sql`transfers m`,
    alias: 'm',
    scope: scopeOf(entityId),
  }),
  state: sql`m.status`,
  blockchain: sql`m.blockchain`,
  addressed: (address) => [
    sql`m.to_address = ${address}`,
    sql`m.from_address = ${address} and m.to_address <> ${address}`,
  ],
  sentAs: (txHash) => sql`m.transaction_hash = ${txHash}`,
}

/** Money that came by wire: a sandbox mints it to the treasury. */
const deposits: MovementTable = {
  kinds: { deposit: undefined },
  states: { open: ['waiting', 'minting', 'minted'], done: ['complete'], failed: ['failed'] },
  source: (entityId) => ({
    columns: movementColumns({
      id: sql`m.id`,
      kind: sql`'deposit'`,
      direction: sql`'in'`,
      state: sql`m.state`,
      amount: sql`m.amount`,
      currency: sql`m.currency`,
      decimals: sql`m.decimals`,
      blockchain: sql`m.blockchain`,
      to: sql`m.address`,
      txHash: sql`m.transaction_hash`,
      ...dates,
    }),
    from: sql`fiat_deposits m`,
    alias: 'm',
    scope: scopeOf(entityId),
  }),
  state: sql`m.state`,
  blockchain: sql`m.blockchain`,
  // All come to the treasury: its address would name them all.
  addressed: () => [],
  sentAs: (txHash) => sql`m.transaction_hash = ${txHash}`,
}

/** The transaction of a sweep has its id, and the hash is there. */
const sweeps: MovementTable = {
  kinds: { sweep: undefined },
  states,
  source: (entityId) => ({
    columns: movementColumns({
      id: sql`m.id`,
      kind: sql`'sweep'`,
      direction: sql`'internal'`,
      state: sql`m.status`,
      amount: sql`m.amount`,
      tokenId: sql`m.token_id`,
      blockchain: sql`m.blockchain`,
      from: sql`m.from_address`,
      to: sql`m.to_address`,
      txHash: sql`(select t.tx_hash from platform_transactions t where t.entity_id = m.entity_id and t.id = m.id)`,
      ...dates,
    }),
    from: sql`sweeps m`,
    alias: 'm',
    scope: scopeOf(entityId),
  }),
  state: sql`m.status`,
  blockchain: sql`m.blockchain`,
  // All go to the treasury: its address would name them all.
  addressed: (address) => [sql`m.from_address = ${address}`],
  sentAs: (txHash) => sql`m.id = any(array(select t.id from platform_transactions t
    where t.entity_id = m.entity_id and t.tx_hash = ${txHash}))`,
}

export const treasuryMovements: readonly MovementTable[] = [payments, payouts, transfers, deposits, sweeps]

/** Another resource of the same money. */
export type MoneyLink = {
  kind: 'paymentIntent' | 'payment' | 'transfer' | 'sweep'
  id: string
  createDate: string
}

/**
 * The resources beside a payment, refund, transfer or sweep: the intent that was paid, the sweep that took the coins, and the
 * deposits that a sweep took.
 */
export const moneyLinks = (db: Db, entityId: string, id: string) =>
  db.all<MoneyLink>(sql`select 'paymentIntent' as kind, i.id, i.create_date
    from payments p join payment_intents i on i.entity_id = p.entity_id and i.id = p.payment_intent_id
    where p.entity_id = ${entityId} and p.id = ${id}
    union all
    select 'sweep', s.id, s.create_date
    from credits c join sweeps s on s.entity_id = c.entity_id and s.id = c.sweep_id
    where c.entity_id = ${entityId} and c.id = ${id}
    union all
    (select case when exists (select 1 from payments p where p.entity_id = c.entity_id and p.id = c.id)
        then 'payment' else 'transfer' end, c.id, c.create_date
      from credits c where c.entity_id = ${entityId} and c.sweep_id = ${id} order by c.create_date, c.id limit 20)`)
