/** Mints forwarded transfers. The treasury's transaction and its record commit in one `tx`; a revert is final, and shown. */
import type { EngineCtx } from '#engines/ctx'
import { announceWork } from '#engines/transactions/index'
import {
  type GasFaucet,
  gasPriceNow,
  openPlatformPayer,
  submitPlatformCall,
  type TreasuryRow,
} from '#engines/treasury/index'
import { hexOf } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import type { UnifiedChain } from './networks.ts'
import {
  claimForwards,
  delayUncoveredMints,
  failForwards,
  forwardsWait,
  markForwarded,
} from './store/forwards.ts'

const batchMax = 16

/** Submits the mints of forwarded transfers to one destination; returns whether there may be more. */
export async function forwardMints(
  ctx: EngineCtx,
  unified: UnifiedChain,
  gasFaucet: GasFaucet | undefined,
): Promise<boolean> {
  const { blockchain, chain } = unified
  for (const { id, forwardId, reason } of await failForwards(ctx.database, blockchain))
    raiseAlarm(
      ctx.log,
      'forward-failed',
      { blockchain, transferId: id, transactionId: forwardId, reason },
      'the mint of a forwarded transfer failed: its attestation holds until its last block',
    )
  if (!(await forwardsWait(ctx.database, blockchain))) return false
  const price = await gasPriceNow(ctx, chain)
  for (const transferId of await delayUncoveredMints(ctx.database, blockchain, price))
    raiseAlarm(
      ctx.log,
      'forward-costs-more',
      { blockchain, transferId },
      'the mint of a forwarded transfer waits: the gas of the chain costs more than the fee for it',
    )
  const treasury = await openPlatformPayer(ctx, chain, gasFaucet)
  if (!treasury) return false
  const count = await ctx.database.tx((tx) => submitMints(ctx, tx, unified, treasury, price))
  if (count > 0) await announceWork(ctx.database, blockchain)
  return count === batchMax
}

async function submitMints(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, chain, crosschain }: UnifiedChain,
  treasury: TreasuryRow,
  price: bigint,
): Promise<number> {
  const due = await claimForwards(tx, blockchain, price, batchMax)
  for (const { id, payload, signature } of due) {
    const forwardId = newId(ctx.clock.nowMs())
    await submitPlatformCall(ctx, tx, chain, treasury, {
      actor: 'unified-balance',
      requestId: id,
      id: forwardId,
      refId: `mint ${id}`,
      call: crosschain.mintCall(hexOf(payload), hexOf(signature)),
    })
    await markForwarded(tx, id, forwardId, treasury.entityId)
  }
  return due.length
}
