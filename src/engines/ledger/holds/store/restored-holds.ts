import { type Db, type Sql, sql } from '#runtime/db/db'
import { ensureAccounts } from '../../store/accounts.ts'
import { accountNameOf, type Hold, placeHolds, resolveHolds } from './holds.ts'

type HeldIntent = { entityId: string; intentId: string }
type HeldKey = HeldIntent & Pick<Hold, 'purpose'> & { tokenId: string }

type CopiedHold = HeldKey & Pick<Hold, 'amountAtomic'> & { copy: string }

/** The open holds of these intents on managed addresses, each with a JSON text that restores it in any copy of the books. */
export function copyHolds(db: Db, intents: readonly HeldIntent[]): Promise<CopiedHold[]> {
  const [first] = intents
  const isOfOne = intents.every(({ entityId }) => entityId === first?.entityId)
  const ids = intents.map(({ intentId }) => intentId)
  const isOpen = (hold: Sql) =>
    sql`not exists (select 1 from hold_resolutions r where r.entity_id = ${hold}.entity_id and r.hold_id = ${hold}.id)`
  // Of one entity, each hold is found by its key: until tables are analysed, the planner would join all that the entity has.
  const open = isOfOne
    ? sql`unnest(${ids}::uuid[]) as n(i) cross join lateral (select * from holds x
        where x.entity_id = ${first?.entityId ?? null} and x.intent_id = n.i and ${isOpen(sql`x`)} offset 0) h`
    : sql`unnest(${intents.map(({ entityId }) => entityId)}::uuid[], ${ids}::uuid[]) as n(e, i)
        join holds h on h.entity_id = n.e and h.intent_id = n.i and ${isOpen(sql`h`)}`
  return db.all<CopiedHold>(sql`select h.entity_id, h.intent_id, h.purpose, a.token_id, h.amount as amount_atomic,
      jsonb_build_object('entityId', h.entity_id, 'address', a.address,
        'blockchain', a.blockchain, 'tokenId', a.token_id, 'intentId', h.intent_id, 'purpose', h.purpose,
        'ofUnlisted', h.of_unlisted, 'amount', h.amount::text)::text as copy
    from ${open} join accounts a on a.entity_id = h.entity_id and a.id = h.account_id and a.kind = 'address'`)
}

const holdFrom = (copy: string): Hold & { tokenId: string } => {
  const { amount, ...hold } = JSON.parse(copy)
  return { ...hold, amountAtomic: BigInt(amount) }
}

const keyOf = ({ entityId, intentId, purpose, tokenId }: HeldKey) =>
  `${entityId}:${intentId}:${purpose}:${tokenId}`

/** Restores holds that are missing or smaller, whatever the accounts have; of several copies the largest counts. */
export async function restoreHolds(tx: Db, nowMs: number, copies: readonly string[]): Promise<void> {
  const largest = new Map<string, ReturnType<typeof holdFrom>>()
  for (const hold of copies.map(holdFrom))
    if (hold.amountAtomic > (largest.get(keyOf(hold))?.amountAtomic ?? 0n)) largest.set(keyOf(hold), hold)
  const holds = [...largest.values()]
  // Locks the accounts first: a hold is resolved only under the lock of its account.
  await ensureAccounts(tx, nowMs, holds.map(accountNameOf))
  const open = new Map((await copyHolds(tx, holds)).map((hold) => [keyOf(hold), hold.amountAtomic]))
  const missing = holds.filter((hold) => hold.amountAtomic > (open.get(keyOf(hold)) ?? 0n))
  const smaller = missing.filter((hold) => open.has(keyOf(hold)))
  await resolveHolds(
    tx,
    nowMs,
    smaller.map(({ entityId, intentId, purpose }) => ({ entityId, intentId, purpose, outcome: 'voided' })),
  )
  await placeHolds(tx, nowMs, missing, { regardless: true })
}
