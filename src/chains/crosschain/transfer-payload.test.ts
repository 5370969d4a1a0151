import { expect, test } from 'vitest'
import { hexOf } from '#lib/hex'
import { burnIntentHash } from './burn-intent-typed-data.ts'
import type { MalformedTransfer } from './malformed-transfer.ts'
import {
  decodeAttestations,
  decodeBurnIntents,
  encodeAttestation,
  encodeAttestationSet,
  encodeBurnIntent,
  encodeBurnIntentSet,
} from './transfer-payload.ts'
import { decodeTransferSpec, encodeTransferSpec, type TransferSpec } from './transfer-spec.ts'

const word = (digits: string) => `0x${digits.padStart(64, '0')}` as const
const spec: TransferSpec = {
  version: 1,
  sourceDomain: 6,
  destinationDomain: 0xffff_ffff,
  sourceContract: word('1'),
  destinationContract: word('2'),
  sourceToken: word('3'),
  destinationToken: word('4'),
  sourceDepositor: word('5'),
  destinationRecipient: word('6'),
  sourceSigner: word('7'),
  destinationCaller: word('8'),
  value: 2n ** 256n - 1n,
  salt: word('9'),
  hookData: '0xabcdef',
}
const intent = { maxBlockHeight: 10n, maxFee: 11n, spec }
const attestation = { maxBlockHeight: 10n, spec }

const problem = (attempt: () => unknown): string => {
  try {
    attempt()
  } catch (error) {
    const { fault, location } = error as MalformedTransfer
    return `${fault} ${location}`
  }
  return 'none'
}
const changed = (bytes: Buffer, offset: number, value: number) => {
  const copy = Buffer.from(bytes)
  copy.writeUInt32BE(value, offset)
  return copy
}
const longer = (bytes: Buffer) => Buffer.concat([bytes, Buffer.of(0)])

test('the fields of a specification lie at their offsets', () => {
  const bytes = encodeTransferSpec(spec)
  expect(bytes).toHaveLength(343)
  const at = (offset: number, length: number) => bytes.toString('hex', offset, offset + length)
  expect([at(0, 4), at(4, 4), at(8, 4), at(12, 4)]).toEqual(['ca85def7', '00000001', '00000006', 'ffffffff'])
  const offsets = [16, 48, 80, 112, 144, 176, 208, 240, 304]
  expect(offsets.map((offset) => at(offset, 32))).toEqual(
    [...'123456789'].map((digit) => digit.padStart(64, '0')),
  )
  expect([at(272, 32), at(336, 4), at(340, 3)]).toEqual(['f'.repeat(64), '00000003', 'abcdef'])
})

test('containers put their fields in front of the specification', () => {
  const body = encodeTransferSpec(spec).toString('hex')
  const length = '00000157'
  const [ten, eleven] = [word('a').slice(2), word('b').slice(2)]
  const burn = `070afbc2${ten}${eleven}${length}${body}`
  const mint = `ff6fb334${ten}${length}${body}`
  expect(hexOf(encodeBurnIntent(intent))).toBe(`0x${burn}`)
  expect(hexOf(encodeAttestation(attestation))).toBe(`0x${mint}`)
  expect(hexOf(encodeBurnIntentSet({ intents: [intent, intent] }))).toBe(`0xe999239b00000002${burn}${burn}`)
  expect(hexOf(encodeAttestationSet({ attestations: [attestation] }))).toBe(`0x1e12db7100000001${mint}`)
})

test('bytes decode to what was encoded, alone and in a set', () => {
  expect(decodeTransferSpec(encodeTransferSpec(spec))).toEqual(spec)
  const [burns, mints] = [{ intents: [intent, intent] }, { attestations: [attestation, attestation] }]
  expect(decodeBurnIntents(encodeBurnIntentSet(burns))).toEqual(burns.intents)
  expect(decodeBurnIntents(encodeBurnIntent(intent))).toEqual([intent])
  expect(decodeAttestations(encodeAttestationSet(mints))).toEqual(mints.attestations)
  expect(decodeAttestations(encodeAttestation(attestation))).toEqual([attestation])
  expect(decodeBurnIntents(encodeBurnIntentSet({ intents: [] }))).toEqual([])
  // A view into a larger memory.
  expect(decodeBurnIntents(new Uint8Array([0, ...encodeBurnIntent(intent)]).subarray(1))).toEqual([intent])
})

