/**
 * Decoder of the BCS that clients send. It shares no code with the encoder of the platform, so that a mistake of either is
 * seen by the other.
 */
import { type BcsType, bcs } from '@mysten/bcs'
import type { Hex } from '#lib/hex'
import { longAddress, shortAddress } from './addresses.ts'
import { NodeError } from './errors.ts'

const address = bcs.bytes(32)

type RawTag = { $kind: string; vector?: RawTag; struct?: RawStruct }
type RawStruct = { address: Uint8Array; module: string; name: string; typeArguments: RawTag[] }

const nestedTag = (): BcsType<RawTag, unknown> => bcs.lazy(() => typeTag)

const typeTag = bcs.enum('TypeTag', {
  bool: null,
  u8: null,
  u64: null,
  u128: null,
  address: null,
  signer: null,
  vector: nestedTag(),
  struct: bcs.struct('StructTag', {
    address,
    module: bcs.string(),
    name: bcs.string(),
    typeArguments: bcs.vector(nestedTag()),
  }),
  u16: null,
  u32: null,
  u256: null,
}) as unknown as BcsType<RawTag, unknown>

const functionCall = bcs.struct('EntryFunction', {
  module: bcs.struct('ModuleId', { address, name: bcs.string() }),
  name: bcs.string(),
  typeArguments: bcs.vector(typeTag),
  arguments: bcs.vector(bcs.byteVector()),
})

const payload = bcs.enum('TransactionPayload', {
  script: null,
  moduleBundle: null,
  entryFunction: functionCall,
  multisig: null,
  inner: null,
})

const rawTransaction = bcs.struct('RawTransaction', {
  sender: address,
  sequence: bcs.u64(),
  payload,
  maxGas: bcs.u64(),
  gasPrice: bcs.u64(),
  expiryS: bcs.u64(),
  chainId: bcs.u8(),
})

const ed25519 = bcs.struct('Ed25519', { publicKey: bcs.byteVector(), signature: bcs.byteVector() })
const single = bcs.struct('SingleKey', {
  publicKey: bcs.enum('AnyPublicKey', { ed25519: bcs.byteVector() }),
  signature: bcs.enum('AnySignature', { ed25519: bcs.byteVector() }),
})

const accountAuthenticator = bcs.enum('AccountAuthenticator', {
  ed25519,
  multiEd25519: null,
  single,
  multiKey: null,
  none: null,
})

const authenticator = bcs.enum('TransactionAuthenticator', {
  ed25519,
  multiEd25519: null,
  multiAgent: null,
  feePayer: bcs.struct('FeePayer', {
    sender: accountAuthenticator,
    secondaryAddresses: bcs.vector(address),
    secondarySigners: bcs.vector(accountAuthenticator),
    address,
    feePayer: accountAuthenticator,
  }),
  singleSender: accountAuthenticator,
})

const signedTransaction = bcs.struct('ReadTransaction', { raw: rawTransaction, authenticator })

/** A function with its type arguments as text and its arguments as the bytes of each. */
export type FunctionCall = { name: string; typeArguments: string[]; arguments: Buffer[] }

/** The key and signature of one account; `none` stands in simulations where the client names no key. */
export type TransactionSigner =
  | { scheme: 'ed25519' | 'single'; publicKey: Buffer; signature: Buffer }
  | { scheme: 'none' }

export type ReadTransaction = {
  sender: Hex
  sequence: bigint
  call: FunctionCall
  maxGas: bigint
  gasPrice: bigint
  expiryS: bigint
  chainId: number
  signer: TransactionSigner
  feePayer?: { address: Hex; signer: TransactionSigner }
  /** The bytes as sent, and of them those that are signed. */
  bytes: Buffer
  rawBytes: Buffer
}

/** Decodes a signed transaction; throws for bytes that are none, are not canonical, or are followed by others. */
export function decodeSignedTransaction(bytes: Buffer): ReadTransaction {
  const { raw, authenticator } = decode(signedTransaction, bytes, 'ReadTransaction')
  const call = raw.payload.entryFunction
  if (!call) throw unsupported(`the payload ${raw.payload.$kind}`, 'an entry function')
  const { chainId } = raw
  return {
    sender: longAddress(raw.sender),
    sequence: BigInt(raw.sequence),
    call: callOf(call),
    maxGas: BigInt(raw.maxGas),
    gasPrice: BigInt(raw.gasPrice),
    expiryS: BigInt(raw.expiryS),
    chainId,
    ...signersOf(authenticator),
    bytes,
    rawBytes: Buffer.from(rawTransaction.serialize(raw).toBytes()),
  }
}

