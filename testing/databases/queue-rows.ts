/** Queue rows written without the program: their keys are unknown, and no worker can sign for them. */
import { randomUUID } from 'node:crypto'
import type { DisbursementKind } from '#engines/treasury/disbursements/store/disbursements'
import { type Db, raw, sql } from '#runtime/db/db'

export type Row = Record<string, unknown>
/** A row of a tenant, the `index`th of all. */
export type NumberedRow = { entityId: string; index: number }

export const blockchain = 'BASE-SEPOLIA'
export const earlier = '2026-01-01T00:00:00.000Z'

/** Inserts the fields of each row for which the table has columns. */
export async function insertRows(db: Db, table: string, rows: readonly Row[]): Promise<void> {
  const found = await db.all<{ name: string }>(
    sql`select column_name as name from information_schema.columns where table_name = ${table}`,
  )
  const columns = raw(found.flatMap(({ name }) => (name in rows[0]! ? [name] : [])).join(', '))
  await db.run(sql`insert into ${raw(table)} (${columns})
    select ${columns} from jsonb_populate_recordset(null::${raw(table)}, ${JSON.stringify(rows)}::jsonb)`)
}

export const dates = { create_date: earlier, update_date: earlier }
/** Addresses in the order of their creation, sorted before those of all real wallets. */
export const addressOf = ({ index }: NumberedRow) => `0x${index.toString(16).padStart(40, '0')}`
export const idOf = ({ index }: NumberedRow) =>
  `00000000-0000-4000-9000-${index.toString(16).padStart(12, '0')}`
export const keyOf = (made: NumberedRow) => ({ entity_id: made.entityId, id: idOf(made) })

const hashOf = (made: NumberedRow, nonce = 1) =>
  `0x${made.index.toString(16).padStart(60, '0')}${nonce.toString(16).padStart(4, '0')}`

export const transaction = (made: NumberedRow, changes: Row = {}): Row => ({
  ...keyOf(made),
  ...dates,
  blockchain,
  wallet_id: randomUUID(),
  address: addressOf(made),
  transaction_type: 'OUTBOUND',
  custody_type: 'DEVELOPER',
  state: 'CLEARED',
  screened_revision: 0,
  operation: 'TRANSFER',
  ref_id: '',
  call_to: addressOf(made),
  call_value: 0,
  call_data: '\\x',
  ...changes,
})

const attempt = (made: NumberedRow, nonce: number, changes: Row): Row => ({
  ...keyOf(made),
  create_date: earlier,
  transaction_id: idOf(made),
  blockchain,
  address: addressOf(made),
  nonce,
  kind: 'original',
  tx_hash: hashOf(made, nonce),
  raw_transaction: '\\x',
  gas_limit: 21_000,
  max_fee: 1,
  priority_fee: 1,
  state: 'signed',
  fencing_token: 0,
  broadcast_count: 0,
  ...changes,
})

/** A payment intent that waits for its payment. */
export const openIntent = (made: NumberedRow): Row => ({
  ...keyOf(made),
  ...dates,
  type: 'transient',
  currency: 'USD',
  settlement_currency: 'USD',
  chain: 'BASE',
  blockchain,
  merchant_wallet_id: '1',
  decimals: 6,
  amount: 1,
  amount_paid: 0,
  amount_refunded: 0,
  timeline: [],
  status: 'pending',
  expires_on: earlier,
})

/** Inserts transactions under way with nonce 1. */
export async function insertSentTransactions(
  db: Db,
  all: readonly NumberedRow[],
  changes: { attempt?: Row; transaction?: Row } = {},
): Promise<void> {
  const sent = (made: NumberedRow) => ({ tx_hash: hashOf(made), state: 'SENT', ...changes.transaction })
  await insertRows(
    db,
    'transactions',
    all.map((made) => transaction(made, sent(made))),
  )
  await insertRows(
    db,
    'attempts',
    all.map((made) => attempt(made, 1, changes.attempt ?? {})),
  )
}

/** Inserts signed attempts for the nonce below. */
export const insertAttemptsBelow = (db: Db, all: readonly NumberedRow[], changes: Row) =>
  insertRows(
    db,
    'attempts',
    all.map((made) => attempt(made, 0, { id: randomUUID(), ...changes })),
  )

/** Inserts histories of one block each, with their monitors. */
export async function insertHistoryRows(db: Db, all: readonly NumberedRow[]): Promise<void> {
  await insertRows(
    db,
    'event_monitors',
    all.map((made) => ({
      ...keyOf(made),
      ...dates,
      blockchain,
      contract_address: addressOf(made),
      is_enabled: true,
      event_signature: 'Moved()',
      event_signature_hash: hashOf(made),
      event_name: 'Moved',
    })),
  )
  await insertRows(
    db,
    'event_histories',
    all.map((made) => ({
      ...keyOf(made),
      create_date: earlier,
      monitor_id: idOf(made),
      blockchain,
      next_block: 0,
      to_block: 9,
      span: 1,
      fencing_token: 0,
    })),
  )
}

