import type { EngineCtx } from '#engines/ctx'
import type { Step } from '#engines/indexer/index'
import { type ObservedCrosschainEvent, observedCrosschainOf } from '#engines/indexer/observed/index'
import { announceWork } from '#engines/transactions/index'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { followMint, followMintsLost, followMintsOfFinality, type MintEvent } from './follow-mints.ts'
import { tellOfDeposits } from './gateway-events.ts'
import { clearedOf } from './hold-deposits.ts'
import { type UnifiedChain, unifiedChainOf } from './networks.ts'
import { batchIdOf } from './settle-payments.ts'
import { addChange, applyChanges, type Changes } from './store/balances.ts'
import { settleBurns } from './store/burns.ts'
import {
  deleteDelegations,
  heldDeposits,
  insertDelegation,
  insertMovement,
  type LogPlace,
  setCounted,
  setHeights,
  takeMovements,
  type UnifiedMovement,
  waitingMovements,
} from './store/movements.ts'
import { completeBatches, confirmBatch, isCountedBatch, reopenBatches } from './store/payments.ts'
import {
  lockExpired,
  lockIntents,
  returnIntents,
  setIntentStates,
  setTransferState,
} from './store/transfers.ts'

/** Number of held deposits that a step screens again. */
const heldMax = 20

/** Applies one step of the feed of a chain to balances, transfers and reservations. */
export async function followStepForUnifiedBalances(ctx: EngineCtx, tx: Db, step: Step): Promise<void> {
  const chain = ctx.chains.find(step.blockchain)
  const unified = chain && unifiedChainOf(chain)
  if (!unified) return
  const changes: Changes = new Map()
  if (step.kind === 'undone') await undo(ctx, tx, step, changes)
  else await apply(ctx, tx, unified, step, changes)
  await applyChanges(tx, changes)
  const { blockchain, blockNumber, finalTo } = step
  const followed = step.kind === 'undone' ? blockNumber - 1 : blockNumber
  await setHeights(tx, { blockchain, followed, final: finalTo })
}

async function apply(
  ctx: EngineCtx,
  tx: Db,
  unified: UnifiedChain,
  step: Step,
  changes: Changes,
): Promise<void> {
  const { blockchain, blockHash, finalTo } = step
  const events = await observedCrosschainOf(tx, blockchain, blockHash)
  for (const event of events) {
    if (!('token' in event) || event.token !== unified.token) continue
    if (event.kind === 'minted') await followMint(ctx, tx, event, changes)
    else if (event.kind === 'paymentsSettled')
      await confirmBatch(tx, ctx.clock.nowMs(), batchIdOf(event.batch), event)
    else if ('batch' in event) await followPayments(tx, event, changes)
    else await followWallet(tx, event, changes)
  }
  const movements = [
    ...(await heldDeposits(tx, blockchain, heldMax)),
    ...(await waitingMovements(tx, blockchain, finalTo)),
  ]
  const cleared = await clearedOf(ctx, tx, movements)
  await count(ctx, tx, cleared, changes)
  await tellOfDeposits(
    ctx,
    tx,
    unified,
    cleared.filter(({ kind }) => kind === 'deposited'),
  )
  await completeBatches(tx, ctx.clock.nowMs(), { blockchain, finalTo }, changes)
  for (const source of await followMintsOfFinality(ctx, tx, unified, finalTo)) await announceWork(tx, source)
  await expire(ctx, tx, step, changes)
}

type PaymentsEvent = Extract<ObservedCrosschainEvent, { batch: string; depositor: string }>
type WalletEvent = Exclude<Extract<ObservedCrosschainEvent, { depositor: string }>, MintEvent | PaymentsEvent>

const placeOf = (event: ObservedCrosschainEvent): LogPlace => {
  const { blockchain, blockHash, blockNumber, blockTime, txHash, logIndex } = event
  return { blockchain, blockHash, blockNumber, blockTime, txHash, logIndex }
}

async function followWallet(tx: Db, event: WalletEvent, changes: Changes): Promise<void> {
  const { depositor } = event
  const place = placeOf(event)
  if ('delegate' in event) {
    await insertDelegation(tx, {
      ...place,
      depositor,
      delegate: event.delegate,
      added: event.kind === 'delegateAdded',
    })
    return
  }
  const { kind, amountAtomic } = event
  const movement: UnifiedMovement = {
    ...place,
    kind,
    depositor,
    amountAtomic,
    feeAtomic: 0n,
    fromWithdrawingAtomic: 0n,
    specHash: null,
    sender: null,
    countedAtomic: 0n,
  }
  if (event.kind === 'deposited') {
    movement.countedAtomic = null
    if (event.sender !== depositor) movement.sender = event.sender ?? null
  }
  // A withdrawal counts as soon as it is seen, which is the safe side: it cannot be spent meanwhile.
  if (kind === 'withdrawalInitiated') movement.countedAtomic = -amountAtomic
  if (event.kind === 'burned') {
    const [intent] = await lockIntents(tx, [event.specHash])
    movement.specHash = event.specHash
    movement.feeAtomic = event.feeAtomic
    movement.fromWithdrawingAtomic = event.fromWithdrawingAtomic
    // The reservation covers a burn until that is final; a burn without one is taken at once.
    movement.countedAtomic = intent?.state === 'reserved' ? null : -event.fromAvailableAtomic
  }
  if (movement.countedAtomic) addChange(changes, movement, movement.countedAtomic)
  await insertMovement(tx, movement)
}

