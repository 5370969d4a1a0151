/**
 * Attests messages. The filled message, its digest in the signing record and the signature commit in one `tx`, under a lock of the
 * block that holds the message: nothing is signed that an orphaned block sent, as far as this server knows. Before a block is
 * final, a burn is attested for a fee, within an allowance that bounds what a reorg can cost.
 */
import { messageDigest } from '#chains/crosschain/attestation'
import {
  confirmedThreshold,
  fillMessage,
  fillOtherMessage,
  finalizedThreshold,
} from '#chains/crosschain/message'
import { type AttestationKey, attestationKeyInUse, signAttestations } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHashAt, canonicalHead, contentHashesBetween, lockCanonical } from '#engines/indexer/index'
import { announceWork } from '#engines/transactions/index'
import { failpoint } from '#lib/failpoints'
import { type Hex, hexOf } from '#lib/hex'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { fastFee, forwardFees } from './fees.ts'
import { type MessageChain, messageChains } from './networks.ts'
import {
  type AttestedMessage,
  claimMessages,
  type DelayReason,
  fastBlocks,
  findMessageHeights,
  type MessageHeights,
  type MessageRow,
  messagesWait,
  setAttested,
  setDelay,
  takeAllowance,
} from './store/messages.ts'

const batchMax = 50
/** A fast attestation can be delivered within a day; then it has to be attested again. */
const deliverableMs = 86_400_000
/** One message may take this part of the allowance. */
const allowanceParts = 10n

/** Attests the messages of a chain that are due; returns whether there may be more. */
export async function attestMessages(ctx: EngineCtx, source: MessageChain): Promise<boolean> {
  // Every transaction and block wakes this loop, and few of them are of messages.
  if (!(await messagesWait(ctx.database, source.blockchain))) return false
  const heights = await findMessageHeights(ctx.database, source.blockchain)
  if (!heights) return false
  const agreed = await agreedFastBlocks(ctx, source, heights)
  const { claimed, decided, forwards } = await ctx.database.tx((tx) =>
    attestBatch(ctx, tx, source, { heights, agreed }),
  )
  failpoint('after-message-commit')
  for (const blockchain of forwards) await announceWork(ctx.database, blockchain)
  return claimed === batchMax && decided > 0
}

/** Blocks whose contents are compared at a time. */
const comparedMax = 16

/** The blocks whose burns may be attested before finality: deep enough, and their contents agreed on by the endpoints. */
async function agreedFastBlocks(
  ctx: EngineCtx,
  { chain }: MessageChain,
  { followed, final }: MessageHeights,
): Promise<readonly string[]> {
  const { blockchain, fastConfirmations = chain.confirmations } = chain.network
  const to = followed - (chain.local ? 1 : fastConfirmations) + 1
  const blocks = await fastBlocks(ctx.database, blockchain, { from: final + 1, to, limit: comparedMax })
  if (chain.local || blocks.length === 0) return blocks.map(({ hash }) => hash)
  const { upTo = final } = await chain.agreedUpTo(blocks.at(-1)!.number, (number) =>
    canonicalHashAt(ctx.database, blockchain, number),
  )
  const deep = blocks.filter(({ number }) => number <= upTo)
  const agreed = await Promise.all(
    deep.map(async ({ number, hash }) => {
      const range = { from: number, to: number }
      const [block] = await contentHashesBetween(ctx.database, blockchain, range, 1)
      if (block?.hash !== hash) return []
      return (await chain.agreedContent(block.hash, block.contentHash)).verdict === 'agreed' ? [hash] : []
    }),
  )
  return agreed.flat()
}

type Batch = {
  claimed: number
  /** Messages that are attested, or known to wait for finality. */
  decided: number
  /** The chains to which messages are to be delivered. */
  forwards: Set<string>
}

async function attestBatch(
  ctx: EngineCtx,
  tx: Db,
  source: MessageChain,
  { heights, agreed }: { heights: MessageHeights; agreed: readonly string[] },
): Promise<Batch> {
  const { blockchain } = source
  const { final } = heights
  const due = await claimMessages(tx, blockchain, { final, agreed, limit: batchMax })
  const batch: Batch = { claimed: due.length, decided: 0, forwards: new Set() }
  if (due.length === 0) return batch
  const key = await attesterKey(ctx, tx)
  if (!key) return batch
  const destinations = new Map(messageChains(ctx).map((chain) => [chain.domain, chain]))
  const canonical = await lockedAmong(tx, blockchain, due)
  const filled: FilledMessage[] = []
  for (const message of due) {
    if (!canonical.has(message.blockHash!)) continue
    const destination = destinations.get(message.destinationDomain)
    const isFinal = message.blockNumber! <= final
    const execution = await executionOf(ctx, tx, { source, destination }, message, isFinal)
    batch.decided += 1
    if (!execution) continue
    filled.push(fill(message, execution))
    if (execution.forwardFeeAtomic !== null && destination) batch.forwards.add(destination.blockchain)
  }
  await attestAll(ctx, tx, filled, key)
  failpoint('before-message-commit')
  return batch
}

