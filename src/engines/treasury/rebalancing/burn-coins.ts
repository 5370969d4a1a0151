import type { Chain } from '#chains/chain'
import { wordOfAddress } from '#chains/crosschain/native-address'
import { bookedAmount, tokenAddress } from '#chains/network'
import { WalletFrozen } from '#custody/freezes/index'
import type { EngineCtx, EntityCtx } from '#engines/ctx'
import { highestComplete } from '#engines/indexer/index'
import { InsufficientFunds } from '#engines/ledger/holds/index'
import { announceWork, submitFromTreasury } from '#engines/transactions/index'
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
import { hasTransaction } from '../store/platform-transactions.ts'
import type { TreasuryRow } from '../store/treasuries.ts'
import { submitTreasuryCall } from '../submit-treasury-call.ts'
import { sweepShortage } from '../sweeping/sweep.ts'
import { requireTreasury, signatoryOf, treasuryCoins } from '../treasuries.ts'
import { coinsWaitMs } from '../wait-limit.ts'
import { requireEnd } from './ends.ts'
import { type RequiredAmount, shortageOf } from './open-rebalancing.ts'
import {
  endingOf,
  findPolicy,
  lockOpen,
  postponeRebalancing,
  type Rebalancing,
  type RebalancingRef,
  rebalancingsToBurn,
  setApproving,
  setBurning,
  setFailed,
} from './store.ts'

const batchMax = 50

/** Brings the rebalancings that leave a chain closer to their burn, each in a `tx` of its own. True when there may be more. */
export async function burnCoins(
  ctx: EngineCtx,
  chain: Chain,
  gasFaucet: GasFaucet | undefined,
  required: RequiredAmount,
): Promise<boolean> {
  const { blockchain } = chain.network
  const completeTo = await highestComplete(ctx.database, blockchain)
  const due = await rebalancingsToBurn(ctx.database, blockchain, completeTo, batchMax)
  // Until then a step may have a transaction that this database does not know.
  if (due.length === 0 || (await journalsAreAwaited(ctx.database))) return false
  const costAtomic = await transactionCost(chain)
  for (const ref of due) {
    try {
      await moveOn(ctx, { chain, completeTo, costAtomic, gasFaucet, required }, ref)
    } catch (error) {
      if (!isPassing(error))
        ctx.log.error(
          { err: error, ...ref, blockchain },
          'cannot move coins to another chain yet; will retry',
        )
      await postponeRebalancing(ctx.database, ref, errorRestMs)
    }
  }
  return due.length === batchMax
}

const errorRestMs = 5_000

/** Whether the error is transient: other payments took the coins, a chain is halted, or the entity is frozen. */
const isPassing = (error: unknown) =>
  error instanceof InsufficientFunds || error instanceof ApiError || error instanceof WalletFrozen

type Round = {
  chain: Chain
  completeTo: number
  costAtomic: bigint
  gasFaucet: GasFaucet | undefined
  required: RequiredAmount
}

/** The end of one step: transactions to announce, coins to sweep first, or a treasury that is low on gas. */
type StepDone = { submitted?: true; sweeps?: Rebalancing; lowOnGas?: TreasuryRow; failed?: string }

async function moveOn(ctx: EngineCtx, round: Round, ref: RebalancingRef): Promise<void> {
  const { chain, gasFaucet, required } = round
  const { blockchain } = chain.network
  const done = await ctx.database.tx(async (tx): Promise<StepDone> => {
    const row = await lockOpen(tx, ref)
    if (!row) return {}
    const step = await takeStep(actingFor(ctx, tx, row), round, row)
    if (step.submitted) failpoint('before-rebalancing-commit')
    return step
  })
  if (done.failed !== undefined)
    raiseAlarm(
      ctx.log,
      'rebalancing-failed',
      { ...ref, blockchain, reason: done.failed },
      'coins were not moved to another chain: disbursements there go on waiting',
    )
  if (done.lowOnGas) await refillGas(ctx, chain, done.lowOnGas, gasFaucet)
  if (done.sweeps) {
    const { entityId, id, sourceTokenId: tokenId, amount } = done.sweeps
    const coins = { entityId, id, blockchain, tokenId }
    const reserve = (await findPolicy(ctx.database, entityId))?.reserve ?? 0n
    await sweepShortage(ctx, chain, coins, async (tx) => (await required(tx, coins)) + amount + reserve)
  }
  if (!done.submitted) return
  failpoint('after-rebalancing-commit')
  await announceWork(ctx.database, blockchain)
}

