/**
 * Attests cross-chain messages: the blocks of each chain show what contracts sent, and this engine signs it once it cannot vanish,
 * or earlier within an allowance. It also delivers messages whose burns ask for it. Woken by NOTIFY `block_steps` and
 * `transactions`; any number of processes may run.
 */
import { startChainLoops } from '#engines/chain-loops'
import type { EngineCtx } from '#engines/ctx'
import { followSteps } from '#engines/indexer/index'
import type { GasFaucet } from '#engines/treasury/index'
import { logTrouble, repeat } from '#runtime/loop'
import { attestMessages } from './attest.ts'
import { deliverMessages } from './deliver.ts'
import { followStep } from './follow.ts'
import { messageChainOf } from './networks.ts'

export { burnFees, forwardFees } from './fees.ts'
export { isDomain, type MessageChain, messageChains } from './networks.ts'
export {
  askAgain,
  type MessageQuery,
  type MessageRow,
  messageByDigest,
  messageByNonce,
  messagesBy,
  usedAllowance,
} from './store/messages.ts'

const engine = 'attestation'

/** Starts attesting and delivering on all chains; `stop` waits for running work. `gasFaucet` gives gas on local chains. */
export function startAttestation(ctx: EngineCtx, gasFaucet?: GasFaucet): { stop(): Promise<void> } {
  const feed = followSteps(ctx, engine, (tx, step) => followStep(ctx, tx, step))
  const loops = startChainLoops(ctx, (chain) => {
    const found = messageChainOf(ctx, chain)
    if (!found) return []
    const { blockchain } = found
    const trouble = (what: string) => logTrouble(ctx.log, what, { blockchain })
    return [
      repeat(() => attestMessages(ctx, found), trouble('attesting messages')),
      repeat(() => deliverMessages(ctx, found, gasFaucet), trouble('delivering messages')),
    ]
  })
  return { stop: async () => void (await Promise.all([feed.stop(), loops.stop()])) }
}
