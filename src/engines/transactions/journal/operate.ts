import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { listJournals, loseJournal, readStanding } from '../store/journals.ts'
import { holdJournal } from './directory.ts'
import { type Merged, mergeJournal } from './merge.ts'
import { readSeen, seenOf, writeSeen } from './seen.ts'

/** Every journal that was ever registered; `awaited` ones block all signing. */
export const listWorkerJournals = (db: Db) => listJournals(db)

/** Merges the journal in this directory, which no worker may be using; it may come from another machine. */
export async function mergeWorkerJournal(ctx: EngineCtx, path: string): Promise<Merged> {
  if (!existsSync(path)) throw new Error(`there is no directory ${path}: name that of the journal`)
  const id = basename(resolve(path))
  if (!/^[0-9a-f]{16}$/.test(id))
    throw new Error(`${path} is no journal: its directory is named by 16 hexadecimal digits, which must stay`)
  const directory = await holdJournal(resolve(path), id)
  if (!directory) throw new Error(`the journal ${path} is in use: its worker merges it by itself`)
  try {
    const seen = await readSeen(directory.path)
    const { installation } = await readStanding(ctx.database)
    if (seen !== undefined && seen.installation !== installation)
      throw new Error(`the journal ${path} belongs to another database`)
    const merged = await mergeJournal(ctx, directory, seen)
    await writeSeen(directory.path, seenOf(await readStanding(ctx.database)))
    return merged
  } finally {
    await directory.release()
  }
}

/** Declares a journal lost: signing no longer waits for it. False when it does not exist or was declared lost before. */
export const loseWorkerJournal = (db: Db, nowMs: number, id: string): Promise<boolean> =>
  db.tx((tx) => loseJournal(tx, nowMs, id))