test('malformed specifications are refused by name', () => {
  const bytes = encodeTransferSpec(spec)
  const decode = (given: Buffer) => problem(() => decodeTransferSpec(given))
  expect(decode(Buffer.alloc(0))).toBe('too-short spec')
  expect(decode(bytes.subarray(0, 339))).toBe('too-short spec')
  expect(decode(changed(bytes, 0, 1))).toBe('wrong-magic spec')
  expect(decode(changed(bytes, 4, 2))).toBe('wrong-version spec.version')
  expect(decode(longer(bytes))).toBe('wrong-hook-data-length spec.hookData')
  expect(decode(changed(bytes, 336, 2))).toBe('wrong-hook-data-length spec.hookData')
  expect(decode(changed(bytes, 336, 0xffff_ffff))).toBe('wrong-hook-data-length spec.hookData')
})

test('malformed containers are refused by name', () => {
  const one = encodeBurnIntent(intent)
  const decode = (given: Buffer) => problem(() => decodeBurnIntents(given))
  expect(decode(one.subarray(0, 3))).toBe('too-short intent')
  expect(decode(one.subarray(0, 71))).toBe('too-short intent')
  expect(decode(one.subarray(0, one.length - 1))).toBe('too-short intent')
  expect(decode(longer(one))).toBe('trailing-bytes intent')
  expect(decode(changed(one, 0, 0xff6fb334))).toBe('wrong-magic intent')
  expect(decode(changed(one, 68, 0xffff_ffff))).toBe('too-short intent')
  expect(decode(changed(one, 68, 3))).toBe('too-short intent.spec')
  expect(decode(changed(one, 76, 9))).toBe('wrong-version intent.spec.version')
  const set = encodeBurnIntentSet({ intents: [intent, intent] })
  expect(decode(set.subarray(0, 7))).toBe('too-short intents')
  expect(decode(set.subarray(0, set.length - 1))).toBe('too-short intents[1]')
  expect(decode(longer(set))).toBe('trailing-bytes intents')
  expect(decode(changed(set, 4, 1))).toBe('trailing-bytes intents')
  expect(decode(changed(set, 4, 0xffff_ffff))).toBe('too-short intents[2]')
  expect(decode(changed(set, 8, 0))).toBe('wrong-magic intents[0]')
  expect(problem(() => decodeAttestations(one))).toBe('wrong-magic attestation')
})

test('fields that do not fit are neither encoded nor hashed', () => {
  const encode = (changes: Partial<TransferSpec>) =>
    problem(() => encodeTransferSpec({ ...spec, ...changes }))
  expect(encode({ version: 2 })).toBe('wrong-version spec.version')
  for (const sourceDomain of [-1, 2 ** 32, 0.5, Number.NaN])
    expect(encode({ sourceDomain })).toBe('uint32-overflow spec.sourceDomain')
  for (const value of [-1n, 2n ** 256n]) expect(encode({ value })).toBe('uint256-overflow spec.value')
  for (const salt of ['0x', `${word('1')}00`, '0xzz'] as const)
    expect(encode({ salt })).toBe('not-hex spec.salt')
  expect(encode({ hookData: '0x123' })).toBe('not-hex spec.hookData')
  const tooMuch = { ...intent, maxFee: 2n ** 256n }
  expect(problem(() => encodeBurnIntentSet({ intents: [intent, tooMuch] }))).toBe(
    'uint256-overflow intents[1].maxFee',
  )
  expect(problem(() => encodeAttestation({ ...attestation, maxBlockHeight: -1n }))).toBe(
    'uint256-overflow attestation.maxBlockHeight',
  )
  expect(problem(() => burnIntentHash(tooMuch))).toBe('uint256-overflow intent.maxFee')
  const odd = { ...intent, spec: { ...spec, hookData: '0x123' as const } }
  expect(problem(() => burnIntentHash(odd))).toBe('not-hex intent.spec.hookData')
})
