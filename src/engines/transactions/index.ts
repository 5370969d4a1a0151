/**
 * Carries out what customers asked for, exactly once. An accepted transfer is a row; a worker gives it a nonce by
 * inserting the attempt that uses it, with the signed bytes, and sends those bytes until a block holds them. What is
 * not a listed, certain refusal means "maybe sent". Blocks are followed step by step, and taken back when orphaned.
 * Woken by NOTIFY `transactions` and `block_steps`; any number of workers may run.
 */
import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { followSteps, hasFollowed, isHalted } from '#engines/indexer/index'
import { logTrouble, repeat } from '#runtime/loop'
import { hearNotices } from '#runtime/notices'
import { newTurn } from '#runtime/turns/store'
import { stuckFinder } from './care.ts'
import { explainReverts } from './explain.ts'
import { gapFiller } from './fill.ts'
import { followStep } from './follow.ts'
import { type Keeper, startKeeper } from './journal/keeper.ts'
import { replaceWanted } from './replace.ts'
import { sendSigned } from './send.ts'
import { signWaiting } from './sign.ts'
import { announceWork } from './store/transactions.ts'

export { control } from './control.ts'
export { feeAt, feeMaxAtomic, suggestedFees } from './fees.ts'
export { listWorkerJournals, loseWorkerJournal, mergeWorkerJournal } from './journal/operate.ts'
export { type State, states } from './states.ts'
export { queueDepths } from './store/queue.ts'
export {
  announceWork,
  findTransaction,
  type Level,
  listTransactions,
  lowestNonceTransaction,
  type SignedFee,
  type TransactionFilters,
  type TransactionRow,
} from './store/transactions.ts'
export {
  type CallRequest,
  type FeeRequest,
  requireGoingOn,
  submit,
  submitFromTreasury,
  type TreasuryCallRequest,
} from './submit.ts'

const engine = 'transactions'

/**
 * Whether every block that is booked was followed here. Until then what a block shows as spent is still held as well, and
 * a wallet looks poorer than it is.
 */
export const holdsAreSettled = (ctx: EngineCtx, blockchain: string): Promise<boolean> =>
  hasFollowed(ctx.database, engine, blockchain)

/** Starts signing, sending and following on every chain; `tried` as of the journals, `stop` waits for the work under way. */
export function startTransactionWorker(ctx: EngineCtx): { tried: Promise<void>; stop(): Promise<void> } {
  let following: { stop(): Promise<void> } | undefined
  const keeper = startKeeper(ctx, () => {
    following ??= follow(ctx, keeper)
    for (const loop of loops) loop.wake()
  })
  const loops = ctx.chains
    .list()
    .map((chain) => ({ blockchain: chain.network.blockchain, ...chainLoop(ctx, chain, keeper) }))
  const wake = (blockchain: string) => loops.find((loop) => loop.blockchain === blockchain)?.wake()
  const unlisten = hearNotices(ctx, 'transactions', wake)
  return {
    tried: keeper.tried,
    stop: async () => {
      await unlisten()
      await Promise.all(loops.map((loop) => loop.stop()))
      await keeper.stop()
      await following?.stop()
    },
  }
}

/** Waits for the journals like everything else: what they hold is ours, and must not be taken for somebody else's. */
const follow = (ctx: EngineCtx, keeper: Keeper) =>
  followSteps(ctx, engine, async (tx, step) => {
    if (!keeper.isMerged()) throw new Error('blocks are not followed until every journal is merged')
    await followStep(ctx, tx, step)
    // A block makes room in flight, and an orphaned one leaves something to send again.
    await announceWork(tx, step.blockchain)
  })

function chainLoop(ctx: EngineCtx, chain: Chain, keeper: Keeper) {
  const trouble = (what: string) => logTrouble(ctx.log, what, { blockchain: chain.network.blockchain })
  let stopping = false
  const turns = {
    sending: newTurn('sending'),
    signing: newTurn('signing'),
    replacing: newTurn('replacing'),
    explaining: newTurn('explaining reverts'),
  }
  // Each goes on by itself, so that one slow node call does not hold up the others.
  const sending = repeat(async () => {
    const journal = keeper.writer()
    return journal !== undefined && sendSigned(ctx, chain, journal, turns.sending, () => !stopping)
  }, trouble('sending transactions'))
  const maySign = async () =>
    (await keeper.maySign()) && !(await isHalted(ctx.database, chain.network.blockchain))
  const signing = repeat(
    async () => (await maySign()) && signWaiting(ctx, chain, turns.signing, sending.wake),
    trouble('signing transactions'),
  )
  const fillGaps = gapFiller(ctx, chain)
  const careForStuck = stuckFinder(ctx, chain)
  const mending = repeat(async () => {
    if (!(await maySign())) return false
    const filled = await fillGaps()
    const replaced = await replaceWanted(ctx, chain, turns.replacing)
    const cared = await careForStuck()
    const did = filled || replaced || cared
    if (did) for (const loop of [sending, signing]) loop.wake()
    return did
  }, trouble('mending what is under way'))
  const explaining = repeat(() => explainReverts(ctx, chain, turns.explaining), trouble('explaining reverts'))
  const loops = [signing, sending, mending, explaining]
  return {
    wake: () => {
      for (const loop of loops) loop.wake()
    },
    stop: async () => {
      stopping = true
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}
