import { currencyDecimals } from '#engines/ledger/index'
import { movementTable } from '#engines/movement'
import { type Db, sql } from '#runtime/db/db'

const none = sql`null`
/** Amounts are in the units of money: those of a token may be smaller. */
const decimals = sql`${currencyDecimals}`
const status = { state: sql`m.status`, states: { open: ['pending'], done: ['complete'], failed: ['failed'] } }

/** Payments and refunds. The payer of a refund is the merchant, whose treasury has many addresses. */
const payments = movementTable({
  from: sql`payments m`,
  kinds: { payment: sql`m.type = 'payment'`, refund: sql`m.type = 'refund'` },
  kind: sql`m.type`,
  direction: sql`case m.type when 'payment' then 'in' else 'out' end`,
  state: sql`m.status`,
  states: { open: ['pending', 'confirmed', 'action_required'], done: ['paid'], failed: ['failed'] },
  columns: { decimals, to: sql`m.deposit_address` },
})

const payouts = movementTable({
  ...status,
  from: sql`payouts m`,
  kinds: { payout: undefined },
  direction: sql`'out'`,
  columns: { decimals, from: none },
  addresses: [sql`m.to_address`],
})

/** Coins that were redeemed at a bank. */
const redemptions = movementTable({
  ...status,
  from: sql`redemptions m`,
  kinds: { redemption: undefined },
  direction: sql`'out'`,
  state: sql`redemption_status(m.status, m.bank_state)`,
  columns: { decimals, from: none },
  // All go to the issuer: its address would name them all.
  addresses: [],
})

/** Transfers to the merchant's own addresses, and what arrived at the deposit addresses of the account. */
const transfers = movementTable({
  from: sql`transfers m`,
  kinds: { transfer: undefined },
  direction: sql`m.direction`,
  state: sql`m.status`,
  states: { ...status.states, open: ['pending', 'running'] },
  columns: { decimals },
})

/** Money that came by wire: a sandbox mints it to the treasury. */
const deposits = movementTable({
  from: sql`fiat_deposits m`,
  kinds: { deposit: undefined },
  direction: sql`'in'`,
  state: sql`m.state`,
  states: { open: ['waiting', 'minting', 'minted'], done: ['complete'], failed: ['failed'] },
  columns: {
    tokenId: none,
    currency: sql`m.currency`,
    decimals,
    from: none,
    to: sql`m.address`,
  },
  // All come to the treasury: its address would name them all.
  addresses: [],
})

/** The transaction of a sweep has its id, and the hash is there. */
const sweeps = movementTable({
  ...status,
  from: sql`sweeps m`,
  kinds: { sweep: undefined },
  direction: sql`'internal'`,
  columns: {
    decimals,
    txHash: sql`(select t.tx_hash from platform_transactions t where t.entity_id = m.entity_id and t.id = m.id)`,
  },
  // All go to the treasury: its address would name them all.
  addresses: [sql`m.from_address`],
  // With the entity as a value: as a column of the sweep, the list of ids would be made anew for each of them.
  sentAs: (txHash, entityId) => sql`m.id = any(array(select t.id from platform_transactions t
    where t.entity_id = ${entityId} and t.tx_hash = ${txHash}))`,
  sentBetween: (from, before, entityId) => sql`m.id = any(array(select t.id from platform_transactions t
    where t.entity_id = ${entityId} and t.tx_hash >= ${from} and t.tx_hash < ${before} limit 100))`,
})

export const treasuryMovements = [payments, payouts, redemptions, transfers, deposits, sweeps]

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