/** Splits a list of signed transactions into the bytes of each. */
export function splitTransactions(bytes: Buffer): Buffer[] {
  const list = decode(bcs.vector(signedTransaction), bytes, 'Vec<ReadTransaction>')
  return list.map((item) => Buffer.from(signedTransaction.serialize(item).toBytes()))
}

/** Decodes the call of a view function. */
export const decodeFunctionCall = (bytes: Buffer): FunctionCall =>
  callOf(decode(functionCall, bytes, 'ViewFunction'))

function decode<T, I>(type: BcsType<T, I>, bytes: Buffer, name: string): T {
  let value: T
  let canonical: Uint8Array
  try {
    value = type.parse(bytes)
    canonical = type.serialize(value as unknown as I).toBytes()
  } catch (error) {
    throw malformed(name, error instanceof Error ? error.message : 'unreadable')
  }
  if (canonical.length < bytes.length) throw malformed(name, 'remaining input')
  if (!bytes.equals(canonical)) throw malformed(name, 'not in canonical form')
  return value
}

type RawCall = ReturnType<(typeof functionCall)['parse']>
type RawAuthenticator = ReturnType<(typeof authenticator)['parse']>
type RawSigner = ReturnType<(typeof accountAuthenticator)['parse']>

const callOf = ({ module, name, typeArguments, arguments: values }: RawCall): FunctionCall => ({
  name: `${shortAddress(longAddress(module.address))}::${module.name}::${name}`,
  typeArguments: typeArguments.map((tag) => tagText(tag as unknown as RawTag)),
  arguments: values.map((value) => Buffer.from(value)),
})

function tagText(tag: RawTag): string {
  if (tag.vector) return `vector<${tagText(tag.vector)}>`
  if (!tag.struct) return tag.$kind
  const { address, module, name, typeArguments } = tag.struct
  const inner = typeArguments.length === 0 ? '' : `<${typeArguments.map(tagText).join(', ')}>`
  return `${shortAddress(longAddress(address))}::${module}::${name}${inner}`
}

function signersOf(all: RawAuthenticator): Pick<ReadTransaction, 'signer' | 'feePayer'> {
  if (all.ed25519) return { signer: ed25519Signer(all.ed25519) }
  if (all.singleSender) return { signer: signerOf(all.singleSender) }
  if (!all.feePayer) throw unsupported(`the authenticator ${all.$kind}`, 'Ed25519, SingleKey or FeePayer')
  const { sender, secondaryAddresses, secondarySigners, address, feePayer } = all.feePayer
  if (secondaryAddresses.length > 0 || secondarySigners.length > 0)
    throw unsupported('secondary signers', 'none')
  return { signer: signerOf(sender), feePayer: { address: longAddress(address), signer: signerOf(feePayer) } }
}

function signerOf(account: RawSigner): TransactionSigner {
  if (account.ed25519) return ed25519Signer(account.ed25519)
  if (account.single) {
    const { publicKey, signature } = account.single
    return { scheme: 'single', ...keyAndSignature(publicKey.ed25519, signature.ed25519) }
  }
  if (account.$kind === 'none') return { scheme: 'none' }
  throw unsupported(`the authenticator ${account.$kind}`, 'Ed25519 or SingleKey')
}

type RawSignature = { publicKey: Uint8Array; signature: Uint8Array }

const ed25519Signer = ({ publicKey, signature }: RawSignature): TransactionSigner => ({
  scheme: 'ed25519',
  ...keyAndSignature(publicKey, signature),
})

function keyAndSignature(publicKey: Uint8Array, signature: Uint8Array) {
  if (publicKey.length !== 32 || signature.length !== 64)
    throw malformed('ReadTransaction', 'a public key has 32 bytes and a signature 64')
  return { publicKey: Buffer.from(publicKey), signature: Buffer.from(signature) }
}

const malformed = (type: string, reason: string) =>
  new NodeError('invalid_input', `Failed to deserialize input into ${type}: ${reason}`)

const unsupported = (what: string, instead: string) =>
  new NodeError('invalid_input', `This simulated node does not execute ${what}: send ${instead}`)
