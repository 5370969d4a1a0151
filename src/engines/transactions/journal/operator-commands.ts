import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { declareLost, listJournals, readDatabaseIdentity, readDatabaseState } from '../store/journals.ts'
import { lockJournal } from './directory.ts'
import { lastSeenOf, readLastSeen, writeLastSeen } from './last-seen.ts'
import { type Merged, mergeJournal } from './merge.ts'
import type { JournaledResources } from './resources.ts'

/** Every journal that was ever registered; `awaited` ones block all signing. */
export const listWorkerJournals = (db: Db) => listJournals(db)

/** Merges the journal in this directory, which no worker may be using; it may come from another machine. */
export async function mergeWorkerJournal(
  ctx: EngineCtx,
  resources: JournaledResources,
  path: string,
): Promise<Merged> {
  if (!existsSync(path)) throw new Error(`no directory ${path}: give the directory of the journal`)
  const id = basename(resolve(path))
  if (!/^[0-9a-f]{16}$/.test(id))
    throw new Error(
      `${path} is not a journal: the directory of one is named by 16 hexadecimal digits and must keep its name`,
    )
  const directory = await lockJournal(resolve(path), id)
  if (!directory) throw new Error(`the journal ${path} is in use: its worker merges it`)
  try {
    const seen = await readLastSeen(directory.path)
    const { installation } = await readDatabaseIdentity(ctx.database)
    if (seen !== undefined && seen.installation !== installation)
      throw new Error(`the journal ${path} belongs to another database`)
    const merged = await mergeJournal(ctx, resources, directory, seen)
    await writeLastSeen(directory.path, lastSeenOf(await readDatabaseState(ctx.database)))
    return merged
  } finally {
    await directory.release()
  }
}

/** Declares a journal lost: signing no longer waits for it. False when it does not exist or was declared lost before. */
export const declareJournalLost = (db: Db, nowMs: number, id: string): Promise<boolean> =>
  db.tx((tx) => declareLost(tx, nowMs, id))
