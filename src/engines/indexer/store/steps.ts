import { type Db, sql } from '#runtime/db/db'

/** One block applied or taken back. Steps of a chain are numbered without gaps, in the order they were committed. */
export type Step = {
  blockchain: string
  step: number
  kind: 'applied' | 'undone'
  blockHash: string
  blockNumber: number
  /** The blocks that became final by it, each told at least once; none when `finalFrom` is the higher one. */
  finalFrom: number
  finalTo: number
}

/** A step before it is appended. `agreedUpTo`: the highest block that is final, when that could be agreed on. */
export type NewStep = Omit<Step, 'step' | 'finalFrom' | 'finalTo'> & { agreedUpTo?: number | undefined }

const lastStep = (db: Db, blockchain: string) =>
  db.maybe<{ step: number; finalTo: number }>(sql`select step, final_to as "finalTo"
    from block_steps where blockchain = ${blockchain} order by step desc limit 1`)

/** The highest block that was ever told to be final, -1 for none. */
export const highestFinal = async (db: Db, blockchain: string) =>
  (await lastStep(db, blockchain))?.finalTo ?? -1

/** Appends the next step and tells the engines above, when the `tx` commits. The caller holds the chain's lock. */
export async function appendStep(tx: Db, step: NewStep): Promise<void> {
  const { blockchain, kind, blockHash, blockNumber, agreedUpTo } = step
  const last = await lastStep(tx, blockchain)
  const before = last?.finalTo ?? (agreedUpTo ?? 0) - 1
  // What was final stays so, whatever is taken back above it; what could not be agreed on before becomes final along.
  const finalTo = Math.max(before, agreedUpTo ?? before)
  const finalFrom = Math.min(before + 1, agreedUpTo ?? before + 1)
  await tx.run(sql`insert into block_steps (blockchain, step, kind, block_hash, block_number, final_from, final_to)
    values (${blockchain}, ${(last?.step ?? 0) + 1}, ${kind}, ${blockHash}, ${blockNumber}, ${finalFrom}, ${finalTo})`)
  await tx.run(sql`select pg_notify('block_steps', ${step.blockchain})`)
}

/** Makes the cursor of an engine that follows this chain for the first time. */
export const ensureCursor = (db: Db, engine: string, blockchain: string) =>
  db.run(sql`insert into step_cursors (engine, blockchain, step) values (${engine}, ${blockchain}, 0)
    on conflict do nothing`)

/** The step an engine has to do next, with its cursor locked until the `tx` ends; none also while another process is at it. */
export const claimStep = (tx: Db, engine: string, blockchain: string): Promise<Step | undefined> =>
  tx.maybe<Step>(sql`select s.blockchain, s.step, s.kind, s.block_hash as "blockHash", s.block_number as "blockNumber",
      s.final_from as "finalFrom", s.final_to as "finalTo"
    from step_cursors c join block_steps s on s.blockchain = c.blockchain and s.step = c.step + 1
    where c.engine = ${engine} and c.blockchain = ${blockchain} for update of c skip locked`)

export const finishStep = (tx: Db, engine: string, { blockchain, step }: Step) =>
  tx.run(sql`update step_cursors set step = ${step} where engine = ${engine} and blockchain = ${blockchain}`)

/** Whether the engine has done every step of the chain that there is. */
export const hasFollowed = async (db: Db, engine: string, blockchain: string): Promise<boolean> =>
  (
    await db.one<{ done: boolean }>(sql`select
      coalesce((select max(step) from block_steps where blockchain = ${blockchain}), 0)
        <= coalesce((select step from step_cursors where engine = ${engine} and blockchain = ${blockchain}), 0) as done`)
  ).done
