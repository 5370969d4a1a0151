/** The finality, the fee and the end with which a message is attested. */
import {
  confirmedThreshold,
  fillMessage,
  fillOtherMessage,
  finalizedThreshold,
} from '#chains/crosschain/message'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHead } from '#engines/indexer/index'
import { bytesOf, type Hex } from '#lib/hex'
import type { Db } from '#runtime/db/db'
import { fastFee, forwardFee } from './fees.ts'
import type { MessageChain } from './networks.ts'
import { hasLostBurns } from './store/lost-burns.ts'
import { type DelayReason, type MessageRow, setDelay, takeAllowance } from './store/messages.ts'

/** A fast attestation can be delivered within a day; then it has to be attested again. */
const deliverableMs = 86_400_000
/** One message may take this part of the allowance. */
const allowanceParts = 10n

/** The most that one message burns and is attested before it is final. */
export const fastAmountMax = ({ fastAllowanceAtomic }: EngineCtx['config']): bigint =>
  fastAllowanceAtomic / allowanceParts

/** The chains of a message; this server may not follow the destination. */
export type Route = { source: MessageChain; destination: MessageChain | undefined }

export type Execution = {
  finalityThreshold: number
  feeAtomic: bigint
  /** The part of the fee that pays for the delivery; null without one. */
  forwardFeeAtomic: bigint | null
  expirationBlock: bigint
}

/** The finality and the fee with which a message is attested now; `undefined` while it has to wait for its block to be final. */
export async function executionOf(
  ctx: EngineCtx,
  tx: Db,
  { source, destination }: Route,
  message: MessageRow,
  isFinal: boolean,
): Promise<Execution | undefined> {
  const asksFast = message.fast && message.delayReason === null && !message.reattest
  if (asksFast) {
    const delay = await delayOf(ctx, tx, source, message, isFinal)
    if (!delay) return fastExecution(source, message, await lastBlockOf(tx, destination))
    await setDelay(tx, message.id, delay)
  }
  return isFinal ? finalExecution(message) : undefined
}

/** An attestation before finality, which ends at a block of the destination. */
export function fastExecution(
  { chain }: MessageChain,
  message: MessageRow,
  expirationBlock: bigint,
): Execution {
  const fee = message.amount === null || message.prepaid ? 0n : fastFee(chain, message.amount)
  return { finalityThreshold: confirmedThreshold, ...withForward(message, fee), expirationBlock }
}

export const finalExecution = (message: MessageRow): Execution => ({
  finalityThreshold: finalizedThreshold,
  ...withForward(message, 0n),
  expirationBlock: 0n,
})

/** The message as it is attested. Throws MessageProblem for values that no contract would accept. */
export function fill(row: MessageRow, { finalityThreshold, feeAtomic, expirationBlock }: Execution): Hex {
  const filled = { nonce: row.nonce as Hex, finalityThresholdExecuted: finalityThreshold }
  return row.amount === null
    ? fillOtherMessage(row.message as Hex, filled)
    : fillMessage(row.message as Hex, { ...filled, feeExecuted: feeAtomic, expirationBlock })
}

/** The reason why a burn is not attested before it is final; a message of another contract has nothing to lose and to pay. */
export async function delayOf(
  { config }: EngineCtx,
  tx: Db,
  { chain }: MessageChain,
  { id, amount, maxFee, prepaid }: MessageRow,
  isFinal: boolean,
): Promise<DelayReason | undefined> {
  if (amount === null || maxFee === null) return undefined
  if (!prepaid && maxFee < fastFee(chain, amount)) return 'insufficient_fee'
  const max = config.fastAllowanceAtomic
  if (amount > fastAmountMax(config)) return 'amount_above_max'
  // The allowance bounds what reorgs can cost, and a final burn stays.
  if (isFinal) return undefined
  // A chain that loses blocks may lose the next ones too.
  if (await hasLostBurns(tx, chain.network.blockchain)) return 'insufficient_allowance_available'
  const taken = await takeAllowance(tx, config.crosschainEnvironment, { id, amount, max })
  return taken ? undefined : 'insufficient_allowance_available'
}

/** The fee with that for the delivery, where one is asked for and the burn allows it. */
function withForward(
  { forwards, executes, prepaid, maxFee, amount, message, destinationDomain }: MessageRow,
  feeAtomic: bigint,
): Pick<Execution, 'feeAtomic' | 'forwardFeeAtomic'> {
  const forwardFeeAtomic = forwardFee(destinationDomain, bytesOf(message as Hex).length, executes)
  // The contract that burned took the fees, by a quote of the same table.
  if (prepaid) return { feeAtomic, forwardFeeAtomic: forwards ? forwardFeeAtomic : null }
  const total = feeAtomic + forwardFeeAtomic
  const isPaid = forwards && maxFee !== null && total <= maxFee && total < (amount ?? 0n)
  return isPaid ? { feeAtomic: total, forwardFeeAtomic } : { feeAtomic, forwardFeeAtomic: null }
}

/** The last block of the destination in which a fast attestation counts; 0, for no end, where this server does not follow it. */
export async function lastBlockOf(tx: Db, destination: MessageChain | undefined): Promise<bigint> {
  const head = destination && (await canonicalHead(tx, destination.blockchain))
  if (!destination || !head) return 0n
  return BigInt(head.number + Math.ceil(deliverableMs / destination.chain.network.blockTimeMs))
}
