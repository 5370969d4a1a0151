import type { EngineCtx } from '#engines/ctx'
import type { ChainActs } from '../../chain-control/index.ts'
import type { LocalChain } from '../../chains/index.ts'
import { createGate } from '../../chains/read-write-lock.ts'
import type { Faults } from '../faults.ts'
import { lackedBy } from '../lacked-acts.ts'
import type { FaultRule } from '../plan-schema.ts'
import { isWord } from '../rules.ts'
import { type BlockFollower, type MinedBlock, openFollower } from './follow-blocks.ts'

type ChainFaultsInput = {
  ctx: EngineCtx
  chains: readonly LocalChain[]
  faults: Faults
  acts: ChainActs
}

/** Faults of chains after a block. Only the chains that a rule may concern are followed. */
type ChainFaults = {
  /** Follows nothing until `resume`, after which a plan that has not changed goes on. */
  pause(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}

export function openChainFaults({ ctx, chains, faults, acts }: ChainFaultsInput): ChainFaults {
  const followers = new Map<LocalChain, BlockFollower>()
  const { alone } = createGate()
  let isPaused = false
  const end = () => Promise.all([...followers.values()].map((follower) => follower.stop()))
  const begin = async () => {
    if (isPaused) return
    const rules = faults.rulesOf('chain')
    for (const chain of chains.filter((each) => rules.some((rule) => concerns(rule, each)))) {
      const known =
        followers.get(chain) ??
        (await openFollower(ctx, chain, (block) => meetBlock({ ctx, faults, acts }, chain, block)))
      followers.set(chain, known)
      known.start()
    }
  }
  faults.onChange(() =>
    alone(async () => {
      await end()
      followers.clear()
      await begin()
    }),
  )
  const pause = () =>
    alone(async () => {
      isPaused = true
      await end()
    })
  const resume = () =>
    alone(async () => {
      isPaused = false
      await begin()
    })
  return { pause, resume, stop: pause }
}

/** Whether a rule is met on a chain: one that lacks what it does goes on as it is. */
const concerns = ({ match = {}, do: act }: FaultRule<'chain'>, { blockchain }: LocalChain) =>
  isWord(match.blockchain, blockchain) && lackedBy(act, blockchain) === undefined

type Meeting = Pick<ChainFaultsInput, 'ctx' | 'faults' | 'acts'>

/** Meets a block with the rules that concern it. Returns the hashes of transactions that the faults made. */
async function meetBlock(
  { ctx, faults, acts }: Meeting,
  chain: LocalChain,
  block: MinedBlock,
): Promise<readonly string[]> {
  const made: string[] = []
  for (const hit of meetChain(faults, chain, block))
    try {
      made.push(...(await doToChain(acts, chain, block, hit)))
    } catch (error) {
      ctx.log.warn({ err: error, blockchain: chain.blockchain }, `the fault ${hit.mark} could not be made`)
    }
  return made
}

const meetChain = (faults: Faults, chain: LocalChain, block: MinedBlock) =>
  faults.meet(
    'chain',
    (rule) => concerns(rule, chain) && transactionsFor(rule, block).length > 0,
    () => ({
      blockchain: chain.blockchain,
      blockNumber: String(block.number),
      blockHash: block.hash,
      txHash: block.transactions.map(({ txHash }) => txHash).join(', '),
    }),
  )

/** The transactions of the block that make a rule concern it: those of an address that it names, or of the platform. */
const transactionsFor = ({ match = {}, entityId }: FaultRule<'chain'>, { transactions }: MinedBlock) =>
  transactions.filter(
    ({ addresses, entityIds }) =>
      (match.address === undefined
        ? entityIds.length > 0
        : addresses.some((address) => isWord(match.address, address))) &&
      (entityId === undefined || entityIds.includes(entityId)),
  )

/** Does what a rule says; what it concerned is noted with the hit. Returns the hashes of transactions that it made. */
async function doToChain(
  acts: ChainActs,
  chain: LocalChain,
  { number, hash }: MinedBlock,
  { rule, note }: ReturnType<typeof meetChain>[number],
): Promise<readonly string[]> {
  const { reorg, baseFee, pause, intervalS, gasLimit } = rule.do
  if (baseFee) {
    const { times, blocks = 1 } = baseFee
    note({ lastBlock: String(number + blocks) })
    await acts.baseFee(chain, times, blocks)
  }
  if (gasLimit !== undefined) await acts.gasLimit(chain, gasLimit)
  if (intervalS !== undefined) await acts.mineEvery(chain, intervalS)
  // Before a reorg: the transactions that return wait then.
  if (pause) await acts.pause(chain)
  if (!reorg) return []
  const { depth = 1, transactions = 'return' } = reorg
  const done = await acts.reorg(chain, { number, hash, depth, transactions })
  if (!done) return []
  const { orphaned, returned, dropped, replaced } = done
  note({
    blockHash: orphaned.join(', '),
    txHash: [...returned, ...dropped, ...replaced.map(({ txHash }) => txHash)].join(', '),
  })
  return replaced.map(({ by }) => by)
}
