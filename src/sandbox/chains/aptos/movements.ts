import type { Hex } from '#lib/hex'
import { coreAddress, primaryStoreOf, shortAddress, zeroAccount } from './addresses.ts'
import { apt, aptosCoinType, type FungibleAsset } from './assets.ts'
import type { Work } from './gas.ts'
import { deniedKey, type StateChanges } from './state.ts'

export type ChainEvent = {
  type: string
  data: Record<string, unknown>
  /** The handle of an event of the older kind: its account, and the number of its creation there. */
  guid?: { account: Hex; creation: string }
}

/** A payload in execution: what it changes, emits and costs. */
export type Run = { changes: StateChanges; events: ChainEvent[]; work: Work; sender: Hex }

/** Ends a payload: all that it changed is given up, and the transaction is committed as failed. */
export class Abort extends Error {}

export const abort = (module: string, name: string, code: number, reason: string): Abort =>
  new Abort(`Move abort in ${module}: ${name}(0x${code.toString(16)}): ${reason}`)

const u64Max = 2n ** 64n - 1n

export function transferAsset(run: Run, asset: FungibleAsset, to: Hex, amount: bigint): void {
  run.work.movements++
  requireAllowed(run, asset, run.sender)
  requireAllowed(run, asset, to)
  withdraw(run, asset, run.sender, amount)
  deposit(run, asset, to, amount)
}

export function mintAsset(run: Run, asset: FungibleAsset, to: Hex, amount: bigint): void {
  run.work.movements++
  const supply = (run.changes.get('supplies', asset.metadata) ?? 0n) + amount
  run.changes.set('supplies', asset.metadata, supply)
  if (supply > u64Max)
    throw abort('0x1::fungible_asset', 'EMAX_SUPPLY_EXCEEDED', 0x20005, 'the supply exceeds 64 bits')
  deposit(run, asset, to, amount)
}

/** Takes a fee out of the supply, for which no event of a withdrawal is emitted. */
export function burnFee(changes: StateChanges, payer: Hex, octas: bigint): void {
  const address = primaryStoreOf(payer, apt.metadata)
  const store = changes.get('stores', address)
  if (!store || store.balance < octas) throw new Error('the payer of a fee was not checked')
  changes.set('stores', address, { ...store, balance: store.balance - octas })
  const supply = changes.get('supplies', apt.metadata) ?? 0n
  changes.set('supplies', apt.metadata, supply - octas)
}

/** Creates an account unless the address has one. */
export function ensureAccount(run: Pick<Run, 'changes' | 'work'>, address: Hex): void {
  if (run.changes.get('accounts', address)) return
  if (address === zeroAccount || address === coreAddress)
    throw abort('0x1::account', 'ECANNOT_RESERVED_ADDRESS', 0x10005, 'the address is reserved')
  run.changes.set('accounts', address, { sequence: 0n })
  run.work.newAccounts++
}

function withdraw(run: Run, asset: FungibleAsset, owner: Hex, amount: bigint): void {
  const { address, state } = ensureStore(run, asset, owner)
  if (state.balance < amount)
    throw abort(
      '0x1::fungible_asset',
      'EINSUFFICIENT_BALANCE',
      0x10004,
      'the store holds less than the amount',
    )
  run.changes.set('stores', address, { ...state, balance: state.balance - amount })
  if (amount > 0n) emitMovement(run, asset, 'Withdraw', owner, address, amount)
}

function deposit(run: Run, asset: FungibleAsset, owner: Hex, amount: bigint): void {
  const { address, state } = ensureStore(run, asset, owner)
  run.changes.set('stores', address, { ...state, balance: state.balance + amount })
  if (amount > 0n) emitMovement(run, asset, 'Deposit', owner, address, amount)
}

function ensureStore(run: Run, { metadata }: FungibleAsset, owner: Hex) {
  const address = primaryStoreOf(owner, metadata)
  const found = run.changes.get('stores', address)
  if (found) return { address, state: found }
  const state = { owner, metadata, balance: 0n }
  run.changes.set('stores', address, state)
  run.work.newStores++
  return { address, state }
}

function requireAllowed(run: Run, asset: FungibleAsset, address: Hex): void {
  if (!asset.isRegulated) return
  const module = shortAddress(asset.metadata)
  if (run.changes.get('paused', asset.metadata))
    throw abort(`${module}::pausable`, 'EPAUSED', 0x1, 'the issuer paused the asset')
  if (run.changes.get('denied', deniedKey(asset.metadata, address)))
    throw abort(`${module}::blocklistable`, 'EBLOCKLISTED', 0x1, `the issuer denies ${shortAddress(address)}`)
}

/** The kinds of events of an account whose coins were not moved to a store of fungible assets. */
const coinEventKinds = { none: 0n, handle: 1n, module: 2n, both: 3n } as const

function emitMovement(
  run: Run,
  asset: FungibleAsset,
  direction: 'Deposit' | 'Withdraw',
  owner: Hex,
  store: Hex,
  amount: bigint,
): void {
  const kind = asset === apt ? (run.changes.get('coinEvents', owner) ?? 0n) : coinEventKinds.none
  const { events } = run
  if (kind === coinEventKinds.none) {
    const data = { store: shortAddress(store), amount: String(amount) }
    events.push({ type: `0x1::fungible_asset::${direction}`, data })
  }
  if (kind === coinEventKinds.module || kind === coinEventKinds.both) {
    const data = { coin_type: aptosCoinType, account: shortAddress(owner), amount: String(amount) }
    events.push({ type: `0x1::coin::Coin${direction}`, data })
  }
  if (kind === coinEventKinds.handle || kind === coinEventKinds.both) {
    const guid = { account: owner, creation: direction === 'Deposit' ? '2' : '3' }
    events.push({ type: `0x1::coin::${direction}Event`, data: { amount: String(amount) }, guid })
  }
}
