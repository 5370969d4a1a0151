import type { EngineCtx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { suggest } from '#lib/suggest'
import type { LocalChain } from '../chains/index.ts'
import type { SandboxFaucet } from '../faucet/faucet.ts'

/** The parts of a sandbox that the operations of the lab act on. */
export type ControlParts = { ctx: EngineCtx; chains: readonly LocalChain[]; faucet: SandboxFaucet }

export type ChainControl = ControlParts & {
  /** Returns the chain of this name; throws for one that this sandbox does not have. */
  chain(blockchain: string): LocalChain
  /** Runs `work` after the operations that were asked for earlier on the same chain. */
  inTurn<T>(chain: LocalChain, work: () => Promise<T>): Promise<T>
}

const waitingMax = 32

export function openChainControl(parts: ControlParts): ChainControl {
  const queues = new Map<string, { waiting: number; last: Promise<unknown> }>()
  return {
    ...parts,
    chain: (blockchain) => findChain(parts.chains, blockchain),
    inTurn: (chain, work) => {
      const { blockchain } = chain
      const queue = queues.get(blockchain) ?? { waiting: 0, last: Promise.resolve() }
      queues.set(blockchain, queue)
      if (queue.waiting >= waitingMax)
        throw new ApiError(
          'unavailable',
          `${waitingMax} operations wait for ${blockchain} already: try again in a moment.`,
        )
      queue.waiting++
      const done = queue.last.then(work).finally(() => queue.waiting--)
      queue.last = done.catch(() => undefined)
      return done.catch(explainNode(chain))
    },
  }
}

function findChain(chains: readonly LocalChain[], blockchain: string): LocalChain {
  const found = chains.find((chain) => chain.blockchain === blockchain)
  if (found) return found
  const names = chains.map((chain) => chain.blockchain)
  throw invalid({
    at: 'blockchain',
    reason: `is no chain of this sandbox${suggest(blockchain, names) || `: choose from ${names.join(', ')}`}`,
    value: blockchain,
    kind: 'notFound',
  })
}

/** Throws the error of a node as one of the API. */
export const explainNode =
  ({ blockchain }: LocalChain) =>
  (error: unknown): never => {
    if (error instanceof ApiError) throw error
    throw new ApiError(
      'unavailable',
      `The node of ${blockchain} did not do it (${messageOf(error)}): GET /sandbox/chains shows its state.`,
    )
  }

/** The first line of a message, without the full stop at its end. */
export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]!.replace(/\.$/, '')
