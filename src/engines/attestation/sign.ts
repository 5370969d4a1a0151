/**
 * Signs messages that another server proposes, as one attester of several. This process knows the burns from its own nodes, and
 * signs what its own rules allow: the token of the caller alone attests nothing. A message that it signed is complete in its
 * database, so that its allowance, reorgs and alarms count it as attested.
 */
import { messageDigest } from '#chains/crosschain/attestation'
import {
  confirmedThreshold,
  decodeBurnBody,
  decodeMessage,
  finalizedThreshold,
} from '#chains/crosschain/message'
import { MessageProblem } from '#chains/crosschain/message-problem'
import { attestationKeysInUse, attestedDigests, signAttestations } from '#custody/installation/index'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHead, isHalted, lockCanonical } from '#engines/indexer/index'
import { ApiError } from '#lib/errors'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { oncePer } from '#runtime/scheduling/memoize'
import { createRepeatFilter } from '#runtime/scheduling/repeat-filter'
import { agreedBlocks, fastRange } from './agreement.ts'
import {
  delayOf,
  type Execution,
  fastExecution,
  fill,
  finalExecution,
  lastBlockOf,
  type Route,
} from './execution.ts'
import { type MessageChain, messageChains } from './networks.ts'
import {
  findMessageHeights,
  lockMessage,
  type MessageHeights,
  type MessageRow,
  messageByNonce,
  setAttested,
} from './store/messages.ts'

export type SignatureRequest = {
  /** The domain of the chain that sent the message. */
  domain: number
  nonce: Hex
  /** The message with its empty fields filled in. */
  message: Hex
  /** The canonical address of the key that is to sign. */
  attester: string
}

/** Whether enough endpoints agree on the block of a message that is to be attested before finality; outside any `tx`. */
export type FastAgreement = { agreedHash: string | undefined }

/** Compares the block of a message with the endpoints, where it has to be signed before it is final. */
export async function agreeOnMessage(
  ctx: EngineCtx,
  { domain, nonce }: SignatureRequest,
): Promise<FastAgreement> {
  const source = messageChains(ctx).find((chain) => chain.domain === domain)
  const row = await messageByNonce(ctx.database, nonce)
  if (!source || !row?.fast || row.blockchain !== source.blockchain) return { agreedHash: undefined }
  const heights = await findMessageHeights(ctx.database, source.blockchain)
  if (!heights) return { agreedHash: undefined }
  const { from, to } = fastRange(source, heights)
  const { blockNumber: number, blockHash: hash } = row
  if (number === null || hash === null || number < from || number > to) return { agreedHash: undefined }
  const [agreedHash] = await agreedBlocks(ctx, source, heights.final, [{ number, hash }])
  return { agreedHash }
}

/**
 * Signs in `tx`, in which the digest is recorded; a repeated request gets the same signature. Throws ApiError: `messageNotDue`
 * for a message that may be signed later, and `signatureRefused`, with an alarm, for one that differs from the records.
 */
export async function signProposed(
  ctx: EngineCtx,
  tx: Db,
  request: SignatureRequest,
  { agreedHash }: FastAgreement,
): Promise<Hex> {
  const key = (await attestationKeysInUse(tx, 'message')).find(({ address }) => address === request.attester)
  if (!key) throw refused(ctx, request, 'no key in use has the address of the attester')
  const chains = messageChains(ctx)
  const source = chains.find((chain) => chain.domain === request.domain)
  if (!source) throw refused(ctx, request, 'the domain is of no chain that this attester follows')
  const { blockchain } = source
  const row = await lockMessage(tx, request.nonce)
  const heights = await findMessageHeights(tx, blockchain)
  const isSeen =
    row?.blockchain === blockchain &&
    row.blockHash !== null &&
    (await lockCanonical(tx, blockchain, row.blockHash))
  if (!isSeen || !heights) throw notDue('no block that it follows has the message')
  if (await isHalted(tx, blockchain)) throw notDue('its chain lost a final block here and is halted')
  const route = {
    source,
    destination: chains.find((chain) => chain.domain === row.destinationDomain),
  }
  const execution = await proposedExecution(ctx, tx, route, row, request)
  const digest = messageDigest(request.message)
  const known = await attestedDigests(tx, 'message', row.nonce, digestsMax)
  const isKnown = known.some((each) => each.equals(bytesOf(digest)))
  // One without an end has the same digest for good: nothing that was signed before keeps the burn from being minted.
  const hasEnd = execution.finalityThreshold === confirmedThreshold
  if (!isKnown && hasEnd && known.length === digestsMax)
    throw refused(ctx, request, 'it was signed too often with other values')
  await requireDue(ctx, tx, source, row, { execution, heights, isAgreed: row.blockHash === agreedHash })
  const [signed] = await signAttestations({ ...ctx, db: tx }, key.id, [{ subject: row.nonce, digest }])
  const attestation = hexOf(signed!)
  const attested = { ...execution, id: row.id, attestedMessage: request.message, attestation, digest }
  await setAttested(tx, [attested], ctx.clock.nowMs())
  return attestation
}

