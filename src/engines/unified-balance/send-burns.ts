/**
 * Burns what is minted. The burns of a batch, the signature and the treasury's transaction commit in one `tx`: a restart neither
 * loses nor repeats one. A batch that reverts is taken apart, and its burns are tried alone, ever less often.
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
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { UnifiedChain } from './networks.ts'
import { signAsBurnSigner } from './sign.ts'
import {
  burnsWait,
  claimBurns,
  type DueBurn,
  feesOf,
  lockFailedBurns,
  markSent,
  postponeBurn,
} from './store/burns.ts'

const batchMax = 8
/** Bytes of the intents of a batch: nodes refuse transactions above 128 KiB, and one intent can have 4 KiB of hook data. */
const batchBytesMax = 96 * 1_024
const failedMax = 100

const firstDelayMs = 2_000
const longestDelayMs = 3_600_000

/** Sends the burns of one source that are due; returns whether there may be more. */
export async function sendBurns(
  ctx: EngineCtx,
  unified: UnifiedChain,
  gasFaucet: GasFaucet | undefined,
): Promise<boolean> {
  await takeApart(ctx, unified)
  const { blockchain, chain } = unified
  if (!(await burnsWait(ctx.database, blockchain))) return false
  const treasury = await openPlatformPayer(ctx, chain, gasFaucet, () =>
    raiseAlarm(
      ctx.log,
      'burns-unpaid',
      { blockchain },
      'minted transfers wait to be burned: set BEZANT_CROSSCHAIN_ENTITY to the entity whose treasury pays',
    ),
  )
  if (!treasury) return false
  const sent = await ctx.database.tx((tx) => sendBatch(ctx, tx, unified, treasury))
  failpoint('after-burn-commit')
  if (sent) await announceWork(ctx.database, blockchain)
  return sent
}

async function sendBatch(
  ctx: EngineCtx,
  tx: Db,
  unified: UnifiedChain,
  treasury: TreasuryRow,
): Promise<boolean> {
  const nowMs = ctx.clock.nowMs()
  const due = await claimBurns(tx, nowMs, unified.blockchain, batchMax)
  const first = due[0]
  if (!first) return false
  const batch = batchOf(first, due)
  const id = newId(nowMs)
  const payload = await payloadOf(ctx, tx, unified, batch)
  const signature = await signAsBurnSigner(ctx, tx, `burn:${id}`, payloadDigest(bytesOf(payload)))
  await submitPlatformCall(ctx, tx, unified.chain, treasury, {
    actor: 'unified-balance',
    requestId: id,
    id,
    refId: `burn ${id}`,
    call: unified.crosschain.burnCall(payload, hexOf(signature)),
  })
  for (const burn of batch) await markSent(tx, burn, id, treasury.entityId)
  failpoint('before-burn-commit')
  return true
}

/** The burns that go together. One that failed goes alone, so that it takes no others down with it. */
function batchOf(first: DueBurn, due: readonly DueBurn[]): readonly DueBurn[] {
  if (first.failures > 0) return [first]
  let bytes = 0
  return due.filter(({ failures, intents }) => {
    if (failures > 0 || (bytes > 0 && bytes + intents.length > batchBytesMax)) return false
    bytes += intents.length
    return true
  })
}

async function payloadOf(
  ctx: EngineCtx,
  tx: Db,
  { crosschain }: UnifiedChain,
  batch: readonly DueBurn[],
): Promise<Hex> {
  const burns = []
  for (const burn of batch) {
    const feesAtomic = await feesOf(tx, burn.transferId, burn.entry)
    burns.push({ intents: burn.intents, signature: await signatureOf(ctx, tx, burn), feesAtomic })
  }
  return crosschain.burnPayload(burns)
}

/** The signature that the wallet contract takes. It asks no contract, so one that changed its mind stops no burn. */
async function signatureOf(ctx: EngineCtx, tx: Db, { signature, digest }: DueBurn): Promise<Hex> {
  if (!digest) return hexOf(signature)
  return hexOf(await signAsBurnSigner(ctx, tx, `intents:${hexOf(digest)}`, hexOf(digest)))
}

/** Takes up the burns of transactions that ended without effect. */
async function takeApart(ctx: EngineCtx, { blockchain }: UnifiedChain): Promise<void> {
  const failed = await ctx.database.tx(async (tx) => {
    const rows = await lockFailedBurns(tx, blockchain, failedMax)
    for (const row of rows) {
      const delayMs = Math.min(firstDelayMs * 2 ** Math.min(row.failures, 20), longestDelayMs)
      await postponeBurn(tx, row, formatInstant(ctx.clock.nowMs() + delayMs))
    }
    return rows
  })
  for (const { transferId, batchId, failure } of failed)
    raiseAlarm(
      ctx.log,
      'burn-failed',
      { blockchain, transferId, transactionId: batchId, state: failure.state, reason: failure.reason },
      'the burn of a minted transfer failed and is tried again',
    )
}
