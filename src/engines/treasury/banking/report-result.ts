import { parseTransactionHash, transactionHashForm } from '#chains/transaction-hash'
import type { EngineCtx, EntityCtx } from '#engines/ctx'
import { currencyDecimals } from '#engines/ledger/index'
import { ApiError, invalid, notFound } from '#lib/errors'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import { acceptWire, correctWire, lockReported, lockReturn, type ReportedWire } from '../deposits/index.ts'
import { sendsTransaction } from '../store/platform-transactions.ts'
import { lockBankAccount, setAccountStatus } from './store/accounts.ts'
import { lockRedemption, type OrderedRedemption, setBankEnding } from './store/orders.ts'

/** Why a bank did not pay, as the interface names it. */
export const bankErrorCodes = [
  'insufficient_funds',
  'transaction_denied',
  'transaction_failed',
  'transaction_returned',
  'bank_transaction_error',
  'fiat_account_limit_exceeded',
  'invalid_bank_account_number',
  'invalid_ach_rtn',
  'invalid_wire_rtn',
  'vendor_inactive',
] as const

type OfAccount = { type: 'account'; entityId: string; id: string; status: 'complete' | 'failed' }

type OfPayout = {
  type: 'payout'
  entityId: string
  id: string
  status: 'complete' | 'failed' | 'returned'
  errorCode?: (typeof bankErrorCodes)[number]
  reason?: string
  trackingRef?: string
  externalRef?: string
  /** The transaction that brought the coins back to the treasury. */
  transactionHash?: string
}

type OfDeposit = {
  type: 'deposit'
  entityId: string
  bankAccountId: string
  /** The name that the bank has for the wire: reported twice, it counts once. */
  reference: string
  amount: bigint
  transactionHash: string
}

/** A report of a bank. */
export type BankResult = OfAccount | OfPayout | OfDeposit

/** The context of a report: a `tx`, and who reports. */
type ReportCtx = EngineCtx & Pick<EntityCtx, 'db' | 'actor' | 'requestId'>

/**
 * Records a result of the bank, each once; throws `bankResultConflict` for one that contradicts an earlier one. Another transaction
 * takes the place of one whose coins have not arrived, so that a wrong hash holds no money back.
 */
export async function reportResult(ctx: ReportCtx, result: BankResult): Promise<void> {
  if (result.type === 'account') await endLinking(ctx, result)
  else if (result.type === 'payout') await endPayout(ctx, result)
  else await receiveDeposit(ctx, result)
  failpoint('before-result-commit')
}

async function endLinking(ctx: ReportCtx, { entityId, id, status }: OfAccount): Promise<void> {
  const account = await lockBankAccount(ctx.db, entityId, id, 'update')
  if (!account) throw notFound('bank account', id, 'bankAccountNotFound')
  if (account.status === status) return
  if (account.status !== 'pending')
    throw conflict(`The bank account ${id} is ${account.status} already: it cannot become ${status}.`)
  const nowMs = ctx.clock.nowMs()
  await setAccountStatus(ctx.db, account, status, formatInstant(nowMs))
  await recordChanges(ctx.db, nowMs, [{ ...by(ctx, account), type: `wire.${status}`, data: { status } }])
}

async function endPayout(ctx: ReportCtx, result: OfPayout): Promise<void> {
  const { entityId, id, status, trackingRef = null, externalRef = null } = result
  const redemption = await lockRedemption(ctx.db, entityId, id)
  if (!redemption) throw notFound('payout', id, 'payoutNotFound')
  if (redemption.bankState === status) return repeatEnding(ctx, redemption, result)
  requireStep(redemption, status)
  const nowMs = ctx.clock.nowMs()
  const errorCode = errorCodeOf(result)
  const ending = { bankState: status, errorCode, trackingRef, externalRef }
  const returnReason = errorCode === 'transaction_returned' ? (result.reason ?? 'Returned by the bank') : null
  await setBankEnding(ctx.db, redemption, { ...ending, returnReason }, formatInstant(nowMs))
  const type = status === 'complete' ? 'redemption.complete' : 'redemption.failed'
  const data = errorCode === null ? { status } : { status, errorCode }
  await recordChanges(ctx.db, nowMs, [{ ...by(ctx, redemption), type, data }])
  if (status !== 'complete') await bringBack(ctx, redemption, result.transactionHash)
}

/** The reason of a result as it is stored. */
const errorCodeOf = ({ status, errorCode = 'transaction_failed' }: OfPayout) =>
  ({ complete: null, failed: errorCode, returned: 'transaction_returned' })[status]

/** Takes a result that the bank has reported before: it says the same, or names the transaction that does bring the coins. */
async function repeatEnding(ctx: ReportCtx, redemption: OrderedRedemption, result: OfPayout): Promise<void> {
  const { id, status, trackingRef, externalRef, transactionHash } = result
  const told = { trackingRef, externalRef, errorCode: errorCodeOf(result) ?? undefined }
  const known = { ...redemption, errorCode: redemption.bankErrorCode }
  for (const name of ['errorCode', 'trackingRef', 'externalRef'] as const)
    if (told[name] !== undefined && told[name] !== known[name])
      throw conflict(
        `The payout ${id} was reported as ${status} with the ${name} ${known[name] ?? 'left out'}: it cannot become ${told[name]}.`,
      )
  const wire = transactionHash === undefined ? undefined : await lockReturn(ctx.db, redemption.entityId, id)
  if (wire) await repeatWire(ctx, wire, transactionHash!)
}