async function takeStep(ctx: EntityCtx, round: Round, row: Rebalancing): Promise<StepDone> {
  const { entityId, id } = row
  const { completeTo } = round
  if (row.status === 'burning') {
    const ending = await endingOf(ctx.db, entityId, id, completeTo)
    return ending?.ok === false ? fail(ctx, row, ending.reason) : {}
  }
  const given =
    row.approvalId === null ? undefined : await endingOf(ctx.db, entityId, row.approvalId, completeTo)
  if (given?.ok === false) return fail(ctx, row, given.reason)
  if (row.approvalId !== null && !given) return {}
  // After a restore from a backup the burn may exist although it is not recorded here.
  if (given && (await hasTransaction(ctx.db, row))) {
    await setBurning(ctx.db, row, formatInstant(ctx.nowMs))
    return {}
  }
  const obstacle = await obstacleOf(ctx, round, row)
  if (obstacle !== undefined) return fail(ctx, row, obstacle)
  const treasury = await requireTreasury(ctx, entityId, round.chain.network)
  const gas = await treasuryGas(ctx.db, treasury, round.costAtomic)
  if (gas === 'none') return { ...(await rest(ctx, round, row)), lowOnGas: treasury }
  if (!(await hasCoins(ctx, round, treasury, row))) return { ...(await rest(ctx, round, row)), sweeps: row }
  await (given ? burn : approve)(ctx, treasury, row)
  return { submitted: true, ...(gas === 'low' && { lowOnGas: treasury }) }
}

async function fail(ctx: EntityCtx, row: Rebalancing, reason: string): Promise<StepDone> {
  const { entityId, id: resourceId } = row
  await setFailed(ctx.db, row, reason, formatInstant(ctx.nowMs))
  await recordChanges(ctx.db, ctx.nowMs, [
    { entityId, actor, type: 'rebalancing.failed', resourceId, data: { reason } },
  ])
  return { failed: reason }
}

const waitedMs = ({ createDate }: Rebalancing, nowMs: number) => nowMs - parseInstant(createDate)!

/** Maximum time to collect the coins of a burn: another chain may have them. */
const collectingMsMax = 3_600_000

/** On a local chain the sweep that it waits for is mined at once. */
const sweepRestLocalMs = 100

async function rest(ctx: EntityCtx, { chain }: Round, row: Rebalancing): Promise<StepDone> {
  await postponeRebalancing(
    ctx.db,
    row,
    chain.local ? sweepRestLocalMs : deferralMsOf(waitedMs(row, ctx.nowMs)),
  )
  return {}
}

/** The reason for which nothing is burned any more: the coins do not come together, or they are not needed. */
async function obstacleOf(
  ctx: EntityCtx,
  { required }: Round,
  row: Rebalancing,
): Promise<string | undefined> {
  if (waitedMs(row, ctx.nowMs) > (row.status === 'collecting' ? collectingMsMax : coinsWaitMs))
    return 'the treasury did not get the coins together in time'
  const policy = await findPolicy(ctx.db, row.entityId)
  if (!policy || policy.messageMax < row.amount) return 'the policy of the entity no longer allows it'
  requireEnd(ctx, row.blockchain)
  return (await shortageOf(ctx.db, row, required)) > 0n
    ? undefined
    : 'no disbursement lacks the coins any more'
}

/** Whether the treasury has the amount beside the reserve and what its own disbursements wait for. */
async function hasCoins(
  ctx: EntityCtx,
  { required }: Round,
  treasury: TreasuryRow,
  { entityId, sourceBlockchain: blockchain, sourceTokenId: tokenId, amount }: Rebalancing,
): Promise<boolean> {
  const kept = (await findPolicy(ctx.db, entityId))?.reserve ?? 0n
  const own = await required(ctx.db, { entityId, blockchain, tokenId })
  return (await treasuryCoins(ctx.db, treasury, tokenId)) - own - kept >= amount
}

/** Lets the token messenger take the amount, and no more. */
async function approve(ctx: EntityCtx, treasury: TreasuryRow, row: Rebalancing): Promise<void> {
  const { chain, crosschain, token } = requireEnd(ctx, row.sourceBlockchain)
  const approvalId = newId(ctx.nowMs)
  await setApproving(ctx.db, row, approvalId, formatInstant(ctx.nowMs))
  const call = crosschain.allowBurnCall(tokenAddress(token), row.amount)
  await submitTreasuryCall(ctx, chain, treasury, { id: approvalId, refId: `rebalancing ${row.id}`, call })
}

/** Burns the amount, which is held until then, for the treasury on the other chain, which alone can deliver the message. */
async function burn(ctx: EntityCtx, treasury: TreasuryRow, row: Rebalancing): Promise<void> {
  const { chain, crosschain, token } = requireEnd(ctx, row.sourceBlockchain)
  const target = requireEnd(ctx, row.blockchain)
  const { address } = await requireTreasury(ctx, row.entityId, target.chain.network)
  const receiver = wordOfAddress(address)
  await setBurning(ctx.db, row, formatInstant(ctx.nowMs))
  const call = crosschain.depositForBurnCall({
    token: tokenAddress(token),
    amountAtomic: row.amount,
    domain: target.crosschain.domain,
    recipient: receiver,
    caller: receiver,
  })
  await submitFromTreasury(ctx, {
    id: row.id,
    chain,
    call,
    fee: {},
    refId: `rebalancing ${row.id}`,
    shown: {
      operation: 'CONTRACT_EXECUTION',
      contractAddress: call.to,
      abiFunctionSignature: undefined,
      abiParameters: undefined,
      amountText: undefined,
    },
    signatory: signatoryOf(treasury),
    token: {
      tokenId: row.sourceTokenId,
      address: treasury.address,
      amountAtomic: bookedAmount(chain.network, row.sourceTokenId, row.amount),
    },
    // The coins are burned for another treasury of the entity, which alone can have them minted.
    policy: 'exempt',
  })
}
