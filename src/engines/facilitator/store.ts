import type { Address } from '#chains/addresses/types'
import type { TimedAuthorization } from '#chains/facets/authorizations'
import type { PermitScheme, PermitTerms } from '#chains/facets/permits'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import {
  bigint,
  boolean,
  nullable,
  numeric,
  type RowOf,
  table,
  text,
  textOf,
  timestamptz,
  uuid,
} from '#runtime/db/table'
import { type Turn, takeInTurns } from '#runtime/turns/store'

const payments = table('x402_payments', {
  entityId: uuid,
  id: uuid,
  blockchain: text,
  tokenAddress: text,
  payer: text,
  payee: text,
  amount: numeric,
  validAfter: numeric,
  validBefore: numeric,
  ofKey: boolean,
  gasMax: bigint,
  permitScheme: nullable(textOf<PermitScheme>()),
  amountMax: nullable(numeric),
  sender: nullable(text),
  approvalBefore: nullable(numeric),
  createsAccount: boolean,
  submitDate: nullable(timestamptz),
  refusal: nullable(text),
  createDate: timestamptz,
})

/** An authorization of a payer on a chain, or a permit of it, and who asks for its settlement. */
export type SignedPayment = TimedAuthorization & {
  blockchain: string
  token: Address
  /** Of a payment by Permit2; absent where the token itself takes the authorization. */
  permit?: PermitTerms | undefined
  signature: Hex
  /** Whether the key of the payer made the signature. */
  isOfKey: boolean
  /** Whether the transaction creates the account of the payer first: the signature comes with the call that does. */
  createsAccount: boolean
  gasMax: bigint
}

type TransactionOfPayment = {
  state: string | null
  txHash: string | null
  errorReason: string | null
  errorDetails: string | null
}

export type PaymentRow = RowOf<typeof payments> & {
  nonce: Buffer
  signature: Buffer
  approvalSignature: Buffer | null
}

/** A payment with the transaction that settles it; its `state` is null while it has none. */
export type SettledPayment = PaymentRow & TransactionOfPayment

const columns = sql`${payments.columns('p')}, p.nonce, p.signature, p.approval_signature`
const withTransaction = sql`select ${columns}, t.state, t.tx_hash, t.error_reason, t.error_details from x402_payments p
  left join platform_transactions t on t.entity_id = p.entity_id and t.id = p.id`

/** The payment of an authorization, or of a permit, whose number is used once for all tokens. */
export const findPaymentOf = (
  db: Db,
  entityId: string,
  {
    blockchain,
    token,
    from,
    nonce,
    permit,
  }: Pick<SignedPayment, 'blockchain' | 'token' | 'from' | 'nonce' | 'permit'>,
) =>
  db.maybe<SettledPayment>(sql`${withTransaction} where p.entity_id = ${entityId} and p.blockchain = ${blockchain}
    and p.payer = ${from} and p.nonce = ${bytesOf(nonce)}
    and ${permit ? sql`p.permit_scheme is not null` : sql`p.permit_scheme is null and p.token_address = ${token}`}`)

/** The payment of a payer that was taken for an identifier. */
export const findIdentifiedPayment = (db: Db, entityId: string, payer: string, identifier: string) =>
  db.maybe<SettledPayment>(
    sql`${withTransaction} where p.entity_id = ${entityId} and p.payer = ${payer} and p.identifier = ${identifier}`,
  )

/** Lets the payer have another payment for the identifier of this one. */
export const releaseIdentifier = (tx: Db, { entityId, id }: PaymentRef) =>
  tx.run(sql`update x402_payments set identifier = null where entity_id = ${entityId} and id = ${id}`)

export const findSignedPayment = (db: Db, entityId: string, id: string) =>
  db.maybe<SettledPayment>(sql`${withTransaction} where p.entity_id = ${entityId} and p.id = ${id}`)

export const findSignedPayments = (db: Db, refs: readonly PaymentRef[]) =>
  db.all<SettledPayment>(sql`${withTransaction} join unnest(
      ${refs.map(({ entityId }) => entityId)}::uuid[], ${refs.map(({ id }) => id)}::uuid[]) as asked (entity_id, id)
    on p.entity_id = asked.entity_id and p.id = asked.id`)

/**
 * Inserts a payment, to be sent within `withinMs`, unless its authorization or its identifier has one. A payment of nothing has no
 * transaction, and counts as sent.
 */
