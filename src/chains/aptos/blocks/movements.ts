/**
 * The coins that a transaction moved. Events name stores, not their owners: the owner of a store is believed when the store is the
 * primary one of that account, which its address proves. What lies in further stores is no account's that wallets show.
 */
import type { Address } from '../../addresses/types.ts'
import { type NodeFields, nodeFields } from '../../nodes/values.ts'
import { nativeAsset, nativeCoinType, primaryStore } from '../encoding/addresses.ts'
import { isNodeAddress, nodeAddress, u64 } from '../rest/values.ts'
import type { ExecutedTransaction } from './transactions.ts'

/** One side of a movement. `place`: the position of its event in the transaction. */
type MovedSide = {
  place: number
  direction: 'in' | 'out'
  asset: Address
  account: Address
  amountAtomic: bigint
}

/** A movement of an asset; from or to `nowhere` where no other side of it has the same amount. */
type AssetMovement = {
  place: number
  asset: Address
  from: Address
  to: Address
  amountAtomic: bigint
}

/** The counterparty of coins that are created, burnt, split or put together. */
export const nowhere: Address = '0x0'

const assetEvents: Readonly<Record<string, MovedSide['direction']>> = {
  '0x1::fungible_asset::Deposit': 'in',
  '0x1::fungible_asset::Withdraw': 'out',
}
const coinEvents: Readonly<Record<string, MovedSide['direction']>> = {
  '0x1::coin::CoinDeposit': 'in',
  '0x1::coin::CoinWithdraw': 'out',
}
/** Events of the older kind, whose account is in their handle. Newer frameworks emit the ones above beside them. */
const handleEvents: Readonly<Record<string, MovedSide['direction']>> = {
  '0x1::coin::DepositEvent': 'in',
  '0x1::coin::WithdrawEvent': 'out',
}

/** The movements of these assets in a transaction; none of a failed one, whatever its events say. */
export function movementsIn(transaction: ExecutedTransaction, assets: ReadonlySet<Address>): AssetMovement[] {
  if (!transaction.success) return []
  const sides = [...assetSides(transaction, assets), ...coinSides(transaction, assets)]
  return paired(sides.filter(({ amountAtomic }) => amountAtomic > 0n).sort((a, b) => a.place - b.place))
}

function assetSides(transaction: ExecutedTransaction, assets: ReadonlySet<Address>): MovedSide[] {
  const stores = storesIn(transaction.changes)
  let others: Address[] | undefined
  return transaction.events.flatMap(({ type, data }, place): MovedSide[] => {
    const direction = assetEvents[String(type)]
    if (!direction) return []
    const fields = nodeFields(data, 'event')
    const store = nodeAddress(fields['store'], 'store of an event')
    const amountAtomic = u64(fields['amount'], 'amount of an event')
    const { asset, owner } = stores.get(store) ?? {}
    if (asset !== undefined && !assets.has(asset)) return []
    if (asset !== undefined && owner !== undefined) {
      const account = primaryStore(owner, asset) === store ? owner : store
      return [{ place, direction, asset, account, amountAtomic }]
    }
    // The store is not among the changes: an account of the transaction whose primary store it is.
    others ??= partiesOf(transaction)
    for (const account of others)
      for (const each of assets)
        if (primaryStore(account, each) === store)
          return [{ place, direction, asset: each, account, amountAtomic }]
    return []
  })
}

type ChangedStore = { asset?: Address; owner?: Address }

/** Stores that a transaction changed: the resources of an object are written together, its owner among them. */
function storesIn(changes: readonly NodeFields[]): Map<Address, ChangedStore> {
  const stores = new Map<Address, ChangedStore>()
  for (const { type, address, data } of changes) {
    if (type !== 'write_resource' || !isNodeAddress(address)) continue
    const resource = nodeFields(data, 'change')
    const store = nodeAddress(address, 'changed address')
    if (resource['type'] === '0x1::object::ObjectCore') {
      const { owner } = nodeFields(resource['data'], 'object')
      stores.set(store, { ...stores.get(store), owner: nodeAddress(owner, 'owner of an object') })
    }
    if (resource['type'] === '0x1::fungible_asset::FungibleStore') {
      const { metadata } = nodeFields(resource['data'], 'store')
      const { inner } = nodeFields(metadata, 'asset of a store')
      stores.set(store, { ...stores.get(store), asset: nodeAddress(inner, 'asset of a store') })
    }
  }
  return stores
}