/** Takes a repeated report of a deposit or return: its transaction is the same, or replaces one that has brought no coins. */
async function repeatWire(ctx: ReportCtx, wire: ReportedWire, given: string): Promise<void> {
  const transactionHash = await readForeign(ctx, wire, given)
  if (transactionHash === wire.transactionHash) return
  if (wire.state !== 'minted')
    throw conflict(`The coins of the transaction ${wire.transactionHash} were credited: it stays as it is.`)
  if (!(await correctWire(ctx, wire, transactionHash))) throw alreadyNamed(transactionHash)
}

/** Brings the coins of a redemption back, once: they are credited when they are complete at the treasury. */
async function bringBack(
  ctx: ReportCtx,
  redemption: OrderedRedemption,
  given: string | undefined,
): Promise<void> {
  const { entityId, id, bankAccountId, blockchain, currency, amount } = redemption
  const chain = ctx.chains.find(blockchain)
  if (!chain)
    throw new ApiError(
      'chainNotStarted',
      `This server is not connected to ${blockchain}, where the coins of the payout ${id} come back: connect it, and repeat the result.`,
    )
  const transactionHash = given === undefined ? undefined : await readForeign(ctx, redemption, given)
  const isNew = await acceptWire(ctx, {
    entityId,
    actor: ctx.actor,
    requestId: ctx.requestId,
    network: chain.network,
    currency,
    decimals: currencyDecimals,
    amount,
    trackingRef: '',
    accountNumber: '',
    bankAccountId,
    redemptionId: id,
    transactionHash,
  })
  if (!isNew) throw alreadyNamed(transactionHash)
}

async function receiveDeposit(ctx: ReportCtx, result: OfDeposit): Promise<void> {
  const { entityId, bankAccountId, reference, amount } = result
  // The lock lets reports of one wire take turns.
  const account = await lockBankAccount(ctx.db, entityId, bankAccountId, 'update')
  if (!account) throw notFound('bank account', bankAccountId, 'bankAccountNotFound')
  const known = await lockReported(ctx.db, entityId, reference)
  if (known) {
    if (known.amount !== amount || known.bankAccountId !== bankAccountId)
      throw conflict(`The deposit ${reference} was reported with another amount or bank account.`)
    return repeatWire(ctx, known, result.transactionHash)
  }
  const [place] = ctx.bank?.places(ctx.chains) ?? []
  if (!place) throw new ApiError('chainNotStarted')
  const { blockchain } = place.network
  const transactionHash = await readForeign(ctx, { entityId, blockchain }, result.transactionHash)
  const isNew = await acceptWire(ctx, {
    entityId,
    actor: ctx.actor,
    requestId: ctx.requestId,
    network: place.network,
    currency: place.token.currency!,
    decimals: currencyDecimals,
    amount,
    trackingRef: account.trackingRef,
    accountNumber: ctx.bank?.instructions.beneficiaryBank.accountNumber ?? '',
    bankAccountId,
    bankReference: reference,
    transactionHash,
  })
  if (!isNew) throw alreadyNamed(transactionHash)
}

type TransactionPlace = { entityId: string; blockchain: string }

/** The hash of a transaction in stored form. Coins that a treasury sent to itself are credited already. */
async function readForeign(
  { db }: ReportCtx,
  { entityId, blockchain }: TransactionPlace,
  given: string,
): Promise<string> {
  const txHash = parseTransactionHash(blockchain, given)
  if (txHash === undefined)
    throw invalid({
      at: 'transactionHash',
      reason: `must be the hash of a transaction of ${blockchain}: ${transactionHashForm(blockchain)}`,
      value: given,
      error: 'pattern_mismatch',
    })
  if (await sendsTransaction(db, { entityId, txHash }))
    throw conflict(`The transaction ${txHash} is one of this platform: it brings no coins from outside.`)
  return txHash
}

const alreadyNamed = (transactionHash: string | undefined) =>
  conflict(`The transaction ${transactionHash} brought the coins of another deposit or return.`)

/**
 * A bank decides about what it was sent, and returns what it has completed. A restored server may not know that it was complete: the
 * bank does, and the coins prove the return.
 */
function requireStep({ id, bankState }: OrderedRedemption, status: OfPayout['status']): void {
  const from = status === 'returned' ? ['sending', 'sent', 'complete'] : ['sending', 'sent']
  if (from.includes(bankState)) return
  const present = { none: 'not ordered yet', sending: 'pending', sent: 'pending' } as Record<string, string>
  throw conflict(`The payout ${id} is ${present[bankState] ?? bankState}: it cannot become ${status}.`)
}

const by = ({ actor, requestId }: ReportCtx, { entityId, id }: { entityId: string; id: string }) => ({
  entityId,
  actor,
  requestId,
  resourceId: id,
})

const conflict = (text: string) => new ApiError('bankResultConflict', text)
