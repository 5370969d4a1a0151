import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { constraintOf, type Db, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import {
  type AccountName,
  accountKey,
  ensureAccounts,
  type HeldAmount,
  lockedAccounts,
} from '../../store/accounts.ts'

/** An account that can have holds: coins of a managed address, or money of a merchant's wallet, whose id is the `address`. */
type HoldAccount =
  | { entityId: string; address: string; blockchain: string; tokenId: string }
  | { entityId: string; address: string; currency: string }

export const accountNameOf = (account: HoldAccount): AccountName => {
  const { entityId, address } = account
  return 'currency' in account
    ? { entityId, address, kind: 'wallet', blockchain: '', currency: account.currency }
    : { entityId, address, kind: 'address', blockchain: account.blockchain, tokenId: account.tokenId }
}

/**
 * A transaction holds the coins of its amount and its fee; the disbursement behind it may hold a merchant's money. Received
 * coins are held while their review is not approved. Coins that a treasury sends for `gas`, such as a deposit, are held as its
 * fees are: where the coins of merchants pay for gas, too, those that no merchant owns have to cover both.
 */
type HoldPurpose = 'amount' | 'fee' | 'gas' | 'money' | 'review'

export type Hold = HoldAccount & {
  /** The owner of the hold: the transaction or payout that will spend it. */
  intentId: string
  purpose: HoldPurpose
  amountAtomic: bigint
  /** Of an unlisted token: resolved when its contract was asked for the balance after the transfer. */
  ofUnlisted?: boolean
}

/** The unheld balance of the account is too low. Nothing was written; the `tx` is aborted. */
export class InsufficientFunds extends Error {}

/**
 * Places all holds or none. `regardless` skips the balance check, for holds restored after a reorg or from a journal: their
 * amounts may have left before and may leave again, whatever the account has now.
 */
export async function placeHolds(
  tx: Db,
  nowMs: number,
  holds: readonly Hold[],
  { regardless = false } = {},
): Promise<void> {
  const placed = holds.filter((hold) => hold.amountAtomic > 0n)
  if (placed.length === 0) return
  const names = placed.map(accountNameOf)
  const accounts = await ensureAccounts(tx, nowMs, names)
  // A distributed server tells the constraint that refused a row only of statements that return rows.
  const insert = () =>
    tx.run(sql`insert into holds (entity_id, id, account_id, intent_id, purpose, amount, of_unlisted, create_date)
      select *, ${formatInstant(nowMs)}::timestamptz from unnest(${placed.map((hold) => hold.entityId)}::uuid[],
        ${placed.map(() => newId(nowMs))}::uuid[], ${names.map((name) => accounts.get(accountKey(name))!)}::uuid[],
        ${placed.map((hold) => hold.intentId)}::uuid[], ${placed.map((hold) => hold.purpose)}::text[],
        ${placed.map((hold) => hold.amountAtomic.toString())}::numeric[],
        ${placed.map((hold) => hold.ofUnlisted ?? false)}::bool[]) returning id`)
  if (regardless) return holdRegardless(tx, insert)
  try {
    await insert()
  } catch (error) {
    if (constraintOf(error) === 'holds_covered')
      throw new InsufficientFunds('the hold exceeds the available balance')
    throw error
  }
}

/** An address of an entity, and the token in which it pays fees. */
type FeeAccount = Extract<HoldAccount, { tokenId: string }>

export const availableForFees = async (tx: Db, nowMs: number, account: FeeAccount): Promise<bigint> =>
  (await availableForFeesOf(tx, nowMs, account, [account.address])).get(account.address)!

/**
 * Returns the amount that can still be held for fees on each address of an entity. Locks the accounts, so that the result stays valid
 * until the `tx` ends and a batch can place as many holds as are covered.
 */
export async function availableForFeesOf(
  tx: Db,
  nowMs: number,
  owner: Omit<FeeAccount, 'address'>,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const names = addresses.map((address) => accountNameOf({ ...owner, address }))
  const accounts = await lockedAccounts(tx, nowMs, names)
  const amounts = names.map((name): [string, bigint] => {
    const own = unheldIn(accounts.get(accountKey(name))!)
    const unclaimed = accounts.get(accountKey({ ...name, kind: 'unclaimed' }))
    const isLess = unclaimed !== undefined && unheldIn(unclaimed) < own
    return [name.address, isLess ? unheldIn(unclaimed) : own]
  })
  return new Map(amounts)
}

const unheldIn = ({ postedAtomic, heldAtomic }: HeldAmount): bigint => postedAtomic - heldAtomic

/** Locks accounts that one `tx` needs together, in the order of all that lock several. */
export const lockForHolds = (tx: Db, nowMs: number, accounts: readonly HoldAccount[]) =>
  ensureAccounts(tx, nowMs, accounts.map(accountNameOf))

type HoldResolution = {
  entityId: string
  intentId: string
  /** All but `money` when absent. */
  purpose?: HoldPurpose
  outcome: 'posted' | 'voided'
  /** Leaves the holds of unlisted tokens open. */
  listedOnly?: boolean
}

/** Resolves the open holds of each intent; those resolved before stay as they were. */
export async function resolveHolds(
  tx: Db,
  nowMs: number,
  resolutions: readonly HoldResolution[],
): Promise<void> {
  await perEntity(resolutions, (entityId, own) =>
    tx.all(sql`insert into hold_resolutions (entity_id, hold_id, outcome, create_date)
      select ${entityId}::uuid, open.id, n.o, ${formatInstant(nowMs)}
      from unnest(${own.map((item) => item.intentId)}::uuid[], ${own.map((item) => item.purpose ?? null)}::text[],
        ${own.map((item) => item.outcome)}::text[], ${own.map((item) => item.listedOnly ?? false)}::bool[]) as n(i, p, o, l)
      cross join lateral (select h.id from holds h where h.entity_id = ${entityId} and h.intent_id = n.i
          and case when n.p is null then h.purpose <> 'money' else h.purpose = n.p end and not (n.l and h.of_unlisted)
          and not exists (select 1 from hold_resolutions r where r.entity_id = ${entityId} and r.hold_id = h.id)
        offset 0) open`),
  )
}

/**
 * Raises an open hold for a fee to `amountAtomic`, or places it, under the account's lock; a hold that is large enough stays. False,
 * with nothing changed, when the account cannot cover the difference.
 */
export async function raiseHold(
  tx: Db,
  nowMs: number,
  hold: Extract<Hold, FeeAccount> & { purpose: 'fee' },
): Promise<boolean> {
  const available = await availableForFees(tx, nowMs, hold)
  const open = await tx.maybe<{ amount: bigint }>(sql`select h.amount from holds h
    where h.entity_id = ${hold.entityId} and h.intent_id = ${hold.intentId} and h.purpose = ${hold.purpose}
      and not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)`)
  const heldAtomic = open?.amount ?? 0n
  if (heldAtomic >= hold.amountAtomic) return true
  if (available + heldAtomic < hold.amountAtomic) return false
  const { entityId, intentId, purpose } = hold
  await resolveHolds(tx, nowMs, [{ entityId, intentId, purpose, outcome: 'voided' }])
  await placeHolds(tx, nowMs, [hold])
  return true
}

/** Reopens the coin holds that these intents had before their block was orphaned, whatever the accounts have. */
export async function reopenHolds(
  tx: Db,
  nowMs: number,
  intents: readonly { entityId: string; intentId: string }[],
): Promise<void> {
  if (intents.length === 0) return
  await perEntity(intents, (entityId, own) => lockHeld(tx, entityId, own))
  await holdRegardless(tx, () => perEntity(intents, (entityId, own) => holdAgain(tx, nowMs, entityId, own)))
}

/** Locks the accounts on which these intents have or had holds of coins, in the order of all that lock several. */
const lockHeld = (tx: Db, entityId: string, intents: readonly { intentId: string }[]) =>
  tx.all(sql`select 1 from accounts a where a.entity_id = ${entityId} and a.id in (
      select u.id from unnest(${intents.map((row) => row.intentId)}::uuid[]) as n(i)
      join holds x on x.entity_id = ${entityId} and x.intent_id = n.i and x.purpose <> 'money'
      join accounts o on o.entity_id = ${entityId} and o.id = x.account_id
      cross join lateral (select o.id union all select s.id from accounts s where o.kind = 'address'
        and s.entity_id = ${entityId} and s.address = o.address and s.token_id = o.token_id and s.kind = 'unclaimed') u)
    order by a.id for no key update`)

/** Places the last of the holds of coins that these intents had again, where none is open. */
const holdAgain = (tx: Db, nowMs: number, entityId: string, intents: readonly { intentId: string }[]) =>
  tx.all(sql`insert into holds (entity_id, id, account_id, intent_id, purpose, amount, of_unlisted, create_date)
    select h.entity_id, gen_random_uuid(), h.account_id, h.intent_id, h.purpose, h.amount, h.of_unlisted, ${formatInstant(nowMs)}
    from (
      select distinct on (x.intent_id, x.purpose, x.account_id) x.* from holds x
      join unnest(${intents.map((row) => row.intentId)}::uuid[]) as n(i) on x.intent_id = n.i
      where x.entity_id = ${entityId} and x.purpose <> 'money'
      order by x.intent_id, x.purpose, x.account_id, x.create_date desc, x.amount desc
    ) h
    where not exists (
      select 1 from holds o where o.entity_id = ${entityId} and o.intent_id = h.intent_id and o.purpose = h.purpose
        and o.account_id = h.account_id
        and not exists (select 1 from hold_resolutions r where r.entity_id = ${entityId} and r.hold_id = o.id))`)

/** Places holds whatever the accounts have. */
async function holdRegardless(tx: Db, place: () => Promise<unknown>): Promise<void> {
  await tx.run(sql`set local bezant.hold_regardless = 'on'`)
  await place()
  await tx.run(sql`set local bezant.hold_regardless = 'off'`)
}

export type OpenHold = {
  id: string
  entityId: string
  tokenId: string
  address: string
  intentId: string
  amountAtomic: bigint
}

/** Returns the intents that have an open hold of the purpose. */
export const heldFor = (
  tx: Db,
  purpose: HoldPurpose,
  intents: readonly { entityId: string; intentId: string }[],
) =>
  tx.all<{
    entityId: string
    intentId: string
  }>(sql`select h.entity_id, h.intent_id
    from unnest(${intents.map((row) => row.entityId)}::uuid[], ${intents.map((row) => row.intentId)}::uuid[]) as n(e, i)
    join holds h on h.entity_id = n.e and h.intent_id = n.i and h.purpose = ${purpose}
    where not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)`)

/** The open holds on these balances in unlisted tokens, newest first. */
export const openUnlistedHolds = (
  tx: Db,
  balances: readonly { entityId: string; tokenId: string; address: string }[],
) =>
  tx.all<OpenHold>(sql`select h.id, a.entity_id, a.token_id, a.address, h.intent_id, h.amount as amount_atomic
    from unnest(${balances.map((row) => row.entityId)}::uuid[], ${balances.map((row) => row.tokenId)}::uuid[],
      ${balances.map((row) => row.address)}::text[]) as n(e, t, d)
    join accounts a on a.entity_id = n.e and a.token_id = n.t and a.kind = 'address' and a.address = n.d and a.held > 0
    join holds h on h.entity_id = a.entity_id and h.account_id = a.id and h.of_unlisted
    where not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)
    order by h.create_date desc, h.id desc`)

/** Resolves these holds: their amounts have left. */
export const postHolds = (tx: Db, nowMs: number, holds: readonly OpenHold[]) =>
  tx.run(sql`insert into hold_resolutions (entity_id, hold_id, outcome, create_date)
    select e, h, 'posted', ${formatInstant(nowMs)}::timestamptz
    from unnest(${holds.map((hold) => hold.entityId)}::uuid[], ${holds.map((hold) => hold.id)}::uuid[]) as n(e, h)`)

/** A hold of an intent as it was placed, and how it ended. */
export type PlacedHold = {
  id: string
  purpose: HoldPurpose
  amountAtomic: bigint
  tokenId: string | null
  currency: string | null
  outcome: 'posted' | 'voided' | null
  recordedAt: string
  resolvedAt: string | null
}

/** Every hold that an intent placed, oldest first. */
export const placedHolds = (db: Db, entityId: string, intentId: string) =>
  db.all<PlacedHold>(sql`select h.id, h.purpose, h.amount as amount_atomic, a.token_id, a.currency, r.outcome,
      coalesce(h.recorded_at, h.create_date) as recorded_at, coalesce(r.recorded_at, r.create_date) as resolved_at
    from holds h join accounts a on a.entity_id = h.entity_id and a.id = h.account_id
    left join hold_resolutions r on r.entity_id = h.entity_id and r.hold_id = h.id
    where h.entity_id = ${entityId} and h.intent_id = ${intentId} order by h.create_date, h.id`)
