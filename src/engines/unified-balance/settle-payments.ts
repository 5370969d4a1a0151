/**
 * Settles accepted payments in batches: the wallet contract is told the sums, so that a thousand payments cost one transaction. The
 * batch, the signature and the treasury's transaction commit in one `tx`: a restart neither loses nor repeats one.
 */
import { payloadDigest } from '#chains/crosschain/payload-digest'
import type { EngineCtx } from '#engines/ctx'
import { announceWork } from '#engines/transactions/index'
import {
  type GasFaucet,
  openPlatformPayer,
  submitPlatformCall,
  type TreasuryRow,
} from '#engines/treasury/index'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { UnifiedChain } from './networks.ts'
import { signAsBurnSigner } from './sign.ts'
import { applyChanges } from './store/balances.ts'
import {
  batchIsDue,
  claimPayments,
  expirePayments,
  failBatch,
  hasOpenPayments,
  insertBatch,
  lockFailedBatches,
  type WaitingPayment,
} from './store/payments.ts'

const batchMax = 1_000
/** The most accounts of a batch: each takes up to 30,000 gas, and a transaction has to fit into a block. */
const accountsMax = 200
const failedMax = 100
const expiredMax = 1_000
const delays = { firstDelayMs: 2_000, longestDelayMs: 3_600_000 }

/** Sends a batch of payments of one chain when one is due; returns whether there may be more. */
export async function settleUnifiedPayments(
  ctx: EngineCtx,
  unified: UnifiedChain,
  gasFaucet: GasFaucet | undefined,
): Promise<boolean> {
  const { blockchain, chain } = unified
  // Each followed block comes here, and mostly nothing is open.
  if (!(await hasOpenPayments(ctx.database, blockchain))) return false
  await takeUpFailed(ctx, blockchain)
  await ctx.database.tx(async (tx) =>
    applyChanges(tx, await expirePayments(tx, ctx.clock.nowMs(), blockchain, expiredMax)),
  )
  if (!(await batchIsDue(ctx.database, blockchain, ctx.config.paymentBatchMs))) return false
  const treasury = await openPlatformPayer(ctx, chain, gasFaucet, () =>
    raiseAlarm(
      ctx.log,
      'payments-unsettled',
      { blockchain },
      'accepted payments wait to be settled: set BEZANT_CROSSCHAIN_ENTITY to the entity whose treasury pays',
    ),
  )
  if (!treasury) return false
  const isSent = await ctx.database.tx((tx) => sendBatch(ctx, tx, unified, treasury))
  failpoint('after-payments-commit')
  if (isSent) await announceWork(ctx.database, blockchain)
  return isSent
}

async function sendBatch(
  ctx: EngineCtx,
  tx: Db,
  unified: UnifiedChain,
  treasury: TreasuryRow,
): Promise<boolean> {
  const { blockchain, chain, crosschain, token } = unified
  const batch = batchOfPayments(await claimPayments(tx, blockchain, batchMax))
  if (batch.length === 0) return false
  const nowMs = ctx.clock.nowMs()
  const id = newId(nowMs)
  const payload = crosschain.paymentsPayload({ id: batchNumber(id), token, ...netOf(batch) })
  const signature = await signAsBurnSigner(ctx, tx, `payments:${id}`, payloadDigest(bytesOf(payload)))
  const row = { id, blockchain, payerEntityId: treasury.entityId }
  await insertBatch(
    tx,
    nowMs,
    row,
    batch.map((payment) => payment.id),
  )
  await submitPlatformCall(ctx, tx, chain, treasury, {
    actor: 'unified-balance',
    requestId: id,
    id,
    refId: `payments ${id}`,
    call: crosschain.settlePaymentsCall(payload, hexOf(signature)),
  })
  failpoint('before-payments-commit')
  return true
}

/**
 * The payments that go together: as many as failed alike, ever fewer of them, so that what fails is found. Those of a payer whom the
 * chain took more from than it had go alone.
 */
function batchOfPayments(due: readonly WaitingPayment[]): readonly WaitingPayment[] {
  const [first] = due
  if (!first || first.isOverdrawn) return due.slice(0, 1)
  const accounts = new Set<string>()
  const alike = due.filter(({ payer, payee, failures, isOverdrawn }) => {
    if (failures !== first.failures || isOverdrawn) return false
    const added = [payer, payee].filter((account) => !accounts.has(account))
    if (accounts.size + added.length > accountsMax) return false
    for (const account of added) accounts.add(account)
    return true
  })
  return alike.slice(0, Math.max(1, batchMax >> (2 * Math.min(first.failures, 8))))
}

/** The sums of a batch: of each account, how much more it pays than it receives, or the reverse; in the order of addresses. */
function netOf(batch: readonly WaitingPayment[]) {
  const nets = new Map<string, bigint>()
  for (const { payer, payee, amountAtomic } of batch) {
    nets.set(payer, (nets.get(payer) ?? 0n) - amountAtomic)
    nets.set(payee, (nets.get(payee) ?? 0n) + amountAtomic)
  }
  const parts = [...nets].sort(([left], [right]) => (left < right ? -1 : 1))
  const part = ([depositor, net]: [string, bigint]) => ({ depositor, amountAtomic: net < 0n ? -net : net })
  return {
    debits: parts.filter(([, net]) => net < 0n).map(part),
    credits: parts.filter(([, net]) => net > 0n).map(part),
  }
}

/** The number of a batch at the contract, by its id. */
const batchNumber = (id: string): Hex => `0x${id.replaceAll('-', '').padEnd(64, '0')}`

/** The id of the batch that a number names; of another server, perhaps. */
export const batchIdOf = (number: Hex): string =>
  number.slice(2, 34).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/** Takes up the payments of batches whose transactions ended without effect. */
async function takeUpFailed(ctx: EngineCtx, blockchain: string): Promise<void> {
  const failed = await ctx.database.tx(async (tx) => {
    const rows = await lockFailedBatches(tx, blockchain, failedMax)
    for (const { id } of rows) await failBatch(tx, ctx.clock.nowMs(), id, delays)
    return rows
  })
  for (const { id, state, reason } of failed)
    raiseAlarm(
      ctx.log,
      'payments-failed',
      { blockchain, transactionId: id, state, reason },
      'a batch of accepted payments failed: they are tried again, in ever smaller batches',
    )
}
