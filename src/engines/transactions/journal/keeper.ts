/**
 * Keeps the journal of this process, and blocks all signing while a sent transaction may be missing in the database: at
 * start, and whenever it detects that an older copy of the database was restored. Then every registered journal has to be
 * merged by its worker, or be declared lost by the operator.
 */

import { join } from 'node:path'
import type { EngineCtx } from '#engines/ctx'
import { createNews } from '#lib/news'
import { raiseAlarm } from '#runtime/log/alarms'
import { repeat } from '#runtime/loop'
import {
  awaitedJournals,
  type DatabaseIdentity,
  findJournal,
  type KnownJournal,
  moveHead,
  readStanding,
} from '../store/journals.ts'
import { holdJournal, idsIn, type JournalDirectory, journalsIn, makeJournal } from './directory.ts'
import { type Journal, openJournal } from './journal.ts'
import { mergeJournal } from './merge.ts'
import { readSeen, type Seen, seenOf, wentBack, writeSeen } from './seen.ts'
import { JournalError } from './segments.ts'
import { type JournalWriter, journalWriter } from './write.ts'

export type JournalKeeper = {
  /** The journal writer for attempts that are about to be sent; `undefined` until the journal is open. */
  writer(): JournalWriter | undefined
  /** Whether every sent transaction is in the database, as of the last check. */
  isMerged(): boolean
  /** The same with a new check; called before each signing round. */
  maySign(): Promise<boolean>
  /** Resolves after the first try to open and merge the journals, successful or not. */
  tried: Promise<void>
  stop(): Promise<void>
}

/** Interval between writes of the last seen database state. */
const seenMs = 5_000
/** Interval between reminders of an unresolved problem. */
const remindMs = 60_000

type Own = { journal: Journal; writer: JournalWriter; seen: Seen | undefined; seenAtMs: number }

/** Calls `onMerged` each time that signing may begin. */
export function startKeeper(ctx: EngineCtx, onMerged: () => void): JournalKeeper {
  const home = journalsIn(ctx.config)
  const [report, complain] = [reporter(ctx), complainer(ctx)]
  let own: Own | undefined
  let epochMerged: number | undefined
  let merged = false
  const turn = async () => {
    own ??= await openOwn(ctx, home, complain)
    const standing = await readStanding(ctx.database)
    if (epochMerged !== standing.epoch || (await mustMerge(ctx, own, standing))) {
      merged = false
      epochMerged = await mergeAll(ctx, home, own)
    }
    await noteProgress(ctx, own, standing)
    const awaited = await awaitedJournals(ctx.database)
    report(awaited)
    const opens = awaited.length === 0 && !merged
    merged = awaited.length === 0
    if (opens) onMerged()
    return false
  }
  let setTried: () => void
  const tried = new Promise<void>((resolve) => {
    setTried = resolve
  })
  const loop = repeat(turn, {
    failed: (error) => {
      merged = false
      complain(error)
      setTried()
    },
    went: () => setTried(),
  })
  return {
    tried,
    writer: () => own?.writer,
    isMerged: () => merged,
    maySign: async () => {
      if (!merged || !own) return false
      if (!hasChanged(await readStanding(ctx.database), own.seen)) return true
      merged = false
      loop.wake()
      return false
    },
    stop: async () => {
      await loop.stop()
      await own?.journal.close()
    },
  }
}

/** Opens the first journal of this installation that no worker holds, or a new one. */
async function openOwn(ctx: EngineCtx, home: string, complain: Complain): Promise<Own> {
  const { installation } = await readStanding(ctx.database)
  for (const id of await idsIn(home)) {
    const directory = await holdJournal(join(home, id), id)
    if (!directory) continue
    const seen = await readSeen(directory.path).catch(releasing(directory))
    if (seen === undefined || seen.installation === installation)
      return openIn(ctx, directory, seen, complain)
    ctx.log.warn({ journal: directory.path }, 'this journal belongs to another database and is left alone')
    await directory.release()
  }
  return openIn(ctx, await makeJournal(home), undefined, complain)
}

async function openIn(
  ctx: EngineCtx,
  directory: JournalDirectory,
  seen: Seen | undefined,
  complain: Complain,
): Promise<Own> {
  const journal = await openJournal(directory).catch(releasing(directory))
  const append: Journal['append'] = (records) =>
    journal.append(records).catch((error) => {
      complain(error)
      throw error
    })
  const writer = journalWriter(ctx.database, { append })
  return { journal, writer, seen, seenAtMs: Number.NEGATIVE_INFINITY }
}

/** Releases a directory that could not be opened: the next try takes it again, and no other one in its place. */
const releasing = (directory: JournalDirectory) => async (error: unknown) => {
  await directory.release()
  throw error
}

