/**
 * The bytes that carry transfer specifications to the contracts of unified balances.
 *
 *   BurnIntent    0 magic · 4 maxBlockHeight (32) · 36 maxFee (32) · 68 length of spec (4) · 72 spec
 *   Attestation   0 magic · 4 maxBlockHeight (32) · 36 length of spec (4) · 40 spec
 *   sets of each  0 magic · 4 count (4) · 8 elements
 */
import { MalformedTransfer } from './malformed-transfer.ts'
import {
  bufferOf,
  decodeTransferSpec,
  encodeTransferSpec,
  encodeUint32,
  encodeUint256,
  readUint256,
  requireLength,
  requireMagic,
  type TransferSpec,
  transferMagics,
} from './transfer-spec.ts'

/** The permission of a signer to burn `spec.value` and at most `maxFee`, up to this block of the source chain. */
export type BurnIntent = { maxBlockHeight: bigint; maxFee: bigint; spec: TransferSpec }
export type BurnIntentSet = { intents: readonly BurnIntent[] }

/** The statement of the service that `spec.value` may be minted, up to this block of the destination chain. */
export type Attestation = { maxBlockHeight: bigint; spec: TransferSpec }
export type AttestationSet = { attestations: readonly Attestation[] }

/** All of these throw MalformedTransfer: for a field that does not fit, or unless the bytes are one of the kind and nothing else. */
export const encodeBurnIntent = (intent: BurnIntent): Buffer => encodeElement(burnIntents, intent, 'intent')

export const encodeBurnIntentSet = ({ intents }: BurnIntentSet): Buffer => encodeSet(burnIntents, intents)

export const encodeAttestation = (attestation: Attestation): Buffer =>
  encodeElement(attestations, attestation, 'attestation')

export const encodeAttestationSet = (set: AttestationSet): Buffer => encodeSet(attestations, set.attestations)

/** The intents of either form, as the wallet contract takes both. */
export const decodeBurnIntents = (bytes: Uint8Array): BurnIntent[] =>
  decodeEither(burnIntents, bufferOf(bytes), 'intent')

/** The attestations of either form, as the minter contract takes both. */
export const decodeAttestations = (bytes: Uint8Array): Attestation[] =>
  decodeEither(attestations, bufferOf(bytes), 'attestation')

type PayloadFormat<Element> = {
  magic: 'BurnIntent' | 'Attestation'
  setMagic: 'BurnIntentSet' | 'AttestationSet'
  plural: string
  /** Bytes before the specification, the last four of which are its length. */
  headBytes: number
  /** The fields between magic and length. */
  encodeHead(element: Element, at: string): Buffer
  decode(head: Buffer, spec: TransferSpec): Element
}

const burnIntents: PayloadFormat<BurnIntent> = {
  magic: 'BurnIntent',
  setMagic: 'BurnIntentSet',
  plural: 'intents',
  headBytes: 72,
  encodeHead: ({ maxBlockHeight, maxFee }, at) =>
    Buffer.concat([
      encodeUint256(maxBlockHeight, `${at}.maxBlockHeight`),
      encodeUint256(maxFee, `${at}.maxFee`),
    ]),
  decode: (head, spec) => ({ maxBlockHeight: readUint256(head, 4), maxFee: readUint256(head, 36), spec }),
}

const attestations: PayloadFormat<Attestation> = {
  magic: 'Attestation',
  setMagic: 'AttestationSet',
  plural: 'attestations',
  headBytes: 40,
  encodeHead: ({ maxBlockHeight }, at) => encodeUint256(maxBlockHeight, `${at}.maxBlockHeight`),
  decode: (head, spec) => ({ maxBlockHeight: readUint256(head, 4), spec }),
}

const setHeadBytes = 8

function encodeElement<Element extends Attestation>(
  format: PayloadFormat<Element>,
  element: Element,
  at: string,
): Buffer {
  const spec = encodeTransferSpec(element.spec, `${at}.spec`)
  const magic = encodeUint32(transferMagics[format.magic], at)
  return Buffer.concat([magic, format.encodeHead(element, at), encodeUint32(spec.length, `${at}.spec`), spec])
}

function encodeSet<Element extends Attestation>(
  format: PayloadFormat<Element>,
  elements: readonly Element[],
): Buffer {
  const { plural } = format
  const encoded = elements.map((element, index) => encodeElement(format, element, `${plural}[${index}]`))
  const magic = encodeUint32(transferMagics[format.setMagic], plural)
  return Buffer.concat([magic, encodeUint32(elements.length, plural), ...encoded])
}

function decodeEither<Element>(format: PayloadFormat<Element>, buffer: Buffer, at: string): Element[] {
  requireLength(buffer, 4, at)
  const isSet = buffer.readUInt32BE(0) === transferMagics[format.setMagic]
  return isSet ? decodeSet(format, buffer) : [decodeOne(format, buffer, at)]
}

function decodeOne<Element>(format: PayloadFormat<Element>, buffer: Buffer, at: string): Element {
  const { element, end } = decodeElement(format, buffer, at)
  requireEnd(buffer, end, at)
  return element
}

function decodeSet<Element>(format: PayloadFormat<Element>, buffer: Buffer): Element[] {
  const { plural } = format
  requireLength(buffer, setHeadBytes, plural)
  requireMagic(buffer, format.setMagic, plural)
  const count = buffer.readUInt32BE(4)
  const elements: Element[] = []
  let offset = setHeadBytes
  while (elements.length < count) {
    const rest = buffer.subarray(offset)
    const { element, end } = decodeElement(format, rest, `${plural}[${elements.length}]`)
    elements.push(element)
    offset += end
  }
  requireEnd(buffer, offset, plural)
  return elements
}

/** The element at the start of the bytes, and where it ends. */
function decodeElement<Element>(
  format: PayloadFormat<Element>,
  buffer: Buffer,
  at: string,
): { element: Element; end: number } {
  const { headBytes } = format
  requireLength(buffer, headBytes, at)
  requireMagic(buffer, format.magic, at)
  const end = headBytes + buffer.readUInt32BE(headBytes - 4)
  requireLength(buffer, end, at)
  const spec = decodeTransferSpec(buffer.subarray(headBytes, end), `${at}.spec`)
  return { element: format.decode(buffer.subarray(0, headBytes), spec), end }
}

function requireEnd(buffer: Buffer, end: number, at: string): void {
  if (buffer.length !== end)
    throw new MalformedTransfer('trailing-bytes', at, `has ${buffer.length} bytes, and ends after ${end}`)
}