export const insertPayment = (
  db: Db,
  nowMs: number,
  { entityId, id, withinMs, identifier }: PaymentRef & { withinMs: number; identifier: string | undefined },
  { blockchain, token, from, to, amountAtomic, validAfter, validBefore, permit, ...signed }: SignedPayment,
) =>
  db.run(sql`insert into x402_payments (entity_id, id, blockchain, token_address, payer, payee, amount, nonce, valid_after,
      valid_before, signature, of_key, gas_max, permit_scheme, amount_max, sender, approval_before, approval_signature,
      creates_account, submit_date, identifier, send_by, create_date)
    values (${entityId}, ${id}, ${blockchain}, ${token}, ${from}, ${to}, ${amountAtomic.toString()},
      ${bytesOf(signed.nonce)}, ${validAfter.toString()}, ${validBefore.toString()}, ${bytesOf(signed.signature)},
      ${signed.isOfKey}, ${Number(signed.gasMax)}, ${permit?.scheme ?? null}, ${permit?.maxAtomic.toString() ?? null},
      ${permit?.sender ?? null}, ${permit?.approval?.validBefore.toString() ?? null},
      ${permit?.approval ? bytesOf(permit.approval.signature) : null},
      ${signed.createsAccount}, ${amountAtomic === 0n ? formatInstant(nowMs) : null},
      ${identifier ?? null}, now() + ${withinMs} * interval '1 millisecond', ${formatInstant(nowMs)})
    on conflict do nothing`)

/** Payments that have no transaction yet, round-robin over tenants. */
export function duePayments(db: Db, turn: Turn, blockchain: string, limit: number): Promise<PaymentRef[]> {
  const where = sql`p.blockchain = ${blockchain} and ${isUnsent} and p.next_attempt_at <= now()`
  const take = (entityId: string, max: number) =>
    db.all<PaymentRef>(sql`select p.entity_id, p.id from x402_payments p
    where p.entity_id = ${entityId} and ${where} order by p.next_attempt_at, p.id limit ${max}`)
  return takeInTurns(db, turn, { from: sql`x402_payments p`, where, take }, limit)
}

const isUnsent = sql`p.submit_date is null and p.refusal is null`
const isLate = sql`p.send_by <= now()`

export type PaymentRef = { entityId: string; id: string }

/** Locks a payment that has no transaction yet until the `tx` ends, unless another has locked it. */
export const lockDue = (tx: Db, { entityId, id }: PaymentRef) =>
  tx.maybe<PaymentRow & { isLate: boolean }>(sql`select ${columns}, ${isLate} as is_late from x402_payments p
    where p.entity_id = ${entityId} and p.id = ${id} and ${isUnsent} for update skip locked`)

export const markPaymentSubmitted = (tx: Db, nowMs: number, { entityId, id }: PaymentRef) =>
  tx.run(
    sql`update x402_payments set submit_date = ${formatInstant(nowMs)} where entity_id = ${entityId} and id = ${id}`,
  )

export const postponePayments = (db: Db, entityId: string, ids: readonly string[], ms: number) =>
  db.run(sql`update x402_payments p set next_attempt_at = now() + ${ms} * interval '1 millisecond'
    where p.entity_id = ${entityId} and p.id = any(${ids}::uuid[]) and ${isUnsent}`)

/** Whether this delivery may be answered that the payment is settled: the first one may, however often it asks. */
export const answerSettled = async (
  db: Db,
  { entityId, id }: PaymentRef,
  deliveryId: string,
): Promise<boolean> =>
  (await db.run(sql`update x402_payments set delivery_id = ${deliveryId} where entity_id = ${entityId} and id = ${id}
    and coalesce(delivery_id, ${deliveryId}) = ${deliveryId}`)) > 0

/** Refuses a payment for good unless it has its transaction. */
export const refuseUnsent = (db: Db, { entityId, id }: PaymentRef, refusal: string) =>
  db.run(sql`update x402_payments p set refusal = ${refusal}
    where p.entity_id = ${entityId} and p.id = ${id} and ${isUnsent}`)

/** The refusal of a payment that nothing sent while its seller waited. */
export const unsentInTime =
  'it was not sent in time: look whether the treasury has gas, and whether the workers of this server run'

/** Refuses a payment for good that has no transaction although its time is over. */
export const refuseLate = (db: Db, { entityId, id }: PaymentRef) =>
  db.run(sql`update x402_payments p set refusal = ${unsentInTime}
    where p.entity_id = ${entityId} and p.id = ${id} and ${isUnsent} and ${isLate}`)

/** The authorization of a row, as it was signed. */
export const authorizationOf = (row: PaymentRow): SignedPayment => ({
  blockchain: row.blockchain,
  token: row.tokenAddress as Address,
  from: row.payer as Address,
  to: row.payee as Address,
  amountAtomic: row.amount,
  validAfter: row.validAfter,
  validBefore: row.validBefore,
  nonce: hexOf(row.nonce),
  signature: hexOf(row.signature),
  isOfKey: row.ofKey,
  createsAccount: row.createsAccount,
  gasMax: BigInt(row.gasMax),
  permit: permitOf(row),
})

function permitOf(row: PaymentRow): PermitTerms | undefined {
  const { permitScheme, amountMax, sender, approvalBefore, approvalSignature } = row
  if (permitScheme === null) return undefined
  return {
    scheme: permitScheme,
    maxAtomic: amountMax!,
    ...(sender !== null && { sender: sender as Address }),
    ...(approvalSignature !== null && {
      approval: { validBefore: approvalBefore!, signature: hexOf(approvalSignature) },
    }),
  }
}
