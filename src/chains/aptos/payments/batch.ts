/** The payments of one asset to several addresses: the one function of the framework that wallets call. */
import { hexOf } from '#lib/hex'
import { isSpecialAptosAddress, parseAptosAddress } from '../../addresses/aptos.ts'
import type { Address } from '../../addresses/types.ts'
import { FunctionUnsupported } from '../../facets/functions.ts'
import type { Call } from '../../facets/payments.ts'
import { ValueProblem } from '../../invalid-value.ts'
import { nativeAsset } from '../encoding/addresses.ts'
import { batchTransfer, encodeFunction } from '../encoding/functions.ts'

const framework: Address = '0x1'
const signature =
  'aptos_account::batch_transfer_fungible_assets(metadata:object::Object<fungible_asset::Metadata>,recipients:vector<address>,amounts:vector<u64>)'

/** Transactions have at most 64 KiB, and nodes are asked about each recipient. */
const recipientsMax = 500
const amountMax = 2n ** 64n - 1n

export function batchCallOf(
  contract: Address,
  asked: string,
  values: readonly unknown[],
): Call & { to: Address } {
  if (contract !== framework)
    throw new FunctionUnsupported(
      'contractAddress',
      `must be ${framework}: wallets call no other contract here`,
    )
  if (asked.replace(/\s/g, '') !== signature)
    throw new FunctionUnsupported(
      'abiFunctionSignature',
      `must be ${signature}: wallets call no other function here`,
    )
  if (values.length !== 3)
    throw new ValueProblem(
      'abiParameters',
      'must have three items: the asset, the recipients and the amounts',
    )
  const [asset, recipients, amounts] = values
  const to = listOf(recipients, 'abiParameters[1]', addressOf)
  const paid = listOf(amounts, 'abiParameters[2]', amountOf)
  if (paid.length !== to.length)
    throw new ValueProblem(
      'abiParameters[2]',
      `must have one amount for each of the ${to.length} recipients: it has ${paid.length}`,
    )
  const called = batchTransfer({
    asset: assetOf(asset),
    recipients: to.map((each, index) => ({ to: each, amountAtomic: paid[index]! })),
  })
  return { to: framework, valueAtomic: 0n, data: hexOf(encodeFunction(called)) }
}

function assetOf(value: unknown): Address {
  const asset = typeof value === 'string' ? parseAptosAddress(value) : undefined
  if (asset === undefined || (asset !== nativeAsset && isSpecialAptosAddress(asset)))
    throw new ValueProblem(
      'abiParameters[0]',
      'must be the address of the metadata of a fungible asset, 0x and 64 hexadecimal digits: coin types are none',
    )
  return asset
}

function listOf<Item>(value: unknown, at: string, read: (item: unknown, at: string) => Item): Item[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > recipientsMax)
    throw new ValueProblem(at, `must be a list of 1 to ${recipientsMax} items`)
  return value.map((item, index) => read(item, `${at}[${index}]`))
}

function addressOf(value: unknown, at: string): Address {
  const address = typeof value === 'string' ? parseAptosAddress(value) : undefined
  if (address === undefined)
    throw new ValueProblem(at, 'must be an address: 0x and 64 hexadecimal digits, leading zeros included')
  if (isSpecialAptosAddress(address))
    throw new ValueProblem(at, 'is reserved by the blockchain: coins sent there are lost')
  return address
}

function amountOf(value: unknown, at: string): bigint {
  const amount = typeof value === 'string' && /^(0|[1-9]\d{0,19})$/.test(value) ? BigInt(value) : undefined
  if (amount === undefined || amount > amountMax)
    throw new ValueProblem(at, `must be base units as a string, a whole number up to ${amountMax}`)
  return amount
}
