import { bcs } from '@mysten/bcs'
import type { Hex } from '#lib/hex'
import { longAddress, shortAddress } from './addresses.ts'
import { apt, assetAt, assetOfCoin, type FungibleAsset } from './assets.ts'
import type { FunctionCall } from './codec.ts'
import { issuerAddress } from './issuer.ts'
import { Abort, abort, ensureAccount, mintAsset, type Run, transferAsset } from './movements.ts'
import { deniedKey } from './state.ts'

const metadataObject = '0x1::object::Object<0x1::fungible_asset::Metadata>'
const genericObject = '0x1::object::Object<T0>'

export type ParameterType =
  | 'address'
  | 'u64'
  | 'bool'
  | 'vector<address>'
  | 'vector<u64>'
  | typeof metadataObject
  | typeof genericObject

type Values = (Hex | bigint | boolean | Hex[] | bigint[])[]

type EntryFunction = {
  /** The constraints of each type parameter. */
  typeParameters: string[][]
  parameters: ParameterType[]
  run(run: Run, values: never, typeArguments: readonly string[]): void
}

const pay = (run: Run, to: Hex, amount: bigint) => {
  ensureAccount(run, to)
  transferAsset(run, apt, to, amount)
}

const requireAsset = (metadata: string): FungibleAsset => {
  const asset = assetAt(metadata)
  if (asset) return asset
  throw abort(
    '0x1::object',
    'ERESOURCE_DOES_NOT_EXIST',
    0x60005,
    `${metadata} is no asset of this simulated ledger`,
  )
}

const requireCoin = (type: string | undefined): FungibleAsset => {
  const asset = assetOfCoin(type ?? '')
  if (asset) return asset
  throw abort('0x1::coin', 'ECOIN_INFO_NOT_PUBLISHED', 0x60003, `${type} is no coin of this simulated ledger`)
}

function payAll(
  recipients: readonly Hex[],
  amounts: readonly bigint[],
  payOne: (to: Hex, amount: bigint) => void,
) {
  if (recipients.length !== amounts.length)
    throw abort(
      '0x1::aptos_account',
      'EMISMATCHING_RECIPIENTS_AND_AMOUNTS_LENGTH',
      0x10005,
      'as many amounts as recipients are needed',
    )
  for (const [index, to] of recipients.entries()) payOne(to, amounts[index]!)
}

const requireIssuer = ({ sender }: Run) => {
  if (sender !== issuerAddress)
    throw abort(
      `${shortAddress(issuerAddress)}::issuer`,
      'ENOT_ISSUER',
      0x50001,
      'only the issuer may do that',
    )
}

const ofIssuer = (parameters: ParameterType[], run: (run: Run, values: never) => void): EntryFunction => ({
  typeParameters: [],
  parameters,
  run: (running, values) => {
    requireIssuer(running)
    run(running, values)
  },
})

