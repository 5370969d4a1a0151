import { keccak_256 } from '@noble/hashes/sha3'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import type { BurnIntent, BurnIntentSet } from './transfer-payload.ts'
import {
  bytesOfAnyLength,
  encodeBytes32,
  encodeUint32,
  encodeUint256,
  type TransferSpec,
  transferSpecFields,
} from './transfer-spec.ts'

const specType = `TransferSpec(${transferSpecFields.map(([name, type]) => `${type} ${name}`).join(',')})`
const intentType = `BurnIntent(uint256 maxBlockHeight,uint256 maxFee,TransferSpec spec)${specType}`

/** The hashes of the types of EIP-712, as they stand in front of the fields. */
export const burnIntentTypeHashes = {
  EIP712Domain: hashOfText('EIP712Domain(string name,string version)'),
  TransferSpec: hashOfText(specType),
  BurnIntent: hashOfText(intentType),
  BurnIntentSet: hashOfText(`BurnIntentSet(BurnIntent[] intents)${intentType}`),
}

/** The domain names neither chain nor contract, since one signature covers intents of many chains: the intents name both. */
export const burnIntentDomain = { name: 'GatewayWallet', version: '1' } as const

export const burnIntentDomainSeparator: Hex = hashOf(
  bytesOf(burnIntentTypeHashes.EIP712Domain),
  bytesOf(hashOfText(burnIntentDomain.name)),
  bytesOf(hashOfText(burnIntentDomain.version)),
)

/** The struct hash that the wallet contract returns as `getTypedDataHash`. Throws MalformedTransfer for a field that does not fit. */
export const burnIntentHash = (intent: BurnIntent): Hex => hashOfIntent(intent, 'intent')

/** As `burnIntentHash`, for a set. */
export const burnIntentSetHash = ({ intents }: BurnIntentSet): Hex =>
  hashOf(
    bytesOf(burnIntentTypeHashes.BurnIntentSet),
    keccak_256(
      Buffer.concat(intents.map((intent, index) => bytesOf(hashOfIntent(intent, `intents[${index}]`)))),
    ),
  )

/** The 32 bytes that a depositor or delegate signs for one intent. */
export const burnIntentDigest = (intent: BurnIntent): Hex => digestOf(burnIntentHash(intent))

/** The 32 bytes to sign for a set, once for all its chains. */
export const burnIntentSetDigest = (set: BurnIntentSet): Hex => digestOf(burnIntentSetHash(set))

const digestOf = (structHash: Hex): Hex =>
  hashOf(Buffer.of(0x19, 0x01), bytesOf(burnIntentDomainSeparator), bytesOf(structHash))

function hashOfIntent({ maxBlockHeight, maxFee, spec }: BurnIntent, at: string): Hex {
  return hashOf(
    bytesOf(burnIntentTypeHashes.BurnIntent),
    encodeUint256(maxBlockHeight, `${at}.maxBlockHeight`),
    encodeUint256(maxFee, `${at}.maxFee`),
    bytesOf(hashOfSpec(spec, `${at}.spec`)),
  )
}

function hashOfSpec(spec: TransferSpec, at: string): Hex {
  const words = transferSpecFields.map(([name, type]) => {
    const value = spec[name]
    const location = `${at}.${name}`
    if (type === 'uint32') return Buffer.concat([Buffer.alloc(28), encodeUint32(value as number, location)])
    if (type === 'uint256') return encodeUint256(value as bigint, location)
    return type === 'bytes32'
      ? encodeBytes32(value as Hex, location)
      : keccak_256(bytesOfAnyLength(value as Hex, location))
  })
  return hashOf(bytesOf(burnIntentTypeHashes.TransferSpec), ...words)
}

function hashOf(...parts: Uint8Array[]): Hex {
  return hexOf(keccak_256(Buffer.concat(parts)))
}

function hashOfText(text: string): Hex {
  return hexOf(keccak_256(Buffer.from(text)))
}