/** Whether the database may be an older copy of the one seen before. */
const hasChanged = (standing: DatabaseIdentity, seen: Seen | undefined): boolean =>
  standing.incarnation !== standing.live || wentBack(standing, seen)

async function mustMerge(
  ctx: EngineCtx,
  { journal, seen }: Own,
  standing: DatabaseIdentity,
): Promise<boolean> {
  if (hasChanged(standing, seen)) return true
  const known = await findJournal(ctx.database, journal.id)
  return known === undefined || known.state === 'lost' || known.mergedEpoch < standing.epoch
}

/**
 * Merges this process's journal and those on this machine that no process holds. Returns the epoch in which all are merged.
 */
async function mergeAll(ctx: EngineCtx, home: string, own: Own): Promise<number> {
  const { added, epoch } = await mergeJournal(ctx, own.journal, own.seen)
  if (added > 0) ctx.log.warn({ journal: own.journal.path, added }, 'put back what the database had lost')
  // From here on, this incarnation is the one that checks compare with.
  own.seen = seenOf(await readStanding(ctx.database))
  await writeSeen(own.journal.path, own.seen)
  let last = epoch
  for (const id of (await idsIn(home)).filter((each) => each !== own.journal.id))
    if (await mayHoldMore(ctx, home, id))
      last = (await mergeLeft(ctx, home, id, own.seen.installation)) ?? last
  return last === epoch ? epoch : mergeAll(ctx, home, own)
}

/**
 * Whether a journal of this machine may hold records that the database lost. A journal that was merged in this epoch, and
 * whose worker saw no later database state, does not, so workers that start do not wait for it.
 */
async function mayHoldMore(ctx: EngineCtx, home: string, id: string): Promise<boolean> {
  const [standing, known, seen] = await Promise.all([
    readStanding(ctx.database),
    findJournal(ctx.database, id),
    readSeen(join(home, id)),
  ])
  if (seen === undefined) return true
  return known?.state !== 'open' || known.mergedEpoch < standing.epoch || wentBack(standing, seen)
}

async function mergeLeft(ctx: EngineCtx, home: string, id: string, installation: string) {
  const directory = await holdJournal(join(home, id), id)
  if (!directory) return undefined
  try {
    const seen = await readSeen(directory.path)
    if (seen !== undefined && seen.installation !== installation) return undefined
    const { added, epoch } = await mergeJournal(ctx, directory, seen)
    if (added > 0) ctx.log.warn({ journal: directory.path, added }, 'put back what the database had lost')
    await writeSeen(directory.path, seenOf(await readStanding(ctx.database)))
    return epoch
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
    raiseAlarm(ctx.log, error.alarm, { err: error }, 'a journal that was left cannot be merged')
    return undefined
  } finally {
    await directory.release()
  }
}

/** Registers the journal's head, since all its records are in the database, and saves the database state. */
async function noteProgress(ctx: EngineCtx, own: Own, standing: DatabaseIdentity): Promise<void> {
  const { sequence, hash } = own.journal.head()
  await moveHead(ctx.database, ctx.clock.nowMs(), { id: own.journal.id, sequence, headHash: hash })
  if (hasChanged(standing, own.seen)) return
  own.seen = seenOf(standing)
  if (performance.now() - own.seenAtMs < seenMs) return
  await writeSeen(own.journal.path, own.seen)
  own.seenAtMs = performance.now()
}

type Complain = (error: unknown) => void

/** Raises the alarm of a failure when it starts, and again every `remindMs`. */
function complainer(ctx: EngineCtx): Complain {
  const isNews = createNews(remindMs)
  return (error) => {
    const { message } = error as Error
    if (!isNews(message)) return
    const alarm = error instanceof JournalError ? error.alarm : 'journal-unavailable'
    raiseAlarm(
      ctx.log,
      alarm,
      { err: error },
      'the journal cannot be kept: nothing is signed or sent; trying on',
    )
  }
}

/** Reports the journals that block signing when they change, and again every `remindMs`. */
function reporter(ctx: EngineCtx) {
  let shown = ''
  let shownAtMs = 0
  return (awaited: readonly KnownJournal[]) => {
    const now = awaited.map(({ id }) => id).join()
    if (now === shown && (now === '' || performance.now() - shownAtMs < remindMs)) return
    const journals = awaited.map(({ id, host, path }) => ({ id, host, path }))
    if (now !== '')
      raiseAlarm(
        ctx.log,
        'journal-unmerged',
        { journals },
        'an older copy of the database was restored: nothing is signed on any chain until these journals are merged; start their workers, or see: bezant journal --help',
      )
    else ctx.log.info({}, 'every journal is merged: signing goes on')
    shown = now
    shownAtMs = performance.now()
  }
}
