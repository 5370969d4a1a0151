import { type Db, sql } from '#runtime/db/db'

/** One block applied or reverted. Steps of a chain are numbered without gaps, in commit order. */
export type Step = {
  blockchain: string
  step: number
  kind: 'applied' | 'undone'
  blockHash: string
  blockNumber: number
  /** The highest block that has its confirmations. */
  completeTo: number
  /** The blocks that this step made final, each reported at least once; none when `finalFrom` is the higher one. */
  finalFrom: number
  finalTo: number
}

/** The highest complete and the highest final block; each `undefined` while the endpoints do not agree on it. */
export type ConfirmedHeights = { completeTo: number | undefined; finalTo: number | undefined }

/** A step before it is appended; one that reverts a block confirms none. */
type NewStep = Pick<Step, 'blockchain' | 'kind' | 'blockHash' | 'blockNumber'> & {
  confirmed?: ConfirmedHeights
}

type ReachedHeights = { step: number; completeTo: number; finalTo: number }

const lastStep = (db: Db, blockchain: string) =>
  db.maybe<ReachedHeights>(sql`select step, coalesce(complete_to, final_to) as complete_to, final_to
    from block_steps where blockchain = ${blockchain} order by step desc limit 1`)

/** The highest final block, -1 for none. */
export const highestFinal = async (db: Db, blockchain: string) =>
  (await lastStep(db, blockchain))?.finalTo ?? -1

/** The highest block that has its confirmations, -1 for none. */
export const highestComplete = async (db: Db, blockchain: string) =>
  (await lastStep(db, blockchain))?.completeTo ?? -1

/** Appends the next step and notifies the engines above when the `tx` commits. The caller holds the chain's lock. */
export async function appendStep(tx: Db, step: NewStep): Promise<void> {
  const { blockchain, kind, blockHash, blockNumber } = step
  const last = await lastStep(tx, blockchain)
  const { completeTo, finalFrom, finalTo } =
    kind === 'applied' ? raised(last, step.confirmed) : lowered(last, blockNumber - 1)
  await tx.run(sql`insert into block_steps (blockchain, step, kind, block_hash, block_number, complete_to, final_from, final_to)
    values (${blockchain}, ${(last?.step ?? 0) + 1}, ${kind}, ${blockHash}, ${blockNumber}, ${completeTo}, ${finalFrom},
      ${finalTo})`)
  await tx.run(sql`select pg_notify('block_steps', ${step.blockchain})`)
}

/** Returns the raised heights: blocks that were not agreed on before become complete and final together with this one. */
function raised(last: ReachedHeights | undefined, confirmed: ConfirmedHeights | undefined) {
  const reach = (before: number | undefined, now: number | undefined) => {
    const from = before ?? (now ?? 0) - 1
    return { before: from, to: Math.max(from, now ?? from) }
  }
  const final = reach(last?.finalTo, confirmed?.finalTo)
  return {
    completeTo: reach(last?.completeTo, confirmed?.completeTo).to,
    finalFrom: Math.min(final.before + 1, confirmed?.finalTo ?? final.before + 1),
    finalTo: final.to,
  }
}

/** Returns the lowered heights: the blocks that replace those above `to` must become complete and final themselves. */
function lowered(last: ReachedHeights | undefined, to: number) {
  const finalTo = Math.min(last?.finalTo ?? -1, to)
  return { completeTo: Math.min(last?.completeTo ?? -1, to), finalFrom: finalTo + 1, finalTo }
}

/** Inserts the cursor of an engine that follows this chain for the first time, before the oldest step that is kept. */
export const ensureCursor = (db: Db, engine: string, blockchain: string) =>
  db.run(sql`insert into step_cursors (engine, blockchain, step)
    select ${engine}, ${blockchain}, coalesce(min(step) - 1, 0) from block_steps where blockchain = ${blockchain}
    on conflict do nothing`)

const stepColumns = sql`s.blockchain, s.step, s.kind, s.block_hash, s.block_number,
  coalesce(s.complete_to, s.final_to) as complete_to, s.final_from, s.final_to`

