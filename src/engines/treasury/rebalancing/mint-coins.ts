import type { Chain } from '#chains/chain'
import type { ContractCall } from '#chains/crosschain/crosschain'
import { WalletFrozen } from '#custody/freezes/index'
import type { EngineCtx } from '#engines/ctx'
import { highestComplete } from '#engines/indexer/index'
import { announceWork } from '#engines/transactions/index'
import { journalsAreAwaited } from '#engines/transactions/journal/index'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant, parseInstant } from '#lib/time'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import { deferralMsOf } from '#runtime/turns/store'
import { actingFor, actor } from '../act-for-entity.ts'
import { type GasFaucet, refillGas, transactionCost, treasuryGas } from '../gas.ts'
import { submitTreasuryCall } from '../submit-treasury-call.ts'
import { requireTreasury } from '../treasuries.ts'
import {
  type BurnedRebalancing,
  endingOf,
  lockToMint,
  postponeRebalancing,
  rebalancingsToMint,
  setMinting,
} from './store.ts'

/** The delivery of an attested message. */
type AttestedBurn = { nonce: string; call: ContractCall }

/** Delay before a mint that failed is tried again. */
const failedRestMs = 60_000
const failedRestLocalMs = 2_000
const batchMax = 50

/**
 * Mints what rebalancings burned for a chain. `attestedOf` looks up the message of a burn: `undefined` while it is not attested,
 * or its block is gone.
 */
export async function mintCoins(
  ctx: EngineCtx,
  chain: Chain,
  gasFaucet: GasFaucet | undefined,
  attestedOf: (burned: BurnedRebalancing) => Promise<AttestedBurn | undefined>,
): Promise<boolean> {
  const { blockchain } = chain.network
  const completeTo = await highestComplete(ctx.database, blockchain)
  const due = await rebalancingsToMint(ctx.database, blockchain, completeTo, batchMax)
  const isFull = due.length === batchMax
  // Until then the coins may have a mint that this database does not know.
  if (due.length === 0 || (await journalsAreAwaited(ctx.database))) return false
  for (const burned of due) {
    try {
      await mint(ctx, { chain, completeTo, gasFaucet, isFull }, burned, await attestedOf(burned))
    } catch (error) {
      const { entityId, id } = burned
      if (!(error instanceof ApiError) && !(error instanceof WalletFrozen))
        ctx.log.error({ err: error, entityId, id, blockchain }, 'cannot mint moved coins yet; will retry')
      await rest(ctx, burned)
    }
  }
  return isFull
}

const rest = (ctx: EngineCtx, burned: BurnedRebalancing) =>
  postponeRebalancing(
    ctx.database,
    burned,
    deferralMsOf(ctx.clock.nowMs() - parseInstant(burned.createDate)!),
  )

/**
 * Looked up whenever there is news for the chain at first, and ever less often if no message comes, or if it would keep others out
 * of the batch.
 */
const youngMs = 60_000

async function awaitMessage(ctx: EngineCtx, burned: BurnedRebalancing, isFull: boolean): Promise<void> {
  if (isFull || ctx.clock.nowMs() - parseInstant(burned.createDate)! > youngMs) await rest(ctx, burned)
}

/** `isFull`: the batch may have left others out. */
type MintRound = { chain: Chain; completeTo: number; gasFaucet: GasFaucet | undefined; isFull: boolean }

async function mint(
  ctx: EngineCtx,
  { chain, completeTo, gasFaucet, isFull }: MintRound,
  burned: BurnedRebalancing,
  attested: AttestedBurn | undefined,
): Promise<void> {
  const { entityId, id, blockchain, mintId: failedId } = burned
  if (!attested) return awaitMessage(ctx, burned, isFull)
  const costAtomic = await transactionCost(chain)
  const done = await ctx.database.tx(async (tx) => {
    if (!(await lockToMint(tx, burned, completeTo))) return undefined
    const scope = actingFor(ctx, tx, burned)
    const treasury = await requireTreasury(scope, entityId, chain.network)
    const gas = await treasuryGas(tx, treasury, costAtomic)
    if (gas === 'none') return { treasury, gas, submitted: false }
    const next = newId(scope.nowMs)
    await setMinting(tx, burned, { mintId: next, nonce: attested.nonce }, formatInstant(scope.nowMs))
    await submitTreasuryCall(scope, chain, treasury, {
      id: next,
      refId: `rebalancing ${id}`,
      call: attested.call,
    })
    await recordChanges(tx, scope.nowMs, [
      { entityId, actor, type: 'rebalancing.minting', resourceId: id, data: { transactionId: next } },
    ])
    failpoint('before-mint-commit')
    return { treasury, gas, submitted: true }
  })
  if (!done) return
  if (done.gas !== 'plenty') await refillGas(ctx, chain, done.treasury, gasFaucet)
  if (!done.submitted) return void (await rest(ctx, burned))
  failpoint('after-mint-commit')
  await announceWork(ctx.database, blockchain)
  if (failedId === null) return
  const ending = await endingOf(ctx.database, entityId, failedId, completeTo)
  raiseAlarm(
    ctx.log,
    'rebalancing-stuck',
    { entityId, id, blockchain, transactionId: failedId, reason: ending?.ok === false ? ending.reason : '' },
    'the mint of coins that were burned on another chain failed, and is tried again',
  )
  await postponeRebalancing(ctx.database, burned, chain.local ? failedRestLocalMs : failedRestMs)
}