/** Most digests of one message before it is final: each reorg, and each end of an attestation, makes one. */
const digestsMax = 16

/** The execution of a proposed message, which equals byte for byte what this attester would make of it. Throws ApiError. */
async function proposedExecution(
  ctx: EngineCtx,
  tx: Db,
  { source, destination }: Route,
  row: MessageRow,
  request: SignatureRequest,
): Promise<Execution> {
  try {
    const { finalityThresholdExecuted: finality, messageBody } = decodeMessage(request.message)
    const end = row.amount === null ? 0n : decodeBurnBody(messageBody).expirationBlock
    const isFast = finality === confirmedThreshold && row.fast
    if (!isFast && finality !== finalizedThreshold)
      throw refused(ctx, request, 'the message does not ask for this finality')
    if (isFast && row.amount !== null && !(await isSaneEnd(tx, destination, end)))
      throw refused(ctx, request, 'the attestation would end too early or too late')
    const execution = isFast ? fastExecution(source, row, end) : finalExecution(row)
    if (fill(row, execution) !== request.message)
      throw refused(ctx, request, 'the message, or its fee, is not that of the burn')
    return execution
  } catch (error) {
    if (error instanceof MessageProblem) throw refused(ctx, request, error.message, error.flaw)
    throw error
  }
}

/** The heads of two servers may differ by this part of the time for which a fast attestation counts. */
const endTolerance = 10n

/** Whether a fast attestation ends about when one of this attester would. Any end will do where it does not follow the chain. */
async function isSaneEnd(tx: Db, destination: MessageChain | undefined, end: bigint): Promise<boolean> {
  const head = destination && (await canonicalHead(tx, destination.blockchain))
  if (!head) return true
  const last = await lastBlockOf(tx, destination)
  return end > BigInt(head.number) && end <= last + (last - BigInt(head.number)) / endTolerance
}

type Due = { execution: Execution; heights: MessageHeights; isAgreed: boolean }

/** Throws `messageNotDue` while the finality, or the allowance before it, of this attester does not reach. */
async function requireDue(
  ctx: EngineCtx,
  tx: Db,
  source: MessageChain,
  row: MessageRow,
  { execution, heights, isAgreed }: Due,
): Promise<void> {
  if (row.blockNumber! <= heights.final) return
  if (execution.finalityThreshold === finalizedThreshold) throw notDue('its block is not final here')
  if (!isAgreed) throw notDue('its block has too few confirmations here, or the endpoints do not agree on it')
  // The part of the allowance was taken when it was signed before.
  if (row.amount === null || row.allowanceTaken === row.amount) return
  if (row.state === 'complete') throw notDue('another message with its nonce takes the allowance')
  const delay = await delayOf(ctx, tx, source, row, false)
  if (delay) throw notDue(`it waits for finality here: ${delay}`)
}

const notDue = (reason: string) =>
  new ApiError(
    'messageNotDue',
    `This attester does not sign the message yet: ${reason}. Ask again in a moment.`,
  )

const isFirstRefusal = oncePer((_config: Config) => createRepeatFilter(60_000))

/** The error of a refusal, whose alarm is raised once a minute for each kind, whatever it is that callers send. */
function refused(
  { config, log }: EngineCtx,
  { nonce }: SignatureRequest,
  reason: string,
  kind: string = reason,
): ApiError {
  if (isFirstRefusal(config)(kind))
    raiseAlarm(
      log,
      'attestation-refused',
      { nonce, said: reason },
      'this attester refused to sign a message: its records differ from what it was asked for',
    )
  const message = `This attester does not sign the message as it was proposed: ${reason}.`
  return new ApiError('signatureRefused', message)
}