/** The next step of an engine, not beyond those that the engine `after` has processed. */
export const nextStep = (db: Db, engine: string, blockchain: string, after?: string) =>
  db.maybe<Step>(sql`select ${stepColumns}
    from step_cursors c join block_steps s on s.blockchain = c.blockchain and s.step = c.step + 1
    where c.engine = ${engine} and c.blockchain = ${blockchain} and ${
      after === undefined
        ? sql`true`
        : sql`exists (select 1 from step_cursors o where o.engine = ${after} and o.blockchain = ${blockchain}
            and o.step >= s.step)`
    }`)

/** Returns the next step of an engine and locks its cursor until the `tx` ends; `undefined` also while it is locked. */
export const claimStep = (tx: Db, engine: string, blockchain: string): Promise<Step | undefined> =>
  tx.maybe<Step>(sql`select ${stepColumns}
    from step_cursors c join block_steps s on s.blockchain = c.blockchain and s.step = c.step + 1
    where c.engine = ${engine} and c.blockchain = ${blockchain} for update of c skip locked`)

/** The highest block with its confirmations among those that the engine follows; it follows no other until this `tx` ends. */
export async function lockFollowed(tx: Db, engine: string, blockchain: string): Promise<number> {
  const cursor = await tx.maybe<{ step: number }>(sql`select step from step_cursors
    where engine = ${engine} and blockchain = ${blockchain} for update`)
  const found = await tx.maybe<{
    completeTo: number
  }>(sql`select coalesce(complete_to, final_to) as complete_to
    from block_steps where blockchain = ${blockchain} and step = ${cursor?.step ?? 0}`)
  return found?.completeTo ?? -1
}

export const finishStep = (tx: Db, engine: string, { blockchain, step }: Step) =>
  tx.run(sql`update step_cursors set step = ${step} where engine = ${engine} and blockchain = ${blockchain}`)

/** Whether every engine has processed all steps of the chain. */
export const haveAllProcessedSteps = async (db: Db, blockchain: string): Promise<boolean> =>
  (
    await db.one<{ done: boolean }>(sql`select not exists (select 1 from step_cursors
      where blockchain = ${blockchain}
        and step < (select max(step) from block_steps where blockchain = ${blockchain})) as done`)
  ).done

/** Whether every engine has processed the step that applied this block, whatever follows it. */
export const haveAllProcessedBlock = async (
  db: Db,
  blockchain: string,
  blockHash: string,
): Promise<boolean> =>
  (
    await db.maybe<{ done: boolean }>(sql`select not exists (select 1 from step_cursors c
        where c.blockchain = s.blockchain and c.step < s.step) as done
      from block_steps s where s.blockchain = ${blockchain} and s.block_hash = ${blockHash} and s.kind = 'applied'
      order by s.step desc limit 1`)
  )?.done === true

/** Whether the engine has yet to undo what it did in a block that was reverted. */
export const hasStepsToUndo = async (db: Db, engine: string, blockchain: string): Promise<boolean> =>
  (
    await db.one<{ waits: boolean }>(sql`select exists (select 1
      from step_cursors c join block_steps s on s.blockchain = c.blockchain and s.step > c.step
      where c.engine = ${engine} and c.blockchain = ${blockchain} and s.kind = 'undone') as waits`)
  ).waits

/** Whether the engine has processed all steps of the chain. */
export const hasProcessedSteps = async (db: Db, engine: string, blockchain: string): Promise<boolean> =>
  (
    await db.one<{ done: boolean }>(sql`select
      coalesce((select max(step) from block_steps where blockchain = ${blockchain}), 0)
        <= coalesce((select step from step_cursors where engine = ${engine} and blockchain = ${blockchain}), 0) as done`)
  ).done

export type BlockStep = {
  blockHash: string
  kind: 'applied' | 'undone'
  recordedAt: string | null
  finalAt: string | null
}

/** The number of steps among which the one is looked for that made a block final. */
const finalWithin = 10_000

/** When these blocks were applied, undone, and became final; steps of pruned blocks are gone. */
export const stepsOfBlocks = (db: Db, blockchain: string, blockHashes: readonly string[]) =>
  db.all<BlockStep>(sql`select s.block_hash, s.kind, s.recorded_at,
      case s.kind when 'applied' then (select f.recorded_at from block_steps f
        where f.blockchain = s.blockchain and f.step between s.step and s.step + ${finalWithin}
          and f.final_to >= s.block_number order by f.step limit 1) end as final_at
    from block_steps s where s.blockchain = ${blockchain} and s.block_hash = any(${blockHashes}::text[])
    order by s.step`)
