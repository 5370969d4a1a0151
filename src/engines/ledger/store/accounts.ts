import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Db, type Sql, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'

/** The balances on chains are booked in tokens, the money of merchants in currencies. */
export const accountKinds = [
  'address',
  'outside',
  'fees',
  'difference',
  'drift',
  'wallet',
  'settlement',
  'unclaimed',
  'adjustment',
] as const
export type AccountKind = (typeof accountKinds)[number]

/** The unit of an account: a token, or a currency, which is on no blockchain. */
export type Unit = { tokenId: string; currency?: undefined } | { tokenId?: undefined; currency: string }

/**
 * Names an account without its id. `address` is a managed address, a merchant's wallet id or a treasury; empty for other
 * kinds.
 */
export type AccountName = Unit & {
  entityId: string
  kind: AccountKind
  blockchain: string
  address: string
}

export const accountKey = (name: AccountName): string =>
  `${name.entityId}:${name.tokenId ?? name.currency}:${name.kind}:${name.address}`

/**
 * Returns the ids of the named accounts, inserts missing ones, and locks all in order until the `tx` ends. The lock precedes
 * rows that refer to them: if the trigger upgraded the foreign key's weaker lock, PostgreSQL could fail with "new multixact
 * has more than one updating member" under contention.
 */
export async function ensureAccounts(
  tx: Db,
  nowMs: number,
  names: readonly AccountName[],
): Promise<Map<string, string>> {
  const accounts = await lockedAccounts(tx, nowMs, names)
  return new Map([...accounts].map(([key, { id }]) => [key, id]))
}

/** An account under the lock of a `tx`. */
type LockedAccount = HeldAmount & { id: string }

/** The same, with the amounts of the accounts, and of the unclaimed coins beside accounts of addresses. */
export async function lockedAccounts(
  tx: Db,
  nowMs: number,
  names: readonly AccountName[],
): Promise<Map<string, LockedAccount>> {
  const distinct = [...new Map(names.map((name) => [accountKey(name), name])).entries()].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const list = distinct.map(([, name]) => name)
  const found = await findAccounts(tx, list)
  const missing = distinct.filter(([key]) => !found.has(key)).map(([, name]) => name)
  if (missing.length === 0) return found
  await insertAccounts(tx, nowMs, missing)
  return findAccounts(tx, list)
}

/**
 * Locks accounts of tokens before those of currencies: the lock order of all callers. The unclaimed coins of an address are locked
 * with it, since its holds are held on them, too.
 */
async function findAccounts(tx: Db, names: readonly AccountName[]): Promise<Map<string, LockedAccount>> {
  const ofTokens = names.filter(({ tokenId }) => tokenId !== undefined)
  const ofCurrencies = names.filter(({ currency }) => currency !== undefined)
  const rows = [
    ...(ofTokens.length > 0 ? await lockAccounts(tx, ofTokens, sql`a.token_id = n.t::uuid`) : []),
    ...(ofCurrencies.length > 0 ? await lockAccounts(tx, ofCurrencies, sql`a.currency = n.t`) : []),
  ]
  return new Map(rows.map((row) => [accountKey(row), row]))
}

const lockAccounts = (tx: Db, names: readonly AccountName[], ofUnit: Sql) =>
  perEntity(names, (entityId, own) =>
    tx.all<AccountName & LockedAccount>(sql`
      select a.id, a.entity_id, a.token_id, a.currency, a.kind, a.blockchain, a.address, a.posted as posted_atomic, a.held as held_atomic
      from unnest(${own.map(unitOf)}::text[], ${own.map((name) => name.kind)}::text[],
        ${own.map((name) => name.address)}::text[]) as n(t, k, d)
      join accounts a on a.entity_id = ${entityId} and ${ofUnit} and a.address = n.d
        and (a.kind = n.k or (a.kind = 'unclaimed' and n.k = 'address'))
      order by a.id for no key update of a`),
  )

const unitOf = ({ tokenId, currency }: Unit) => tokenId ?? currency