/** The functions that transactions call, by name; every other one fails. */
export const entryFunctions: Record<string, EntryFunction> = {
  '0x1::aptos_account::transfer': {
    typeParameters: [],
    parameters: ['address', 'u64'],
    run: (run, [to, amount]: [Hex, bigint]) => pay(run, to, amount),
  },
  '0x1::aptos_account::transfer_coins': {
    typeParameters: [[]],
    parameters: ['address', 'u64'],
    run: (run, [to, amount]: [Hex, bigint], [coin]) => {
      requireCoin(coin)
      pay(run, to, amount)
    },
  },
  '0x1::aptos_account::batch_transfer': {
    typeParameters: [],
    parameters: ['vector<address>', 'vector<u64>'],
    run: (run, [recipients, amounts]: [Hex[], bigint[]]) =>
      payAll(recipients, amounts, (to, amount) => pay(run, to, amount)),
  },
  '0x1::aptos_account::create_account': {
    typeParameters: [],
    parameters: ['address'],
    run: (run, [address]: [Hex]) => {
      if (run.changes.get('accounts', address))
        throw abort('0x1::account', 'EACCOUNT_ALREADY_EXISTS', 0x80001, 'the account exists')
      ensureAccount(run, address)
    },
  },
  '0x1::aptos_account::transfer_fungible_assets': {
    typeParameters: [],
    parameters: [metadataObject, 'address', 'u64'],
    run: (run, [metadata, to, amount]: [Hex, Hex, bigint]) =>
      transferAsset(run, requireAsset(metadata), to, amount),
  },
  '0x1::aptos_account::batch_transfer_fungible_assets': {
    typeParameters: [],
    parameters: [metadataObject, 'vector<address>', 'vector<u64>'],
    run: (run, [metadata, recipients, amounts]: [Hex, Hex[], bigint[]]) => {
      const asset = requireAsset(metadata)
      payAll(recipients, amounts, (to, amount) => transferAsset(run, asset, to, amount))
    },
  },
  '0x1::coin::transfer': {
    typeParameters: [[]],
    parameters: ['address', 'u64'],
    run: (run, [to, amount]: [Hex, bigint], [coin]) => transferAsset(run, requireCoin(coin), to, amount),
  },
  '0x1::primary_fungible_store::transfer': {
    typeParameters: [['key']],
    parameters: [genericObject, 'address', 'u64'],
    run: (run, [metadata, to, amount]: [Hex, Hex, bigint]) =>
      transferAsset(run, requireAsset(metadata), to, amount),
  },
  [`${shortAddress(issuerAddress)}::issuer::mint`]: ofIssuer(
    ['address', 'address', 'u64'],
    (run, [metadata, to, amount]: [Hex, Hex, bigint]) => {
      const asset = requireAsset(metadata)
      // Faucets of APT create the account too, which clients look up before they send.
      if (asset === apt) ensureAccount(run, to)
      mintAsset(run, asset, to, amount)
    },
  ),
  [`${shortAddress(issuerAddress)}::issuer::set_denied`]: ofIssuer(
    ['address', 'address', 'bool'],
    ({ changes }, [metadata, address, isDenied]: [Hex, Hex, boolean]) =>
      changes.set('denied', deniedKey(metadata, address), isDenied),
  ),
  [`${shortAddress(issuerAddress)}::issuer::set_paused`]: ofIssuer(
    ['address', 'bool'],
    ({ changes }, [metadata, isPaused]: [Hex, boolean]) => changes.set('paused', metadata, isPaused),
  ),
  [`${shortAddress(issuerAddress)}::issuer::set_coin_events`]: ofIssuer(
    ['address', 'u64'],
    ({ changes }, [address, kind]: [Hex, bigint]) => changes.set('coinEvents', address, kind),
  ),
}

/** Executes the function of a payload. */
export function callFunction(run: Run, { name, typeArguments, arguments: values }: FunctionCall): void {
  const called = entryFunctions[name]
  if (!called) throw new Abort(`FUNCTION_RESOLUTION_FAILURE: this simulated node does not execute ${name}`)
  if (typeArguments.length !== called.typeParameters.length)
    throw new Abort('NUMBER_OF_TYPE_ARGUMENTS_MISMATCH')
  if (values.length !== called.parameters.length) throw new Abort('NUMBER_OF_ARGUMENTS_MISMATCH')
  if (called.parameters[0] === genericObject && typeArguments[0] !== '0x1::fungible_asset::Metadata')
    throw abort(
      '0x1::object',
      'ERESOURCE_DOES_NOT_EXIST',
      0x60005,
      `${typeArguments[0]} is no type of an asset`,
    )
  const decoded = called.parameters.map((type, index) => {
    const value = decodeValue(type, values[index]!)
    if (value === undefined) throw new Abort('FAILED_TO_DESERIALIZE_ARGUMENT')
    return value
  })
  called.run(run, decoded as never, typeArguments)
}

const addresses = bcs.vector(bcs.bytes(32))
const amounts = bcs.vector(bcs.u64())

/** The value of an argument; undefined of bytes that are no value of the type. */
export function decodeValue(type: ParameterType, bytes: Buffer): Values[number] | undefined {
  if (type === 'u64') return bytes.length === 8 ? bytes.readBigUInt64LE() : undefined
  if (type === 'bool') return bytes.length === 1 && bytes[0]! <= 1 ? bytes[0] === 1 : undefined
  if (type === 'vector<address>')
    return decodeVector(addresses, bytes)?.map((item) => longAddress(Uint8Array.from(item)))
  if (type === 'vector<u64>') return decodeVector(amounts, bytes)?.map(BigInt)
  return bytes.length === 32 ? longAddress(bytes) : undefined
}

function decodeVector<T>(
  type: { parse(bytes: Buffer): T[]; serialize(items: T[]): { toBytes(): Uint8Array } },
  bytes: Buffer,
) {
  try {
    const items = type.parse(bytes)
    return bytes.equals(type.serialize(items).toBytes()) ? items : undefined
  } catch {
    return undefined
  }
}
