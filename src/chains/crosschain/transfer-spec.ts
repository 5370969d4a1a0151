/**
 * The bytes of transfers out of unified balances, big-endian and without padding. A transfer specification is
 *
 *   0 magic · 4 version · 8 sourceDomain · 12 destinationDomain · 16 sourceContract · 48 destinationContract · 80 sourceToken
 *   112 destinationToken · 144 sourceDepositor · 176 destinationRecipient · 208 sourceSigner · 240 destinationCaller
 *   272 value · 304 salt · 336 length of hookData (4) · 340 hookData
 */
import { keccak_256 } from '@noble/hashes/sha3'
import { bytesOf, type Hex, hexOf, isHex } from '#lib/hex'
import { MalformedTransfer } from './malformed-transfer.ts'

/** One transfer. Addresses are 32 bytes, those of EVM chains with 12 zero bytes in front; `value` is in the token's smallest unit. */
export type TransferSpec = {
  /** Always 1. */
  version: number
  sourceDomain: number
  destinationDomain: number
  sourceContract: Hex
  destinationContract: Hex
  sourceToken: Hex
  destinationToken: Hex
  sourceDepositor: Hex
  destinationRecipient: Hex
  sourceSigner: Hex
  /** All zeros when any account may hand in the attestation. */
  destinationCaller: Hex
  value: bigint
  salt: Hex
  hookData: Hex
}

type FieldType = 'uint32' | 'uint256' | 'bytes32' | 'bytes'

/** The fields in the order of their bytes, which is also that of their typed data. */
export const transferSpecFields: readonly (readonly [name: keyof TransferSpec, type: FieldType])[] = [
  ['version', 'uint32'],
  ['sourceDomain', 'uint32'],
  ['destinationDomain', 'uint32'],
  ['sourceContract', 'bytes32'],
  ['destinationContract', 'bytes32'],
  ['sourceToken', 'bytes32'],
  ['destinationToken', 'bytes32'],
  ['sourceDepositor', 'bytes32'],
  ['destinationRecipient', 'bytes32'],
  ['sourceSigner', 'bytes32'],
  ['destinationCaller', 'bytes32'],
  ['value', 'uint256'],
  ['salt', 'bytes32'],
  ['hookData', 'bytes'],
]

/** The first four bytes of the keccak256 of "circle.gateway." and the name. */
export const transferMagics = {
  TransferSpec: 0xca85def7,
  BurnIntent: 0x070afbc2,
  BurnIntentSet: 0xe999239b,
  Attestation: 0xff6fb334,
  AttestationSet: 0x1e12db71,
} as const

const version = 1
const hookDataAt = 340

/** Throws MalformedTransfer for a field that does not fit its place. */
export function encodeTransferSpec(spec: TransferSpec, at = 'spec'): Buffer {
  requireVersion(spec.version, at)
  const parts = transferSpecFields.map(([name, type]) => encodeField(spec[name], type, `${at}.${name}`))
  return Buffer.concat([encodeUint32(transferMagics.TransferSpec, at), ...parts])
}

/** Throws MalformedTransfer unless the bytes are one specification and nothing else. */
export function decodeTransferSpec(bytes: Uint8Array, at = 'spec'): TransferSpec {
  const buffer = bufferOf(bytes)
  requireLength(buffer, hookDataAt, at)
  requireMagic(buffer, 'TransferSpec', at)
  requireVersion(buffer.readUInt32BE(4), at)
  const claimed = buffer.readUInt32BE(hookDataAt - 4)
  const given = buffer.length - hookDataAt
  if (claimed !== given)
    throw new MalformedTransfer(
      'wrong-hook-data-length',
      `${at}.hookData`,
      `claims ${claimed} bytes, and ${given} follow`,
    )
  let offset = 4
  const fields = transferSpecFields.map(([name, type]) => {
    const field = decodeField(buffer, offset, type)
    offset += type === 'uint32' ? 4 : 32
    return [name, field]
  })
  return Object.fromEntries(fields) as TransferSpec
}

/** The hash that names the transfer on both chains: keccak256 of its bytes. */
export const transferSpecHash = (spec: TransferSpec): Hex => hexOf(keccak_256(encodeTransferSpec(spec)))

function encodeField(value: number | bigint | Hex, type: FieldType, at: string): Buffer {
  if (type === 'uint32') return encodeUint32(value as number, at)
  if (type === 'uint256') return encodeUint256(value as bigint, at)
  if (type === 'bytes32') return encodeBytes32(value as Hex, at)
  const bytes = bytesOfAnyLength(value as Hex, at)
  return Buffer.concat([encodeUint32(bytes.length, at), bytes])
}

function decodeField(buffer: Buffer, offset: number, type: FieldType): number | bigint | Hex {
  if (type === 'uint32') return buffer.readUInt32BE(offset)
  if (type === 'uint256') return readUint256(buffer, offset)
  return hexOf(type === 'bytes32' ? buffer.subarray(offset, offset + 32) : buffer.subarray(hookDataAt))
}

export function encodeUint32(value: number, at: string): Buffer {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
    throw new MalformedTransfer('uint32-overflow', at, 'is not a whole number of 32 bits')
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function encodeUint256(value: bigint, at: string): Buffer {
  if (value < 0n || value >> 256n !== 0n)
    throw new MalformedTransfer('uint256-overflow', at, 'is not a whole number of 256 bits')
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

export function encodeBytes32(value: Hex, at: string): Buffer {
  if (!isHex(value, 32)) throw new MalformedTransfer('not-hex', at, 'is not 32 bytes in hexadecimal')
  return bytesOf(value)
}

export function bytesOfAnyLength(value: Hex, at: string): Buffer {
  if (!isHex(value)) throw new MalformedTransfer('not-hex', at, 'is not bytes in hexadecimal')
  return bytesOf(value)
}

export const readUint256 = (buffer: Buffer, offset: number): bigint =>
  BigInt(hexOf(buffer.subarray(offset, offset + 32)))

/** The same memory as a Buffer. */
export const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export function requireLength(buffer: Buffer, needed: number, at: string): void {
  if (buffer.length < needed)
    throw new MalformedTransfer('too-short', at, `has ${buffer.length} bytes and needs ${needed}`)
}

export function requireMagic(buffer: Buffer, name: keyof typeof transferMagics, at: string): void {
  if (buffer.readUInt32BE(0) !== transferMagics[name])
    throw new MalformedTransfer('wrong-magic', at, `does not begin with the magic of ${name}`)
}

function requireVersion(given: number, at: string): void {
  if (given !== version)
    throw new MalformedTransfer('wrong-version', `${at}.version`, `is ${given} and must be ${version}`)
}
