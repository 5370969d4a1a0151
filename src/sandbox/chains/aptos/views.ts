import type { Hex } from '#lib/hex'
import { primaryStoreOf, readLongAddress } from './addresses.ts'
import { assetAt, assetOfCoin, type FungibleAsset } from './assets.ts'
import type { FunctionCall } from './codec.ts'
import { NodeError } from './errors.ts'
import { decodeValue, type ParameterType } from './functions.ts'
import { balanceIn, type StateReader } from './state.ts'

/** The ledger that a view function sees. */
type ViewContext = { state: StateReader; chainId: number; timestampUs: bigint }

type ViewFunction = {
  typeParameters: string[][]
  parameters: ParameterType[]
  returns: string[]
  view(context: ViewContext, values: never, typeArguments: readonly string[]): unknown[]
}

const object = '0x1::object::Object<T0>'
const none = { vec: [] }

const abortOf = (module: string, name: string, reason: string) =>
  new NodeError('invalid_input', `Move abort in ${module}: ${name}: ${reason}`)

const assetOf = (metadata: string): FungibleAsset => {
  const asset = assetAt(metadata)
  if (asset) return asset
  throw abortOf(
    '0x1::object',
    'ERESOURCE_DOES_NOT_EXIST(0x60005)',
    `${metadata} is no asset of this simulated ledger`,
  )
}

const coinOf = (type: string | undefined): FungibleAsset => {
  const asset = assetOfCoin(type ?? '')
  if (asset) return asset
  throw abortOf(
    '0x1::coin',
    'ECOIN_INFO_NOT_PUBLISHED(0x60003)',
    `${type} is no coin of this simulated ledger`,
  )
}

const storeOf = ({ state }: ViewContext, address: string) => {
  const store = state.get('stores', address)
  if (store) return store
  throw abortOf('0x1::object', 'ERESOURCE_DOES_NOT_EXIST(0x60005)', `${address} is no store`)
}

const ofAsset = (
  returned: string,
  read: (asset: FungibleAsset, context: ViewContext) => unknown,
): ViewFunction => ({
  typeParameters: [['key']],
  parameters: [object],
  returns: [returned],
  view: (context, [metadata]: [Hex]) => [read(assetOf(metadata), context)],
})

const ofCoin = (
  returned: string,
  read: (asset: FungibleAsset, context: ViewContext) => unknown,
): ViewFunction => ({
  typeParameters: [[]],
  parameters: [],
  returns: [returned],
  view: (context, _values, [coin]) => [read(coinOf(coin), context)],
})

const ofAccount = (
  returned: string,
  read: (address: Hex, context: ViewContext) => unknown,
): ViewFunction => ({
  typeParameters: [],
  parameters: ['address'],
  returns: [returned],
  view: (context, [address]: [Hex]) => [read(address, context)],
})

const ofPrimaryStore = (
  returned: string,
  read: (owner: Hex, metadata: Hex, context: ViewContext) => unknown,
): ViewFunction => ({
  typeParameters: [['key']],
  parameters: ['address', object],
  returns: [returned],
  view: (context, [owner, metadata]: [Hex, Hex]) => [read(owner, metadata, context)],
})

const ofStore = (returned: string, read: (address: Hex, context: ViewContext) => unknown): ViewFunction => ({
  typeParameters: [['key']],
  parameters: [object],
  returns: [returned],
  view: (context, [address]: [Hex]) => [read(address, context)],
})

const plain = (returned: string, read: (context: ViewContext) => unknown): ViewFunction => ({
  typeParameters: [],
  parameters: [],
  returns: [returned],
  view: (context) => [read(context)],
})

const supplyOf = ({ metadata }: FungibleAsset, { state }: ViewContext) => ({
  vec: [state.get('supplies', metadata) ?? 0n],
})
const text = '0x1::string::String'
const optional = '0x1::option::Option<u128>'

