import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { followSteps, hasProcessedSteps, isHalted } from '#engines/indexer/index'
import type { Db } from '#runtime/db/db'
import { hearNotices } from '#runtime/pg-notifications'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { shareNext } from '#runtime/scheduling/memoize'
import { newTurn } from '#runtime/turns/store'
import { followStepForTransactions } from './follow.ts'
import { type JournalKeeper, startKeeper } from './journal/keeper.ts'
import { type Journals, journalsOf } from './journal/merged-journals.ts'
import type { JournaledResources } from './journal/resources.ts'
import { signWaitingOperations } from './operations/sign-operations.ts'
import { readRevertReasons } from './revert-reasons.ts'
import { screener } from './screen.ts'
import { sendSigned } from './send.ts'
import { stuckBumper } from './sequence/bump-stuck.ts'
import { expirer } from './sequence/expire.ts'
import { gapFiller } from './sequence/fill-gaps.ts'
import { signReplacements } from './sequence/replace.ts'
import { signWaiting } from './sign.ts'
import { announceWork } from './store/transactions.ts'

const engine = 'transactions'

/**
 * Whether this engine has processed every booked block. Until then spent coins are still held as well, and the available
 * balance of a wallet is too low.
 */
export const holdsAreSettled = (db: Db, blockchain: string): Promise<boolean> =>
  hasProcessedSteps(db, engine, blockchain)

/**
 * Starts signing, sending and block processing on every chain. It has started when it has tried to merge
 * the journals. `resources` are restored with their transactions.
 */
export function startTransactionWorker(
  ctx: EngineCtx,
  resources: JournaledResources,
): Service & { journals: Journals } {
  let following: Service | undefined
  let setMerged: () => void = () => undefined
  const whenMerged = new Promise<void>((resolve) => {
    setMerged = resolve
  })
  const keeper = startKeeper(ctx, resources, () => {
    following ??= follow(ctx, keeper)
    setMerged()
    for (const loop of loops) loop.wake()
  })
  const loops = ctx.chains
    .list()
    .map((chain) => ({ blockchain: chain.network.blockchain, ...chainLoop(ctx, chain, keeper) }))
  const wake = (blockchain: string) => loops.find((loop) => loop.blockchain === blockchain)?.wake()
  const unlisten = hearNotices(ctx, 'chain_work', wake)
  const service = serviceOf(unlisten, loops, keeper, () => following?.stop())
  return { ...service, journals: journalsOf(keeper, whenMerged) }
}

/** Waits until every journal is merged: until then, journaled transactions could be taken for foreign ones. */
const follow = (ctx: EngineCtx, keeper: JournalKeeper) =>
  followSteps(ctx, engine, async (tx, step) => {
    if (!keeper.isMerged()) throw new Error('waiting for unmerged journals before following blocks')
    await followStepForTransactions(ctx, tx, step)
    // A block frees room for more in-flight attempts, and an orphaned one leaves attempts to send again.
    await announceWork(tx, step.blockchain)
  })

function chainLoop(ctx: EngineCtx, chain: Chain, keeper: JournalKeeper) {
  const { blockchain } = chain.network
  const trouble = (what: string) => logTrouble(ctx.log, what, { blockchain })
  let stopping = false
  const turns = {
    sending: newTurn('sending'),
    signing: newTurn('signing'),
    signingOperations: newTurn('signing operations'),
    replacing: newTurn('replacing'),
    explaining: newTurn('explaining reverts'),
  }
  // Each loop runs independently, so that one slow node call does not block the others.
  const sending = repeat(async () => {
    const journal = keeper.writer()
    return journal !== undefined && sendSigned(ctx, chain, journal, turns.sending, () => !stopping)
  }, trouble('sending transactions'))
  // Loops that wake together ask once.
  const maySign = shareNext(
    async () => (await keeper.maySign()) && !(await isHalted(ctx.database, blockchain)),
  )
  const signing = repeat(
    async () => (await maySign()) && signWaiting(ctx, chain, turns.signing, sending.wake),
    trouble('signing transactions'),
  )
  const signingOperations = repeat(
    async () =>
      (await maySign()) &&
      signWaitingOperations(ctx, chain, turns.signingOperations, () =>
        announceWork(ctx.database, blockchain),
      ),
    trouble('signing operations'),
  )
  const screenBatch = screener(ctx, chain)
  const screening = repeat(async () => {
    const did = (await maySign()) && (await screenBatch())
    if (did) for (const loop of [signing, signingOperations]) loop.wake()
    return did
  }, trouble('screening transactions'))
  const fillGaps = gapFiller(ctx, chain)
  const bumpStuck = stuckBumper(ctx, chain)
  const expireDead = expirer(ctx, chain)
  const maintaining = repeat(async () => {
    if (!(await maySign())) return false
    const filled = await fillGaps()
    const expired = await expireDead()
    const replaced = await signReplacements(ctx, chain, turns.replacing)
    const bumped = await bumpStuck()
    const did = filled || expired || replaced || bumped
    if (did) for (const loop of [sending, signing]) loop.wake()
    return did
  }, trouble('maintaining transactions in flight'))
  const explaining = repeat(
    () => readRevertReasons(ctx, chain, turns.explaining),
    trouble('explaining reverts'),
  )
  const loops = [screening, signing, signingOperations, sending, maintaining, explaining]
  return {
    wake: () => {
      for (const loop of loops) loop.wake()
    },
    ...serviceOf(() => {
      stopping = true
    }, loops),
  }
}