/** Accounts that are looked at where changes do not tell of a store: a stranger chooses their number. */
const partiesMax = 32

function partiesOf({ sender, payer, payload }: ExecutedTransaction): Address[] {
  const found = new Set<Address>([sender, payer])
  const look = (value: unknown, depth: number): void => {
    if (found.size >= partiesMax || depth > 4) return
    if (isNodeAddress(value)) found.add(nodeAddress(value, 'argument'))
    else if (typeof value === 'object' && value !== null)
      for (const each of Object.values(value)) look(each, depth + 1)
  }
  look((payload as NodeFields | null)?.['arguments'], 0)
  return [...found]
}

/** Movements of the native coin in the form that it had before it was a fungible asset. */
function coinSides(transaction: ExecutedTransaction, assets: ReadonlySet<Address>): MovedSide[] {
  if (!assets.has(nativeAsset)) return []
  const named = transaction.events.flatMap(({ type, data }, place): MovedSide[] => {
    const direction = coinEvents[String(type)]
    if (!direction) return []
    const { coin_type, account, amount } = nodeFields(data, 'event')
    if (coin_type !== nativeCoinType) return []
    const of = nodeAddress(account, 'account of an event')
    return [{ place, direction, asset: nativeAsset, account: of, amountAtomic: u64(amount, 'amount') }]
  })
  const left = [...named]
  const handles = handlesIn(transaction.changes)
  const isNative = movesNativeAlone(transaction.payload)
  const unnamed = transaction.events.flatMap(({ type, data, guid }, place): MovedSide[] => {
    const direction = handleEvents[String(type)]
    if (!direction) return []
    const { account_address, creation_number } = nodeFields(guid, 'handle of an event')
    const account = nodeAddress(account_address, 'account of an event')
    if (!isNative && !handles.has(`${account} ${String(creation_number)}`)) return []
    const amountAtomic = u64(nodeFields(data, 'event')['amount'], 'amount')
    const same = left.findIndex(
      (each) =>
        each.account === account && each.direction === direction && each.amountAtomic === amountAtomic,
    )
    if (same < 0) return [{ place, direction, asset: nativeAsset, account, amountAtomic }]
    left.splice(same, 1)
    return []
  })
  return [...named, ...unnamed]
}

/** Whether the called function moves native coins and no other. */
function movesNativeAlone(payload: unknown): boolean {
  const { function: called, type_arguments: types } = (payload ?? {}) as NodeFields
  if (called === '0x1::aptos_account::transfer') return true
  const [type] = Array.isArray(types) ? types : []
  return called === '0x1::coin::transfer' && type === nativeCoinType
}

/** The handles of events of native coins among the changed resources: an event itself does not tell its coin. */
function handlesIn(changes: readonly NodeFields[]): Set<string> {
  const handles = new Set<string>()
  for (const { type, data } of changes) {
    if (type !== 'write_resource') continue
    const resource = nodeFields(data, 'change')
    if (resource['type'] !== `0x1::coin::CoinStore<${nativeCoinType}>`) continue
    const store = nodeFields(resource['data'], 'coin store')
    for (const name of ['deposit_events', 'withdraw_events']) {
      const { guid } = nodeFields(store[name], 'events of a coin store')
      const { addr, creation_num } = nodeFields(nodeFields(guid, 'handle')['id'], 'handle')
      handles.add(`${nodeAddress(addr, 'handle')} ${String(creation_num)}`)
    }
  }
  return handles
}

/** Joins what left one account to what came to another by asset and amount, in the order of events. */
function paired(sides: readonly MovedSide[]): AssetMovement[] {
  const open: MovedSide[] = []
  const movements: AssetMovement[] = []
  for (const side of sides) {
    if (side.direction === 'out') {
      open.push(side)
      continue
    }
    const { place, asset, account: to, amountAtomic } = side
    const from = open.findIndex((each) => each.asset === asset && each.amountAtomic === amountAtomic)
    const [source] = from < 0 ? [] : open.splice(from, 1)
    movements.push({ place, asset, from: source?.account ?? nowhere, to, amountAtomic })
  }
  for (const { place, asset, account: from, amountAtomic } of open)
    movements.push({ place, asset, from, to: nowhere, amountAtomic })
  return movements.sort((a, b) => a.place - b.place)
}
