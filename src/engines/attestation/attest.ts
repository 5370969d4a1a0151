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
import { type AttestationKey, listAttestationKeys, signAttestation } from '#custody/index'
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
  claimMessages,
  type DelayReason,
  findMessageHeights,
  type MessageHeights,
  type MessageRow,
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
  const heights = await findMessageHeights(ctx.database, source.blockchain)
  if (!heights) return false
  const fastTo = await agreedFastHeight(ctx, source, heights)
  const { claimed, signed, forwards } = await ctx.database.tx((tx) =>
    attestBatch(ctx, tx, source, { heights, fastTo }),
  )
  failpoint('after-message-commit')
  for (const blockchain of forwards) await announceWork(ctx.database, blockchain)
  return claimed === batchMax && signed > 0
}

/** Blocks whose contents are compared at a time. */
const comparedMax = 16

/** The highest block whose burns may be attested before finality: deep enough, and its contents agreed on by the endpoints. */
async function agreedFastHeight(
  ctx: EngineCtx,
  { chain }: MessageChain,
  { followed, final }: MessageHeights,
): Promise<number> {
  const confirmations = chain.local ? 1 : (chain.network.fastConfirmations ?? chain.confirmations)
  const deep = followed - confirmations + 1
  if (chain.local || deep <= final) return deep
  const { blockchain } = chain.network
  const { upTo } = await chain.agreedUpTo(deep, (number) => canonicalHashAt(ctx.database, blockchain, number))
  if (upTo === undefined) return final
  const range = { from: final + 1, to: upTo }
  let agreed = final
  for (const block of await contentHashesBetween(ctx.database, blockchain, range, comparedMax)) {
    if ((await chain.agreedContent(block.hash, block.contentHash)).verdict !== 'agreed') break
    agreed = block.number
  }
  return agreed
}

async function attestBatch(
  ctx: EngineCtx,
  tx: Db,
  source: MessageChain,
  { heights, fastTo }: { heights: MessageHeights; fastTo: number },
): Promise<{ claimed: number; signed: number; forwards: Set<string> }> {
  const { blockchain } = source
  const { final } = heights
  const due = await claimMessages(tx, blockchain, { final, fastTo, limit: batchMax })
  const forwards = new Set<string>()
  if (due.length === 0) return { claimed: 0, signed: 0, forwards }
  const key = await attesterKey(ctx, tx)
  if (!key) return { claimed: 0, signed: 0, forwards }
  let signed = 0
  for (const message of due) {
    if (!(await lockCanonical(tx, blockchain, message.blockHash!))) continue
    const execution = await executionOf(ctx, tx, source, message, message.blockNumber! <= final)
    if (!execution) continue
    await attest(ctx, tx, message, execution, key)
    signed += 1
    const destination = messageChains(ctx).find(({ domain }) => domain === message.destinationDomain)
    if (message.forwards && destination) forwards.add(destination.blockchain)
  }
  failpoint('before-message-commit')
  return { claimed: due.length, signed, forwards }
}

/** The oldest key in use: a further one is made known to the contracts first, and signs when this one is retired. */
async function attesterKey(ctx: EngineCtx, tx: Db): Promise<AttestationKey | undefined> {
  const keys = await listAttestationKeys(tx, 'message')
  const key = keys.findLast(({ retiredDate }) => retiredDate === null)
  if (!key)
    raiseAlarm(
      ctx.log,
      'message-key-missing',
      {},
      'cross-chain messages wait, because no key signs them: make one with bezant attestation-keys create',
    )
  return key
}

type Execution = { finalityThreshold: number; feeAtomic: bigint; expirationBlock: bigint }

/** The finality and the fee with which a message is attested now; `undefined` while it has to wait for its block to be final. */
async function executionOf(
  ctx: EngineCtx,
  tx: Db,
  source: MessageChain,
  message: MessageRow,
  isFinal: boolean,
): Promise<Execution | undefined> {
  const asksFast = message.fast && message.delayReason === null && !message.reattest
  if (asksFast) {
    const delay = await delayOf(ctx, tx, source, message)
    if (!delay) {
      const fee = message.amount === null ? 0n : fastFee(source.chain, message.amount)
      return {
        finalityThreshold: confirmedThreshold,
        feeAtomic: withForward(message, fee),
        expirationBlock: await lastBlockOf(ctx, tx, message),
      }
    }
    await setDelay(tx, message.id, delay)
  }
  if (!isFinal) return undefined
  return {
    finalityThreshold: finalizedThreshold,
    feeAtomic: message.reattest ? 0n : withForward(message, 0n),
    expirationBlock: 0n,
  }
}

/** The reason why a burn is not attested before it is final; a message of another contract has nothing to lose and to pay. */
async function delayOf(
  { config }: EngineCtx,
  tx: Db,
  { chain }: MessageChain,
  { id, amount, maxFee }: MessageRow,
): Promise<DelayReason | undefined> {
  if (amount === null || maxFee === null) return undefined
  if (maxFee < fastFee(chain, amount)) return 'insufficient_fee'
  const max = config.fastAllowanceAtomic
  if (amount > max / allowanceParts) return 'amount_above_max'
  const taken = await takeAllowance(tx, config.crosschainEnvironment, { id, amount, max })
  return taken ? undefined : 'insufficient_allowance_available'
}

/** The fee with that for the delivery, where one is asked for and the burn allows it. */
function withForward({ forwards, maxFee, amount }: MessageRow, fee: bigint): bigint {
  const total = fee + BigInt(forwardFees.med)
  return forwards && maxFee !== null && total <= maxFee && total < (amount ?? 0n) ? total : fee
}

/** The last block of the destination in which a fast attestation counts; 0, for no end, where this server does not follow it. */
async function lastBlockOf(ctx: EngineCtx, tx: Db, { destinationDomain }: MessageRow): Promise<bigint> {
  const destination = messageChains(ctx).find(({ domain }) => domain === destinationDomain)
  const head = destination && (await canonicalHead(tx, destination.blockchain))
  if (!destination || !head) return 0n
  return BigInt(head.number + Math.ceil(deliverableMs / destination.chain.network.blockTimeMs))
}

async function attest(
  ctx: EngineCtx,
  tx: Db,
  row: MessageRow,
  { finalityThreshold, feeAtomic, expirationBlock }: Execution,
  key: AttestationKey,
): Promise<void> {
  const filled = { nonce: row.nonce as Hex, finalityThresholdExecuted: finalityThreshold }
  const attestedMessage =
    row.amount === null
      ? fillOtherMessage(row.message as Hex, filled)
      : fillMessage(row.message as Hex, { ...filled, feeExecuted: feeAtomic, expirationBlock })
  const digest = messageDigest(attestedMessage)
  const signature = await signAttestation({ ...ctx, db: tx }, { keyId: key.id, subject: row.nonce, digest })
  const attested = {
    attestedMessage,
    attestation: hexOf(signature),
    digest,
    finalityThreshold,
    expirationBlock,
  }
  await setAttested(tx, row.id, attested, ctx.clock.nowMs())
}
