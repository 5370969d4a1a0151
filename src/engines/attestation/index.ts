/**
 * Attests cross-chain messages: the blocks of each chain show what contracts sent, and this engine signs it once it cannot vanish,
 * or earlier within an allowance. Where several attesters have to sign, it asks the others. It also delivers messages whose burns
 * ask for it. Woken by NOTIFY `block_steps`, `messages`, `chain_work` and `message_proposals`; any number of processes may run.
 *
 * Domain: the number of a chain in messages between chains. Cross-chain message: what the contracts of one chain tell those of
 * another: a burn there, which is minted here. Attester: the key that signs messages which their chain has confirmed, or a process
 * of its own that has one. Attestation: the signatures of a message, which the contracts of the other chain check. Proposal: a
 * filled message that waits for the signatures of other attesters.
 */

import { startChainLoops } from '#engines/chain-loops'
import type { EngineCtx } from '#engines/ctx'
import { followSteps } from '#engines/indexer/index'
import type { GasFaucet } from '#engines/treasury/index'
import { hearNotices } from '#runtime/pg-notifications'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { type Loop, logTrouble, repeat } from '#runtime/scheduling/loop'
import { startAsking } from './ask.ts'
import { attestMessages } from './attest.ts'
import { attestersOf } from './attesters.ts'
import { completeMessages } from './complete.ts'
import { deliverMessages } from './deliver.ts'
import { followStepForMessages } from './follow.ts'
import { mintRebalancings } from './mint-rebalancings.ts'
import { messageChainOf } from './networks.ts'
import { messageChannel } from './store/messages.ts'
import { proposalChannel } from './store/proposals.ts'

export { askAgain } from './ask-again.ts'
export { bookLoss } from './book-loss.ts'
export { burntToken } from './burnt-token.ts'
export { fastAmountMax } from './execution.ts'
export { burnFees, forwardFees } from './fees.ts'
export { type MessageHistory, readMessageHistory } from './message-history.ts'
export { type MovedToken, movedTokens } from './moved-tokens.ts'
export { type MessageChain, messageChains } from './networks.ts'
export {
  type AskedDelivery,
  type AskedQuote,
  burnTokenOf,
  type FeeCoin,
  fastObstacle,
  nativeFees,
  payeeOf,
  priceBurn,
  quotedSeconds,
  signedQuoteOf,
  usdcFees,
} from './quote-fees.ts'
export { agreeOnMessage, type FastAgreement, type SignatureRequest, signProposed } from './sign.ts'
export { messageMovements } from './store/entity-messages.ts'
export { findLostBurn, type LostBurn, lostBurns } from './store/lost-burns.ts'
export { messagesDeliveredBy } from './store/message-history.ts'
export {
  messageByDigest,
  messageByNonce,
  messagesBy,
  type ShownMessage,
  usedAllowance,
} from './store/messages.ts'

const engine = 'attestation'

/** Records the messages of all chains, and signs none by itself: for an attester that others ask. */
export const startRecordingMessages = (ctx: EngineCtx): Service =>
  followSteps(ctx, engine, (tx, step) => followStepForMessages(ctx, tx, step))

/** Starts attesting and delivering on all chains; `stop` waits for running work. `gasFaucet` gives gas on local chains. */
export function startAttestation(ctx: EngineCtx, gasFaucet?: GasFaucet): Service {
  const recording = startRecordingMessages(ctx)
  const attestingOf = new Map<string, Loop>()
  const unlisten = hearNotices(ctx, messageChannel, (blockchain) => attestingOf.get(blockchain)?.wake())
  const loops = startChainLoops(ctx, (chain) => {
    const found = messageChainOf(ctx, chain)
    if (!found) return []
    const { blockchain } = found
    const trouble = (what: string) => logTrouble(ctx.log, what, { blockchain })
    const attesting = repeat(() => attestMessages(ctx, found), trouble('attesting messages'))
    attestingOf.set(blockchain, attesting)
    return [
      attesting,
      repeat(() => completeMessages(ctx, found), trouble('completing messages')),
      repeat(() => deliverMessages(ctx, found, gasFaucet), trouble('delivering messages')),
      repeat(() => mintRebalancings(ctx, found, gasFaucet), trouble('minting moved coins')),
    ]
  })
  const asking = startAskingAll(ctx)
  return serviceOf([unlisten, recording, loops, asking])
}

/** Starts to ask every other attester for its signatures of proposals. */
function startAskingAll(ctx: EngineCtx): Service {
  const loops = attestersOf(ctx.config).map((attester) => startAsking(ctx, attester))
  if (loops.length === 0) return serviceOf()
  const unlisten = hearNotices(ctx, proposalChannel, () => {
    for (const loop of loops) loop.wake()
  })
  return serviceOf(unlisten, loops)
}
