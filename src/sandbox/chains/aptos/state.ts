import type { Hex } from '#lib/hex'
import { primaryStoreOf } from './addresses.ts'

export type AccountState = { sequence: bigint }
export type StoreState = { owner: Hex; metadata: Hex; balance: bigint }

/** Values of all versions of the ledger, so that balances of the past can be read. */
type Versions<T> = Map<string, { version: number; value: T }[]>

/** The tables of the ledger. */
type Tables = {
  accounts: AccountState
  stores: StoreState
  /** Addresses denied to an asset, as `metadata/address`. */
  denied: boolean
  paused: boolean
  supplies: bigint
  /** Accounts that hold APT as the older coin, and the kind of events that it emits. */
  coinEvents: bigint
}
type StateTable = keyof Tables

export type LedgerState = { [T in StateTable]: Versions<Tables[T]> }

export const createLedgerState = (): LedgerState => ({
  accounts: new Map(),
  stores: new Map(),
  denied: new Map(),
  paused: new Map(),
  supplies: new Map(),
  coinEvents: new Map(),
})

/** The ledger as it was after a version. */
export type StateReader = { get<T extends StateTable>(table: T, key: string): Tables[T] | undefined }

export function readState(state: LedgerState, version = Number.POSITIVE_INFINITY): StateReader {
  return {
    get: (table, key) => state[table].get(key)?.findLast((entry) => entry.version <= version)?.value,
  }
}

/** StateChanges of a transaction, which are seen by itself until they are written or given up. */
export type StateChanges = StateReader & {
  set<T extends StateTable>(table: T, key: string, value: Tables[T]): void
  all(): StateWrite[]
}

export type StateWrite = { table: StateTable; key: string; value: Tables[StateTable] }

export function openChanges(base: StateReader): StateChanges {
  const written = new Map<string, StateWrite>()
  return {
    get: <T extends StateTable>(table: T, key: string) => {
      const own = written.get(`${table} ${key}`)
      return own ? (own.value as Tables[T]) : base.get(table, key)
    },
    set: (table, key, value) => void written.set(`${table} ${key}`, { table, key, value }),
    all: () => [...written.values()],
  }
}

/** Writes changes into those that they were made on. */
export function mergeChanges(into: StateChanges, writes: readonly StateWrite[]): void {
  for (const { table, key, value } of writes) into.set(table, key, value as never)
}

/** Writes changes as a version of the ledger. */
export function writeChanges(state: LedgerState, writes: readonly StateWrite[], version: number): void {
  for (const { table, key, value } of writes) {
    const entries = state[table].get(key) as { version: number; value: unknown }[] | undefined
    if (entries) entries.push({ version, value })
    else state[table].set(key, [{ version, value }] as never)
  }
}

/** Forgets values that no version from `oldest` on shows. */
export function pruneState(state: LedgerState, oldest: number): void {
  for (const table of Object.values(state))
    for (const entries of table.values()) {
      const first = entries.findLastIndex((entry) => entry.version <= oldest)
      if (first > 0) entries.splice(0, first)
    }
}

/** The balance of an owner in the primary store of an asset. */
export const balanceIn = (state: StateReader, owner: string, metadata: string): bigint =>
  state.get('stores', primaryStoreOf(owner, metadata))?.balance ?? 0n

export const deniedKey = (metadata: string, address: string) => `${metadata}/${address}`