/** A payment by x402 that has no transaction yet. */
export const signedPayment = (made: NumberedRow): Row => ({
  ...keyOf(made),
  blockchain,
  token_address: '0xaa',
  payer: addressOf(made),
  payee: '0xbb',
  amount: '1',
  nonce: `\\x${'00'.repeat(32)}`,
  valid_after: '0',
  valid_before: '1',
  signature: '\\x00',
  of_key: true,
  gas_max: 1,
  send_by: '2100-01-01T00:00:00.000Z',
  create_date: earlier,
})

/** Dollars by wire that wait for their coins, without the money. */
export const waitingWire = (made: NumberedRow): Row => ({
  ...money,
  ...keyOf(made),
  ...dates,
  decimals: 6,
  tracking_ref: '',
  account_number: '',
  address: '0xaa',
  state: 'waiting',
})

/** Approved files of payouts, each with a row that is due. */
export async function insertPayoutBatches(db: Db, all: readonly NumberedRow[]): Promise<void> {
  const batch = (made: NumberedRow): Row => ({
    ...keyOf(made),
    ...dates,
    name: 'salaries',
    state: 'approved',
    content_hash: `\\x${'00'.repeat(32)}`,
    notices: [],
    uploaded_by: 'test',
    approved_by: 'test',
    row_count: 1,
    error_count: 0,
    warning_count: 0,
  })
  const row = (made: NumberedRow): Row => ({
    ...keyOf(made),
    batch_id: idOf(made),
    number: 2,
    cells: {},
    problems: [],
    has_problem: false,
    state: 'waiting',
    next_attempt_at: earlier,
    create_date: earlier,
  })
  await insertRows(db, 'payout_batches', all.map(batch))
  await insertRows(db, 'payout_batch_rows', all.map(row))
}

/** A call of a treasury that carries operations of accounts. */
export const accountCall = (made: NumberedRow): Row => ({
  ...keyOf(made),
  blockchain,
  purpose: 'bundle',
  settled: false,
  create_date: earlier,
})

/** A linked bank account that the bank does not have yet. */
export const unlinkedAccount = (made: NumberedRow): Row => ({
  ...keyOf(made),
  ...dates,
  status: 'pending',
  description: '',
  tracking_ref: idOf(made),
  fingerprint: idOf(made),
  billing_details: '{}',
  bank_address: '{}',
  sealed_number: '\\x31',
  next_attempt_at: earlier,
})

/** The columns of a redemption beside those that all disbursements have. */
const redemptionColumns = {
  bank_account_id: '00000000-0000-4000-8000-0000000000aa',
  bank_account_name: '',
  order_attempt_at: earlier,
}

const unchained = {
  amount: 1,
  currency: 'USD',
  token_id: randomUUID(),
  blockchain,
  next_attempt_at: earlier,
  wallet_id: '1',
}
/** The columns that all money has. */
export const money = { ...unchained, chain: 'BASE' }
const payee = { to_address: '0xaa', submitted: false, status: 'pending' }
/** A waiting row of each kind of disbursement. */
export const disbursementRows: Record<DisbursementKind, { table: string; row: Row }> = {
  payout: { table: 'payouts', row: { ...money, ...payee, recipient_id: randomUUID() } },
  redemption: { table: 'redemptions', row: { ...unchained, ...payee, ...redemptionColumns } },
  transfer: { table: 'transfers', row: { ...money, ...payee, direction: 'out', decimals: 6 } },
  refund: {
    table: 'payments',
    row: {
      ...money,
      submitted: false,
      status: 'pending',
      type: 'refund',
      decimals: 6,
      merchant_wallet_id: '1',
      deposit_address: '0xaa',
    },
  },
}

/** A redemption whose coins have left. */
export const redeemedRow = (made: NumberedRow): Row => ({
  ...disbursementRows.redemption.row,
  ...keyOf(made),
  ...dates,
  status: 'complete',
})

/** A linked bank account that a simulated bank has. */
export const undecidedAccount = (made: NumberedRow): Row => ({
  ...unlinkedAccount(made),
  sealed_number: null,
  bank_due: earlier,
})

export const recipient = (made: NumberedRow): Row => ({
  ...keyOf(made),
  ...dates,
  chain: 'BASE',
  address: addressOf(made),
})
export const recipientAddress = (made: NumberedRow): Row => ({
  ...recipient(made),
  address_tag: '',
  currency: 'USD',
  description: '',
  needs_identity: false,
})