/**
 * Records what a batch of payments moved. The payments of an own batch are reserved, and credited when its block is final. What another
 * server settled with the same contract, or a batch that had failed before, is counted as the chain moved it.
 */
async function followPayments(tx: Db, event: PaymentsEvent, changes: Changes): Promise<void> {
  const isOwn = await isCountedBatch(tx, batchIdOf(event.batch))
  const isDebit = event.kind === 'paymentsDebited'
  const movement: UnifiedMovement = {
    ...placeOf(event),
    kind: isDebit ? 'paid' : 'received',
    depositor: event.depositor,
    amountAtomic: event.amountAtomic,
    feeAtomic: 0n,
    fromWithdrawingAtomic: isDebit ? event.fromWithdrawingAtomic : 0n,
    specHash: null,
    sender: null,
    countedAtomic: isDebit ? (isOwn ? null : -event.fromAvailableAtomic) : isOwn ? 0n : null,
  }
  if (movement.countedAtomic) addChange(changes, movement, movement.countedAtomic)
  await insertMovement(tx, movement)
}

/** Counts deposits, burns and payments whose blocks are final. */
async function count(
  ctx: EngineCtx,
  tx: Db,
  movements: readonly UnifiedMovement[],
  changes: Changes,
): Promise<void> {
  const burned = movements.flatMap(({ specHash }) => specHash ?? [])
  const intents = new Map((await lockIntents(tx, burned)).map((intent) => [intent.specHash, intent]))
  for (const movement of movements) {
    const { kind, amountAtomic, feeAtomic, fromWithdrawingAtomic, specHash } = movement
    if (kind !== 'burned') {
      // The payments of an own payer are reserved as a whole: a part of them came out of its withdrawal.
      const countedAtomic = kind === 'paid' ? fromWithdrawingAtomic : amountAtomic
      await setCounted(tx, movement, countedAtomic)
      addChange(changes, movement, countedAtomic)
      continue
    }
    const intent = intents.get(specHash!)
    const takenAtomic = amountAtomic + feeAtomic - fromWithdrawingAtomic
    const reservedAtomic = intent?.state === 'reserved' ? intent.valueAtomic + intent.feeAtomic : 0n
    await setCounted(tx, movement, reservedAtomic - takenAtomic)
    addChange(changes, movement, reservedAtomic - takenAtomic)
    if (intent && amountAtomic + feeAtomic < intent.valueAtomic + intent.feeAtomic) {
      const { blockchain, depositor, txHash } = movement
      raiseAlarm(
        ctx.log,
        'burn-short',
        { blockchain, depositor, specHash, txHash },
        'a depositor had less than an attested transfer takes: the difference was minted and not burned',
      )
    }
  }
  if (burned.length === 0) return
  await setIntentStates(tx, burned, 'burned')
  await settleBurns(tx, burned)
}

/** Returns the reservations of transfers that can be minted no more. */
async function expire(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, finalTo }: Step,
  changes: Changes,
): Promise<void> {
  const ids = (await lockExpired(tx, blockchain, finalTo)).map(({ id }) => id)
  if (ids.length === 0) return
  for (const intent of await returnIntents(tx, ids))
    addChange(changes, intent, intent.valueAtomic + intent.feeAtomic)
  await setTransferState(tx, ctx.clock.nowMs(), ids, 'expired', null)
}

/** Takes back what an orphaned block did. */
async function undo(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, blockHash }: Step,
  changes: Changes,
): Promise<void> {
  const movements = await takeMovements(tx, blockchain, blockHash)
  const settled: string[] = []
  for (const movement of movements) {
    if (movement.countedAtomic) addChange(changes, movement, -movement.countedAtomic)
    if (movement.specHash !== null && movement.countedAtomic !== null) settled.push(movement.specHash)
  }
  const burned = (await lockIntents(tx, settled)).filter(({ state }) => state === 'burned')
  const reopened = burned.map(({ specHash }) => specHash)
  if (reopened.length > 0) {
    await setIntentStates(tx, reopened, 'reserved')
    await settleBurns(tx, reopened)
  }
  await reopenBatches(tx, ctx.clock.nowMs(), { blockchain, blockHash }, changes)
  await deleteDelegations(tx, blockchain, blockHash)
  await followMintsLost(ctx, tx, blockchain, blockHash)
}