/** The blocks of these messages that are canonical, and stay so until the `tx` ends. */
async function lockedAmong(tx: Db, blockchain: string, due: readonly MessageRow[]): Promise<Set<string>> {
  const canonical = new Set<string>()
  for (const hash of new Set(due.map(({ blockHash }) => blockHash!)))
    if (await lockCanonical(tx, blockchain, hash)) canonical.add(hash)
  return canonical
}

async function attesterKey(ctx: EngineCtx, tx: Db): Promise<AttestationKey | undefined> {
  const key = await attestationKeyInUse(tx, 'message')
  if (!key)
    raiseAlarm(
      ctx.log,
      'message-key-missing',
      {},
      'cross-chain messages wait, because no key signs them: make one with bezant attestation-keys create',
    )
  return key
}

/** The chains of a message; this server may not follow the destination. */
type Route = { source: MessageChain; destination: MessageChain | undefined }

type Execution = {
  finalityThreshold: number
  feeAtomic: bigint
  /** The part of the fee that pays for the delivery; null without one. */
  forwardFeeAtomic: bigint | null
  expirationBlock: bigint
}

/** The finality and the fee with which a message is attested now; `undefined` while it has to wait for its block to be final. */
async function executionOf(
  ctx: EngineCtx,
  tx: Db,
  { source, destination }: Route,
  message: MessageRow,
  isFinal: boolean,
): Promise<Execution | undefined> {
  const asksFast = message.fast && message.delayReason === null && !message.reattest
  if (asksFast) {
    const delay = await delayOf(ctx, tx, source, message, isFinal)
    if (!delay) {
      const fee = message.amount === null ? 0n : fastFee(source.chain, message.amount)
      return {
        finalityThreshold: confirmedThreshold,
        ...withForward(message, fee),
        expirationBlock: await lastBlockOf(tx, destination),
      }
    }
    await setDelay(tx, message.id, delay)
  }
  if (!isFinal) return undefined
  return {
    finalityThreshold: finalizedThreshold,
    ...withForward(message, 0n),
    expirationBlock: 0n,
  }
}

/** The reason why a burn is not attested before it is final; a message of another contract has nothing to lose and to pay. */
async function delayOf(
  { config }: EngineCtx,
  tx: Db,
  { chain }: MessageChain,
  { id, amount, maxFee }: MessageRow,
  isFinal: boolean,
): Promise<DelayReason | undefined> {
  if (amount === null || maxFee === null) return undefined
  if (maxFee < fastFee(chain, amount)) return 'insufficient_fee'
  const max = config.fastAllowanceAtomic
  if (amount > max / allowanceParts) return 'amount_above_max'
  // The allowance bounds what reorgs can cost, and a final burn stays.
  if (isFinal) return undefined
  const taken = await takeAllowance(tx, config.crosschainEnvironment, { id, amount, max })
  return taken ? undefined : 'insufficient_allowance_available'
}

/** The fee with that for the delivery, where one is asked for and the burn allows it. */
function withForward(
  { forwards, maxFee, amount }: MessageRow,
  feeAtomic: bigint,
): Pick<Execution, 'feeAtomic' | 'forwardFeeAtomic'> {
  const forwardFeeAtomic = BigInt(forwardFees.med)
  const total = feeAtomic + forwardFeeAtomic
  const isPaid = forwards && maxFee !== null && total <= maxFee && total < (amount ?? 0n)
  return isPaid ? { feeAtomic: total, forwardFeeAtomic } : { feeAtomic, forwardFeeAtomic: null }
}

/** The last block of the destination in which a fast attestation counts; 0, for no end, where this server does not follow it. */
async function lastBlockOf(tx: Db, destination: MessageChain | undefined): Promise<bigint> {
  const head = destination && (await canonicalHead(tx, destination.blockchain))
  if (!destination || !head) return 0n
  return BigInt(head.number + Math.ceil(deliverableMs / destination.chain.network.blockTimeMs))
}

type FilledMessage = Omit<AttestedMessage, 'attestation'> & { nonce: string; digest: Hex }

function fill(
  { id, nonce, amount, message }: MessageRow,
  { finalityThreshold, feeAtomic, forwardFeeAtomic, expirationBlock }: Execution,
): FilledMessage {
  const fields = { nonce: nonce as Hex, finalityThresholdExecuted: finalityThreshold }
  const attestedMessage =
    amount === null
      ? fillOtherMessage(message as Hex, fields)
      : fillMessage(message as Hex, { ...fields, feeExecuted: feeAtomic, expirationBlock })
  const digest = messageDigest(attestedMessage)
  return { id, nonce, attestedMessage, digest, finalityThreshold, forwardFeeAtomic, expirationBlock }
}

async function attestAll(
  ctx: EngineCtx,
  tx: Db,
  filled: readonly FilledMessage[],
  { id }: AttestationKey,
): Promise<void> {
  if (filled.length === 0) return
  const requests = filled.map(({ nonce, digest }) => ({ subject: nonce, digest }))
  const signatures = await signAttestations({ ...ctx, db: tx }, id, requests)
  const attested = filled.map((message, index) => ({ ...message, attestation: hexOf(signatures[index]!) }))
  await setAttested(tx, attested, ctx.clock.nowMs())
}
