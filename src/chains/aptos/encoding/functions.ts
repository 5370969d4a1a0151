/** The functions of the framework that this program calls, and reads in what keys sign. */
import { type BcsType, bcs } from '@mysten/bcs'
import type { Address } from '../../addresses/types.ts'
import { nativeAsset } from './addresses.ts'
import {
  addressLayout,
  type CalledFunction,
  encoded,
  entryFunctionLayout,
  readExactly,
  type StructTag,
  u64Layout,
} from './layout.ts'

const framework: Address = '0x1'

/** The coins that a call moves: `asset` is the metadata object of a fungible asset. */
type AssetPayment = { asset: Address; recipients: readonly { to: Address; amountAtomic: bigint }[] }

const metadataTag: StructTag = {
  address: framework,
  module: 'fungible_asset',
  name: 'Metadata',
  typeArguments: [],
}

const functionOf = (
  module: string,
  name: string,
  typeArguments: StructTag[],
  args: Buffer[],
): CalledFunction => ({
  module: { address: framework, name: module },
  name,
  typeArguments: typeArguments.map((struct) => ({ struct })),
  arguments: args,
})

const addresses = bcs.vector(addressLayout)
const amounts = bcs.vector(u64Layout)

/** Creates the account of the recipient where there is none. */
export const coinTransfer = (to: Address, amountAtomic: bigint): CalledFunction =>
  functionOf('aptos_account', 'transfer', [], [encoded(addressLayout, to), encoded(u64Layout, amountAtomic)])

export const assetTransfer = (asset: Address, to: Address, amountAtomic: bigint): CalledFunction =>
  functionOf(
    'primary_fungible_store',
    'transfer',
    [metadataTag],
    [encoded(addressLayout, asset), encoded(addressLayout, to), encoded(u64Layout, amountAtomic)],
  )

export const batchTransfer = ({ asset, recipients }: AssetPayment): CalledFunction =>
  functionOf(
    'aptos_account',
    'batch_transfer_fungible_assets',
    [],
    [
      encoded(addressLayout, asset),
      encoded(
        addresses,
        recipients.map(({ to }) => to),
      ),
      encoded(
        amounts,
        recipients.map(({ amountAtomic }) => amountAtomic),
      ),
    ],
  )

export const encodeFunction = (called: CalledFunction): Buffer => encoded(entryFunctionLayout, called)

/** The function as it is named in text: `address::module::name`. */
export const functionName = ({ module, name }: CalledFunction): string =>
  `${module.address}::${module.name}::${name}`

/** The payment of a function of the framework; `undefined` for any other function, and for arguments that no node would take. */
export function paymentOf(called: CalledFunction): AssetPayment | undefined {
  const read = readers[functionName(called)]?.(called.arguments)
  // The same bytes again: type arguments, and whatever else a reader does not look at.
  return read && encodeFunction(read.call).equals(encodeFunction(called)) ? read.payment : undefined
}

type ReadCall = { payment: AssetPayment; call: CalledFunction }

const readers: Record<string, (args: Buffer[]) => ReadCall | undefined> = {
  '0x1::aptos_account::transfer': ([first, second]) => {
    const [to, amountAtomic] = [read(addressLayout, first), read(u64Layout, second)]
    if (to === undefined || amountAtomic === undefined) return undefined
    return {
      payment: { asset: nativeAsset, recipients: [{ to, amountAtomic }] },
      call: coinTransfer(to, amountAtomic),
    }
  },
  '0x1::primary_fungible_store::transfer': ([first, second, third]) => {
    const [asset, to, amountAtomic] = [
      read(addressLayout, first),
      read(addressLayout, second),
      read(u64Layout, third),
    ]
    if (asset === undefined || to === undefined || amountAtomic === undefined) return undefined
    return {
      payment: { asset, recipients: [{ to, amountAtomic }] },
      call: assetTransfer(asset, to, amountAtomic),
    }
  },
  '0x1::aptos_account::batch_transfer_fungible_assets': ([first, second, third]) => {
    const [asset, to, paid] = [read(addressLayout, first), read(addresses, second), read(amounts, third)]
    if (asset === undefined || to === undefined || paid?.length !== to.length) return undefined
    const payment = {
      asset,
      recipients: to.map((each, index) => ({ to: each, amountAtomic: paid[index]! })),
    }
    return { payment, call: batchTransfer(payment) }
  },
}

const read = <Value, Input>(layout: BcsType<Value, Input>, bytes: Buffer | undefined): Value | undefined =>
  bytes && readExactly(layout, bytes)
