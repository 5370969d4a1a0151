/** The layout of transactions in BCS. A number that is written of an enum is its place among the names. */
import { type BcsType, bcs } from '@mysten/bcs'
import { addressOfBytes, bytesOfAddress } from './addresses.ts'

const bytesOfLength = (length: number) =>
  bcs.bytes(length).transform({
    input: (value: Uint8Array) => value,
    output: (value): Buffer => Buffer.from(value),
  })

const byteVector = bcs.byteVector().transform({
  input: (value: Uint8Array) => value,
  output: (value): Buffer => Buffer.from(value),
})

export const addressLayout = bytesOfLength(32).transform({ input: bytesOfAddress, output: addressOfBytes })

export const u64Layout = bcs.u64().transform({ input: (value: bigint) => value, output: BigInt })

type TypeTag =
  | { $kind?: string; bool: true }
  | { $kind?: string; vector: TypeTag }
  | { $kind?: string; struct: StructTag }

export type StructTag = { address: string; module: string; name: string; typeArguments: TypeTag[] }

const unit = null
const typeTag: BcsType<TypeTag, TypeTag> = bcs.enum('TypeTag', {
  bool: unit,
  u8: unit,
  u64: unit,
  u128: unit,
  address: unit,
  signer: unit,
  vector: bcs.lazy(() => typeTag),
  struct: bcs.struct('StructTag', {
    address: addressLayout,
    module: bcs.string(),
    name: bcs.string(),
    typeArguments: bcs.vector(bcs.lazy(() => typeTag)),
  }),
  u16: unit,
  u32: unit,
  u256: unit,
}) as never

/** A call of a function of a module. Each argument is encoded by itself. */
export const entryFunctionLayout = bcs.struct('EntryFunction', {
  module: bcs.struct('ModuleId', { address: addressLayout, name: bcs.string() }),
  name: bcs.string(),
  typeArguments: bcs.vector(typeTag),
  arguments: bcs.vector(byteVector),
})

export type CalledFunction = typeof entryFunctionLayout.$inferType

const refuse = (): never => {
  throw new Error('neither made nor read by this program')
}

/** Kinds that this program neither makes nor reads have no layout here. */
const none = bcs.bytes(0).transform({ input: refuse, output: refuse })

const payload = bcs.enum('TransactionPayload', {
  script: none,
  moduleBundle: none,
  entryFunction: entryFunctionLayout,
})

export const rawTransactionLayout = bcs.struct('RawTransaction', {
  sender: addressLayout,
  sequenceNumber: u64Layout,
  payload,
  maxGasAmount: u64Layout,
  gasUnitPrice: u64Layout,
  expirationSeconds: u64Layout,
  chainId: bcs.u8(),
})

const ed25519 = bcs.struct('Ed25519', { publicKey: byteVector, signature: byteVector })

/** `none` in place of a signature is taken for a simulation alone. */
const accountAuthenticator = bcs.enum('AccountAuthenticator', {
  ed25519,
  multiEd25519: none,
  singleKey: none,
  multiKey: none,
  none: unit,
})

const authenticator = bcs.enum('TransactionAuthenticator', {
  ed25519,
  multiEd25519: none,
  multiAgent: none,
  feePayer: bcs.struct('FeePayer', {
    sender: accountAuthenticator,
    secondaryAddresses: bcs.vector(addressLayout),
    secondarySigners: bcs.vector(accountAuthenticator),
    feePayer: addressLayout,
    feePayerSigner: accountAuthenticator,
  }),
  singleSender: accountAuthenticator,
})

export const signedTransactionLayout = bcs.struct('SignedTransaction', {
  raw: rawTransactionLayout,
  authenticator,
})

/** The part of a transaction with a fee payer that each of both signs. */
export const sharedTransactionLayout = bcs.enum('RawTransactionWithData', {
  multiAgent: none,
  feePayer: bcs.struct('MultiAgentWithFeePayer', {
    raw: rawTransactionLayout,
    secondaryAddresses: bcs.vector(addressLayout),
    feePayer: addressLayout,
  }),
})

/** The value that these bytes are the one encoding of; `undefined` for any other bytes, also with some behind. Never throws. */
export function readExactly<Value, Input>(
  layout: BcsType<Value, Input>,
  bytes: Uint8Array,
): Value | undefined {
  try {
    const value = layout.parse(bytes)
    const again = layout.serialize(value as unknown as Input).toBytes()
    return Buffer.from(again).equals(bytes) ? value : undefined
  } catch {
    return undefined
  }
}

export const encoded = <Value, Input>(layout: BcsType<Value, Input>, value: Input): Buffer =>
  Buffer.from(layout.serialize(value).toBytes())
