import { type Db, jsonOf, sql } from '#runtime/db/db'

/** The depositor of a balance on one chain. */
type BalanceHolder = { blockchain: string; depositor: string }

/** Changes of balances, collected so that they are made in one order: transfers and blocks never deadlock. */
export type Changes = Map<string, BalanceHolder & { atomic: bigint }>

export function addChange(changes: Changes, { blockchain, depositor }: BalanceHolder, atomic: bigint): void {
  const key = `${blockchain} ${depositor}`
  const before = changes.get(key)?.atomic ?? 0n
  changes.set(key, { blockchain, depositor, atomic: before + atomic })
}

const inOrder = (changes: Changes) =>
  [...changes.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, change]) => change)

/** Applies what chains did. What they take beyond the available amount is overdrawn, and later credits repay it first. */
export async function applyChanges(tx: Db, changes: Changes): Promise<void> {
  for (const { blockchain, depositor, atomic } of inOrder(changes)) {
    if (atomic === 0n) continue
    await tx.run(sql`insert into unified_balances as b (blockchain, depositor, available, overdrawn)
      values (${blockchain}, ${depositor}, greatest(${String(atomic)}::numeric, 0), greatest(-(${String(atomic)}::numeric), 0))
      on conflict (blockchain, depositor) do update set
        available = greatest(b.available - b.overdrawn + ${String(atomic)}::numeric, 0),
        overdrawn = greatest(b.overdrawn - b.available - ${String(atomic)}::numeric, 0)`)
  }
}

/** Takes amounts out of available balances, all or none; returns the first holder that has too little, with what there is. */
export async function takeAvailable(
  tx: Db,
  taken: Changes,
): Promise<(BalanceHolder & { atomic: bigint; availableAtomic: bigint }) | undefined> {
  for (const holder of inOrder(taken)) {
    const { blockchain, depositor, atomic } = holder
    const count =
      await tx.run(sql`update unified_balances set available = available - ${String(atomic)}::numeric
      where blockchain = ${blockchain} and depositor = ${depositor} and available >= ${String(atomic)}::numeric`)
    if (count === 1) continue
    const [row] = await availableOf(tx, [{ blockchain, depositor }])
    return { ...holder, availableAtomic: row?.availableAtomic ?? 0n }
  }
  return undefined
}

/** The available balances of these holders that have any. */
export const availableOf = (db: Db, holders: readonly BalanceHolder[]) =>
  db.all<
    BalanceHolder & { availableAtomic: bigint }
  >(sql`select b.blockchain, b.depositor, b.available as available_atomic
    from jsonb_to_recordset(${jsonOf(holders)}::jsonb) as asked(blockchain text, depositor text)
    join unified_balances b on b.blockchain = asked.blockchain and b.depositor = asked.depositor`)
