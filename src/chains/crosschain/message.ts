/**
 * Cross-chain messages, version 2 of the format: `contracts/src/crosschain/modules` has the tables of bytes. Amounts are in the
 * smallest units of the token.
 */

import { type Hex, hexOf } from '#lib/hex'
import { MessageProblem } from './message-problem.ts'
import { zeroWord } from './native-address.ts'
import {
  bytes32,
  type PackedValues,
  packedBytes,
  placesOf,
  readPacked,
  uint32,
  uint256,
  writePacked,
} from './packed.ts'

/** The number that messages of this format carry, and the bodies of burns. */
export const messageVersion = 1
export const burnBodyVersion = 1

/** The longest body in bytes that transmitters send, as it is set on public networks. */
export const messageBodySizeMax = 8_192

/** Thresholds of finality: attested after few confirmations, and when the block is final. */
export const confirmedThreshold = 1_000
export const finalizedThreshold = 2_000

const headerFields = {
  version: uint32,
  sourceDomain: uint32,
  destinationDomain: uint32,
  nonce: bytes32,
  sender: bytes32,
  recipient: bytes32,
  destinationCaller: bytes32,
  minFinalityThreshold: uint32,
  finalityThresholdExecuted: uint32,
}

const burnFields = {
  version: uint32,
  burnToken: bytes32,
  mintRecipient: bytes32,
  amount: uint256,
  messageSender: bytes32,
  maxFee: uint256,
  feeExecuted: uint256,
  expirationBlock: uint256,
}

const header = placesOf(headerFields)
const burn = placesOf(burnFields)

/** The longest hook data of a burn, in bytes. */
export const hookDataBytesMax = messageBodySizeMax - burn.sizeBytes

/** The size of the message of a burn without hook data. */
export const emptyMessageBytes = header.sizeBytes + burn.sizeBytes

export type CrosschainMessage = PackedValues<typeof headerFields> & { messageBody: Hex }

export type BurnBody = PackedValues<typeof burnFields> & { hookData: Hex }

/** The fields that are zero in the message as a chain emits it, and that attesters fill in. */
type FilledFields = Pick<CrosschainMessage, 'nonce' | 'finalityThresholdExecuted'> &
  Pick<BurnBody, 'feeExecuted' | 'expirationBlock'>

/** Throws MessageProblem for anything else than a message of this version. */
export function decodeMessage(message: Hex): CrosschainMessage {
  const bytes = packedBytes(message, 'the message', header.sizeBytes + messageBodySizeMax)
  const fields = readPacked(headerFields, bytes, 'the message')
  requireVersion('message', fields.version, messageVersion)
  return { ...fields, messageBody: hexOf(bytes.subarray(header.sizeBytes)) }
}

/** Throws MessageProblem for values that do not fit. */
export function encodeMessage({ messageBody, ...fields }: CrosschainMessage): Hex {
  requireVersion('message', fields.version, messageVersion)
  const body = packedBytes(messageBody, 'the body of the message', messageBodySizeMax)
  return hexOf(Buffer.concat([writePacked(headerFields, fields), body]))
}

/** Throws MessageProblem for anything else than the body of a burn of this version. */
export function decodeBurnBody(body: Hex): BurnBody {
  const bytes = packedBytes(body, 'the body of the burn', messageBodySizeMax)
  const fields = readPacked(burnFields, bytes, 'the body of the burn')
  requireVersion('body of the burn', fields.version, burnBodyVersion)
  return { ...fields, hookData: hexOf(bytes.subarray(burn.sizeBytes)) }
}

/** Throws MessageProblem for values that do not fit. */
export function encodeBurnBody({ hookData, ...fields }: BurnBody): Hex {
  requireVersion('body of the burn', fields.version, burnBodyVersion)
  const hook = packedBytes(hookData, 'the hook data', hookDataBytesMax)
  return hexOf(Buffer.concat([writePacked(burnFields, fields), hook]))
}

function requireVersion(what: string, given: number, known: number): void {
  if (given !== known)
    throw new MessageProblem('wrong-version', `the ${what} has version ${given}; known is ${known}`)
}

/**
 * The message of a burn with its empty fields filled in; one that was filled before keeps its nonce. Throws MessageProblem, also
 * for a fee that no messenger would accept.
 */
export function fillMessage(message: Hex, filled: FilledFields): Hex {
  const envelope = decodeMessage(message)
  const body = decodeBurnBody(envelope.messageBody)
  const { feeExecuted, expirationBlock } = filled
  if (feeExecuted > body.maxFee || (feeExecuted > 0n && feeExecuted >= body.amount))
    throw new MessageProblem(
      'fee-too-high',
      `a fee of ${feeExecuted} is over the maximum of the burn, ${body.maxFee} of ${body.amount}`,
    )
  const messageBody = encodeBurnBody({ ...body, feeExecuted, expirationBlock })
  const written = fillEnvelope({ ...envelope, messageBody }, filled)
  requireOnlyFilled(message, written, [...envelopePlaces, ...burnPlaces])
  return written
}

/** The same for a message whose sender is not a token messenger: nothing is known of its body, which stays as it is. */
export function fillOtherMessage(
  message: Hex,
  filled: Pick<FilledFields, 'nonce' | 'finalityThresholdExecuted'>,
): Hex {
  const written = fillEnvelope(decodeMessage(message), filled)
  requireOnlyFilled(message, written, envelopePlaces)
  return written
}

function fillEnvelope(
  envelope: CrosschainMessage,
  { nonce, finalityThresholdExecuted }: Pick<FilledFields, 'nonce' | 'finalityThresholdExecuted'>,
): Hex {
  if (nonce === zeroWord) throw new MessageProblem('nonce-zero', 'no chain receives a message with nonce 0')
  const written = encodeMessage({ ...envelope, nonce, finalityThresholdExecuted })
  if (envelope.nonce !== zeroWord && envelope.nonce !== decodeMessage(written).nonce)
    throw new MessageProblem('nonce-taken', `the message has another nonce, ${envelope.nonce}`)
  return written
}

type Place = { start: number; end: number }

const envelopePlaces: readonly Place[] = [header.places.nonce, header.places.finalityThresholdExecuted]

const burnPlaces: readonly Place[] = [burn.places.feeExecuted, burn.places.expirationBlock].map(
  ({ start, end }) => ({ start: header.sizeBytes + start, end: header.sizeBytes + end }),
)

/**
 * Throws MessageProblem when the filled message of a burn differs from the emitted one in another place than those that attesters
 * fill. It reads no field: a signer can rely on it where it cannot on the codec.
 */
export function requireOnlyFilled(
  emitted: Hex,
  filled: Hex,
  places: readonly Place[] = [...envelopePlaces, ...burnPlaces],
): void {
  const [before, after] = [packedBytes(emitted, 'the message'), packedBytes(filled, 'the filled message')]
  for (const { start, end } of places) for (const bytes of [before, after]) bytes.fill(0, start, end)
  if (!before.equals(after))
    throw new MessageProblem('other-bytes-change', 'the filled message is not the one that was emitted')
}
