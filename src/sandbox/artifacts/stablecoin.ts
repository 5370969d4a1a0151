import {
  addressMappingSlot,
  addressWord,
  type ContractStorage,
  packStorage,
  type StoragePlace,
  shortStringWord,
} from '#chains/evm/contracts/storage-slots'
import { stablecoinLayout } from './stablecoin-code.ts'

export { runtimeBytecode } from './stablecoin-code.ts'

type Address = `0x${string}`

/** The state a stablecoin is born with. Amounts are in its smallest units; names take at most 31 bytes each. */
export type StablecoinState = {
  name: string
  symbol: string
  currency: string
  decimals: number
  owner: Address
  masterMinter: Address
  pauser: Address
  blacklister: Address
  minters: readonly { address: Address; allowance: bigint }[]
  balances: readonly { address: Address; amount: bigint }[]
  /** Has to equal the sum of the balances; that sum when left out. */
  totalSupply?: bigint
}

/**
 * The storage of an initialised stablecoin, to stand beside `runtimeBytecode` in a genesis file.
 * Throws RangeError when a role is the zero address, an account appears twice, a value does not fit its place or
 * the supply is not the sum of the balances.
 */
export function stablecoinStorage(state: StablecoinState): ContractStorage {
  const layout = stablecoinLayout
  const supply = state.balances.reduce((sum, { amount }) => sum + amount, 0n)
  if ((state.totalSupply ?? supply) !== supply) {
    throw new RangeError(`totalSupply ${state.totalSupply} is not the sum of the balances, ${supply}`)
  }
  return packStorage([
    [layout._owner, role('owner', state.owner)],
    [layout._masterMinter, role('masterMinter', state.masterMinter)],
    [layout._pauser, role('pauser', state.pauser)],
    [layout._blacklister, role('blacklister', state.blacklister)],
    [layout._name, shortStringWord(state.name)],
    [layout._symbol, shortStringWord(state.symbol)],
    [layout._currency, shortStringWord(state.currency)],
    [layout._decimals, BigInt(state.decimals)],
    [layout._totalSupply, supply],
    [layout._initialized, 1n],
    ...state.minters.map(({ address }) => [entry(layout._minters, address), 1n] as const),
    ...state.minters.map(
      ({ address, allowance }) => [entry(layout._minterAllowances, address), allowance] as const,
    ),
    ...state.balances.map(({ address, amount }) => [entry(layout._balances, address), amount] as const),
  ])
}

function role(name: string, address: Address): bigint {
  const value = addressWord(address)
  if (value === 0n) throw new RangeError(`The ${name} of a stablecoin cannot be the zero address`)
  return value
}

function entry(mapping: StoragePlace, key: Address): StoragePlace {
  return { slot: addressMappingSlot(mapping.slot, key), offset: 0, sizeBytes: 32 }
}