async function insertAccounts(tx: Db, nowMs: number, names: readonly AccountName[]): Promise<void> {
  const at = formatInstant(nowMs)
  await tx.run(sql`insert into accounts
      (entity_id, id, kind, token_id, currency, blockchain, address, create_date, update_date)
    select *, ${at}::timestamptz, ${at}::timestamptz from unnest(${names.map((name) => name.entityId)}::uuid[],
      ${names.map(() => newId(nowMs))}::uuid[], ${names.map((name) => name.kind)}::text[],
      ${names.map((name) => name.tokenId ?? null)}::uuid[], ${names.map((name) => name.currency ?? null)}::text[],
      ${names.map((name) => name.blockchain)}::text[], ${names.map((name) => name.address)}::text[]) as row
    on conflict do nothing`)
}

export type Balance = {
  entityId: string
  address: string
  tokenId: string
  /** The on-chain balance of the address as of the last applied block. */
  postedAtomic: bigint
  /** The part of it that is held. */
  heldAtomic: bigint
  createDate: string
  updateDate: string
}

/** The balances of addresses in every token that they ever held. */
export const balancesOf = (db: Db, entityId: string, blockchain: string, addresses: readonly string[]) =>
  db.all<Balance>(sql`select a.entity_id, a.address, a.token_id, a.posted as posted_atomic, a.held as held_atomic,
      a.create_date, a.update_date
    from accounts a where a.entity_id = ${entityId} and a.kind = 'address' and a.token_id is not null
      and a.blockchain = ${blockchain} and a.address = any(${addresses}::text[])`)

/** An amount that is booked, and the part of it that is held. */
export type HeldAmount = Pick<Balance, 'postedAtomic' | 'heldAtomic'>

const noCoins: HeldAmount = { postedAtomic: 0n, heldAtomic: 0n }

/**
 * The coins of an address in a token by their uses, as of one moment. All are for both, unless an account tells apart those that no
 * merchant owns: these are for gas, and the rest is for payments, and less than nothing where coins for gas were sent to payees.
 */
export async function coinsByUse(
  db: Db,
  { entityId, address, tokenId }: { entityId: string; address: string; tokenId: string },
): Promise<{ forGas: HeldAmount; forPayments: HeldAmount }> {
  const row = await db.maybe<HeldAmount & { gasPosted: bigint | null; gasHeld: bigint | null }>(
    sql`select a.posted as posted_atomic, a.held as held_atomic, u.posted as gas_posted, u.held as gas_held
    from accounts a left join accounts u on u.entity_id = a.entity_id and u.address = a.address and u.token_id = a.token_id
      and u.kind = 'unclaimed'
    where a.entity_id = ${entityId} and a.kind = 'address' and a.token_id = ${tokenId} and a.address = ${address}`,
  )
  if (!row) return { forGas: noCoins, forPayments: noCoins }
  const { postedAtomic, heldAtomic, gasPosted, gasHeld } = row
  if (gasPosted === null || gasHeld === null) return { forGas: row, forPayments: row }
  return {
    forGas: { postedAtomic: gasPosted, heldAtomic: gasHeld },
    forPayments: { postedAtomic: postedAtomic - gasPosted, heldAtomic: heldAtomic - gasHeld },
  }
}

/** Opens the account of unclaimed coins: from then on gas is paid with them alone. */
export const openUnclaimedCoins = async (
  tx: Db,
  nowMs: number,
  account: { entityId: string; blockchain: string; address: string; tokenId: string },
): Promise<void> => void (await ensureAccounts(tx, nowMs, [{ ...account, kind: 'unclaimed' }]))

/** SQL condition: the address owns at least `minAtomic` of a token; `address` is a column. */
export const ownsAtLeast = (entityId: string, tokenId: string, address: Sql, minAtomic: bigint): Sql =>
  minAtomic === 0n
    ? sql`true`
    : sql`exists (select 1 from accounts a where a.entity_id = ${entityId} and a.token_id = ${tokenId}
        and a.kind = 'address' and a.address = ${address} and a.posted >= ${minAtomic.toString()}::numeric)`