/** The view functions that clients and wallets ask for, by name. */
export const viewFunctions: Record<string, ViewFunction> = {
  '0x1::coin::balance': {
    typeParameters: [[]],
    parameters: ['address'],
    returns: ['u64'],
    view: ({ state }, [owner]: [Hex], [coin]) => [balanceIn(state, owner, coinOf(coin).metadata)],
  },
  '0x1::coin::is_account_registered': {
    typeParameters: [[]],
    parameters: ['address'],
    returns: ['bool'],
    view: (_context, _values, [coin]) => [coinOf(coin) !== undefined],
  },
  '0x1::coin::name': ofCoin(text, ({ name }) => name),
  '0x1::coin::symbol': ofCoin(text, ({ symbol }) => symbol),
  '0x1::coin::decimals': ofCoin('u8', ({ decimals }) => decimals),
  '0x1::coin::supply': ofCoin(optional, supplyOf),
  '0x1::coin::paired_metadata': ofCoin(
    '0x1::option::Option<0x1::object::Object<0x1::fungible_asset::Metadata>>',
    ({ metadata }) => ({ vec: [{ inner: metadata }] }),
  ),
  '0x1::primary_fungible_store::balance': ofPrimaryStore('u64', (owner, metadata, { state }) =>
    balanceIn(state, owner, metadata),
  ),
  '0x1::primary_fungible_store::primary_store_address': ofPrimaryStore('address', primaryStoreOf),
  '0x1::primary_fungible_store::primary_store_exists': ofPrimaryStore(
    'bool',
    (owner, metadata, { state }) => state.get('stores', primaryStoreOf(owner, metadata)) !== undefined,
  ),
  '0x1::primary_fungible_store::is_frozen': ofPrimaryStore('bool', () => false),
  '0x1::fungible_asset::name': ofAsset(text, ({ name }) => name),
  '0x1::fungible_asset::symbol': ofAsset(text, ({ symbol }) => symbol),
  '0x1::fungible_asset::decimals': ofAsset('u8', ({ decimals }) => decimals),
  '0x1::fungible_asset::icon_uri': ofAsset(text, () => ''),
  '0x1::fungible_asset::project_uri': ofAsset(text, () => ''),
  '0x1::fungible_asset::supply': ofAsset(optional, supplyOf),
  '0x1::fungible_asset::maximum': ofAsset(optional, () => none),
  '0x1::fungible_asset::balance': ofStore('u64', (address, context) => storeOf(context, address).balance),
  '0x1::fungible_asset::store_metadata': ofStore(
    '0x1::object::Object<0x1::fungible_asset::Metadata>',
    (address, context) => ({ inner: storeOf(context, address).metadata }),
  ),
  '0x1::fungible_asset::is_frozen': ofStore('bool', () => false),
  '0x1::fungible_asset::store_exists': ofAccount(
    'bool',
    (address, { state }) => state.get('stores', address) !== undefined,
  ),
  '0x1::object::owner': ofStore('address', (address, context) => storeOf(context, address).owner),
  '0x1::account::exists_at': ofAccount(
    'bool',
    (address, { state }) => state.get('accounts', address) !== undefined,
  ),
  '0x1::account::get_sequence_number': ofAccount(
    'u64',
    (address, { state }) => state.get('accounts', address)?.sequence ?? 0n,
  ),
  '0x1::account::get_authentication_key': ofAccount('vector<u8>', (address) => ({ bytes: address })),
  '0x1::chain_id::get': plain('u8', ({ chainId }) => chainId),
  '0x1::timestamp::now_microseconds': plain('u64', ({ timestampUs }) => timestampUs),
  '0x1::timestamp::now_seconds': plain('u64', ({ timestampUs }) => timestampUs / 1_000_000n),
}

/** Calls a view function with arguments in BCS. */
export function callView(
  context: ViewContext,
  { name, typeArguments, arguments: values }: FunctionCall,
): unknown[] {
  const called = requireView(name, typeArguments, values)
  const decoded = called.parameters.map((type, index) => {
    const value = decodeValue(type, values[index]!)
    if (value === undefined)
      throw new NodeError('invalid_input', `Argument ${index} of ${name} is no ${type}`)
    return value
  })
  return called.view(context, decoded as never, typeArguments)
}

/** Calls a view function with arguments in JSON. */
export function callViewJson(context: ViewContext, body: unknown): unknown[] {
  const request = (body ?? {}) as { function?: unknown; type_arguments?: unknown; arguments?: unknown }
  const { function: name, type_arguments: typeArguments = [], arguments: values = [] } = request
  if (typeof name !== 'string' || !Array.isArray(typeArguments) || !Array.isArray(values))
    throw new NodeError('invalid_input', 'A view request has a function, type_arguments and arguments')
  const called = requireView(normalName(name), typeArguments, values)
  const decoded = called.parameters.map((type, index) => {
    const value = readArgument(type, values[index])
    if (value === undefined)
      throw new NodeError('invalid_input', `Argument ${index} of ${name} is no ${type}`)
    return value
  })
  return called.view(context, decoded as never, typeArguments as string[])
}

/** The name of a function with its address in the short form. */
const normalName = (name: string) => name.replace(/^0x0*(?=[0-9a-f]+::)/, '0x')

function requireView(
  name: string,
  typeArguments: readonly unknown[],
  values: readonly unknown[],
): ViewFunction {
  const called = viewFunctions[name]
  if (!called) throw new NodeError('invalid_input', `This simulated node has no view function ${name}`)
  const { typeParameters, parameters } = called
  if (typeArguments.length !== typeParameters.length || values.length !== parameters.length)
    throw new NodeError(
      'invalid_input',
      `${name} takes ${typeParameters.length} type arguments and ${parameters.length} arguments`,
    )
  return called
}

function readArgument(type: ParameterType, value: unknown): Hex | bigint | undefined {
  if (type === 'u64') return typeof value === 'string' && /^\d{1,20}$/.test(value) ? BigInt(value) : undefined
  const inner = (value as { inner?: unknown } | null)?.inner
  return readLongAddress(inner ?? value)
}

/** The balance that the node tells of an address, by the type of a coin or the address of an asset. */
export function readBalance(state: StateReader, owner: Hex, asset: string): bigint {
  const coin = assetOfCoin(asset)
  if (coin) return balanceIn(state, owner, coin.metadata)
  const metadata = readLongAddress(asset)
  if (metadata) return balanceIn(state, owner, metadata)
  if (/^0x[0-9a-fA-F]+::\w+::\w+/.test(asset))
    throw new NodeError('resource_not_found', `${asset} is no coin of this simulated ledger`)
  throw new NodeError('invalid_input', `${asset} is neither the type of a coin nor the address of an asset`)
}
