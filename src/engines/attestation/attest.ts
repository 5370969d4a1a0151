/**
 * Attests messages. The filled message, its digest in the signing record and the signature commit in one `tx`, under a lock of the
 * block that holds the message: nothing is signed that an orphaned block sent, as far as this server knows. Before a block is
 * final, a burn is attested for a fee, within an allowance that bounds what a reorg can cost. Where several attesters have to
 * sign, the message waits for the others as a proposal.
 */
import { messageDigest } from '#chains/crosschain/attestation'
import { type AttestationKey, attestationKeyInUse, signAttestations } from '#custody/installation/index'
import type { EngineCtx } from '#engines/ctx'
import { isHalted, lockCanonical } from '#engines/indexer/index'
import { announceWork } from '#engines/transactions/index'
import { type Hex, hexOf } from '#lib/hex'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { failpoint } from '#runtime/scheduling/failpoints'
import { agreedBlocks, fastRange } from './agreement.ts'
import { attestersOf } from './attesters.ts'
import { type Execution, executionOf, fill } from './execution.ts'
import { type MessageChain, messageChains } from './networks.ts'
import {
  type AttestedMessage,
  claimMessages,
  type FilledMessage,
  fastBlocks,
  heightsOfWaiting,
  type MessageHeights,
  type MessageRow,
  setAttested,
} from './store/messages.ts'
import { dropLateProposals, insertProposal } from './store/proposals.ts'

const batchMax = 50
/** While the database records one batch, another is signed. */
const batchesAtOnce = 2
/** Blocks whose contents are compared at a time. */
const comparedMax = 16
/** An attestation before finality that takes longer is none: its message is attested anew once its block is final. */
const fastPatienceMs = 600_000

/** Attests the messages of a chain that are due; returns whether there may be more. */
export async function attestMessages(ctx: EngineCtx, source: MessageChain): Promise<boolean> {
  const { blockchain } = source
  // Every transaction and block wakes this loop, and few of them are of messages.
  const heights = await heightsOfWaiting(ctx.database, blockchain)
  if (!heights) return false
  const range = { ...fastRange(source, heights), limit: comparedMax }
  const fast = range.from > range.to ? [] : await fastBlocks(ctx.database, blockchain, range)
  const agreed = await agreedBlocks(ctx, source, heights.final, fast)
  const attestOne = () => ctx.database.tx((tx) => attestBatch(ctx, tx, source, { heights, agreed }))
  const batches = await Promise.all(Array.from({ length: batchesAtOnce }, attestOne))
  failpoint('after-message-commit')
  const destinations = new Set(batches.flatMap((batch) => [...batch.destinations]))
  for (const chain of destinations) await announceWork(ctx.database, chain)
  return batches.some(({ claimed, decided }) => claimed === batchMax && decided > 0)
}

type Batch = {
  claimed: number
  /** Messages that are attested, or known to wait for finality. */
  decided: number
  /** The chains to which attested messages can be delivered. */
  destinations: Set<string>
}

async function attestBatch(
  ctx: EngineCtx,
  tx: Db,
  source: MessageChain,
  { heights, agreed }: { heights: MessageHeights; agreed: readonly string[] },
): Promise<Batch> {
  const { blockchain } = source
  const { final } = heights
  const isAlone = ctx.config.attestationThreshold === 1
  if (!isAlone) await dropLateProposals(tx, blockchain, final, ctx.clock.nowMs() - fastPatienceMs)
  const due = await claimMessages(tx, blockchain, { final, agreed, limit: batchMax })
  const batch: Batch = { claimed: due.length, decided: 0, destinations: new Set() }
  if (due.length === 0) return batch
  const key = await attesterKey(ctx, tx)
  if (!key) return batch
  const destinations = new Map(messageChains(ctx).map((chain) => [chain.domain, chain]))
  const canonical = await lockedAmong(tx, blockchain, due)
  const decided: DecidedMessage[] = []
  for (const message of due) {
    if (!canonical.has(message.blockHash!)) continue
    const destination = destinations.get(message.destinationDomain)
    const isFinal = message.blockNumber! <= final
    const execution = await executionOf(ctx, tx, { source, destination }, message, isFinal)
    batch.decided += 1
    if (!execution) continue
    decided.push(decide(message, execution))
    if (isAlone && destination) batch.destinations.add(destination.blockchain)
  }
  const signed = await sign(ctx, tx, decided, key)
  const nowMs = ctx.clock.nowMs()
  if (isAlone) await setAttested(tx, signed, nowMs)
  else for (const message of signed) await insertProposal(tx, message, key.address, nowMs)
  failpoint('before-message-commit')
  return batch
}

/** The blocks of these messages that are canonical, and stay so until the `tx` ends; none of a chain that lost a final block. */
export async function lockedAmong(
  tx: Db,
  blockchain: string,
  due: readonly Pick<MessageRow, 'blockHash'>[],
): Promise<Set<string>> {
  const canonical = new Set<string>()
  if (await isHalted(tx, blockchain)) return canonical
  for (const hash of new Set(due.flatMap(({ blockHash }) => blockHash ?? [])))
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
  if (attestersOf(ctx.config).some(({ address }) => address === key?.address))
    raiseAlarm(
      ctx.log,
      'attester-untrue',
      { attester: key?.address },
      'an attester has the key of this server: give it a database and a key of its own',
    )
  return key
}

type DecidedMessage = FilledMessage & { nonce: string; digest: Hex }

function decide(row: MessageRow, execution: Execution): DecidedMessage {
  const { finalityThreshold, forwardFeeAtomic, expirationBlock } = execution
  const attestedMessage = fill(row, execution)
  const digest = messageDigest(attestedMessage)
  return {
    id: row.id,
    nonce: row.nonce,
    attestedMessage,
    digest,
    finalityThreshold,
    forwardFeeAtomic,
    expirationBlock,
  }
}

/** Signs messages; the signatures stand in the place of attestations, which they are where no other attester has to sign. */
async function sign(
  ctx: EngineCtx,
  tx: Db,
  decided: readonly DecidedMessage[],
  key: AttestationKey,
): Promise<AttestedMessage[]> {
  if (decided.length === 0) return []
  const requests = decided.map(({ nonce, digest }) => ({ subject: nonce, digest }))
  const signatures = await signAttestations({ ...ctx, db: tx }, key.id, requests)
  return decided.map((message, index) => ({ ...message, attestation: hexOf(signatures[index]!) }))
}
