/**
 * Keeps the journal of this process, and blocks all signing while a sent transaction may be missing in the database: at
 * start, and whenever it detects that an older copy of the database was restored. Then every registered journal has to be
 * merged by its worker, or be declared lost by the operator.
 */

import { join } from 'node:path'
import type { EngineCtx } from '#engines/ctx'
import { systemCode } from '#lib/system-code'
import { type Db, isVolumeFull } from '#runtime/db/db'
import { type AlarmName, endAlarm, raiseAlarm } from '#runtime/log/alarms'
import { repeat } from '#runtime/scheduling/loop'
import { createRepeatFilter } from '#runtime/scheduling/repeat-filter'
import {
  advanceHead,
  awaitedJournals,
  type DatabaseIdentity,
  findJournal,
  type KnownJournal,
  readDatabaseIdentity,
  readDatabaseState,
} from '../store/journals.ts'
import {
  createJournal,
  type JournalDirectory,
  journalsDirectory,
  listJournalIds,
  lockJournal,
} from './directory.ts'
import { type Journal, openJournal } from './journal.ts'
import { type LastSeen, lastSeenOf, readLastSeen, wasRolledBack, writeLastSeen } from './last-seen.ts'
import { mergeJournal } from './merge.ts'
import type { JournaledResources } from './resources.ts'
import { JournalError } from './segments.ts'
import { type JournalWriter, journalWriter } from './writer.ts'

export type JournalKeeper = {
  /** The journal writer for attempts that are about to be sent; `undefined` until the journal is open. */
  writer(): JournalWriter | undefined
  /** Whether every sent transaction is in the database, as of the last check. */
  isMerged(): boolean
  /** The same with a new check; called before each signing round. */
  maySign(): Promise<boolean>
  /** Whether all journals were merged, and no older copy of the database replaced it since; also while the own one has trouble. */
  mayFollow(db: Db): Promise<boolean>
  /** Resolves after the first try to open and merge the journals, successful or not. */
  started: Promise<void>
  stop(): Promise<void>
}

/** Interval between writes of the last seen database state. */
const saveEveryMs = 5_000
/** Interval between reminders of an unresolved problem. */
const remindMs = 60_000

type Own = { journal: Journal; writer: JournalWriter; seen: LastSeen | undefined; seenAtMs: number }

/** Calls `onMerged` each time that signing may begin. */
export function startKeeper(
  ctx: EngineCtx,
  resources: JournaledResources,
  onMerged: () => void,
): JournalKeeper {
  const home = journalsDirectory(ctx.config)
  const [report, failures] = [unmergedReporter(ctx), failureReporter(ctx)]
  let own: Own | undefined
  let epochMerged: number | undefined
  let merged = false
  let follows = false
  const turn = async () => {
    own ??= await openOwn(ctx, resources, home, failures.failed)
    const identity = await readDatabaseIdentity(ctx.database)
    if (epochMerged !== identity.epoch || (await requiresMerge(ctx, own, identity))) {
      merged = follows = false
      const opened = own
      epochMerged = await opened.writer.whileStill(() => mergeAll(ctx, resources, home, opened))
    }
    await saveProgress(ctx, own)
    const awaited = await awaitedJournals(ctx.database)
    report(awaited)
    const opens = awaited.length === 0 && !merged
    merged = follows = awaited.length === 0
    if (opens) onMerged()
    return false
  }
  let setTried: () => void
  const started = new Promise<void>((resolve) => {
    setTried = resolve
  })
  const loop = repeat(turn, {
    failed: (error) => {
      merged = false
      failures.failed(error)
      setTried()
    },
    went: () => {
      failures.went()
      setTried()
    },
  })
  return {
    started,
    writer: () => own?.writer,
    isMerged: () => merged,
    mayFollow: async (db) =>
      follows && own !== undefined && !hasChanged(await readDatabaseIdentity(db), own.seen),
    maySign: async () => {
      if (!merged || !own) return false
      if (!hasChanged(await readDatabaseIdentity(ctx.database), own.seen)) return true
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
async function openOwn(
  ctx: EngineCtx,
  resources: JournaledResources,
  home: string,
  reportFailure: ReportFailure,
): Promise<Own> {
  const { installation } = await readDatabaseIdentity(ctx.database)
  for (const id of await listJournalIds(home)) {
    const directory = await lockJournal(join(home, id), id)
    if (!directory) continue
    const seen = await readLastSeen(directory.path).catch(releasing(directory))
    if (seen === undefined || seen.installation === installation)
      return openIn(ctx, resources, directory, seen, reportFailure)
    ctx.log.warn({ journal: directory.path }, 'skipping the journal of another database')
    await directory.release()
  }
  return openIn(ctx, resources, await createJournal(home), undefined, reportFailure)
}

async function openIn(
  ctx: EngineCtx,
  resources: JournaledResources,
  directory: JournalDirectory,
  seen: LastSeen | undefined,
  reportFailure: ReportFailure,
): Promise<Own> {
  const journal = await openJournal(directory).catch(releasing(directory))
  const append: Journal['append'] = (records) =>
    journal.append(records).catch((error) => {
      reportFailure(error)
      throw error
    })
  const writer = journalWriter(ctx.database, resources, { append })
  return { journal, writer, seen, seenAtMs: Number.NEGATIVE_INFINITY }
}

/** Releases a directory that could not be opened: the next try takes it again, and no other one in its place. */
const releasing = (directory: JournalDirectory) => async (error: unknown) => {
  await directory.release()
  throw error
}

/** Whether the database may be an older copy of the one seen before. */
const hasChanged = (identity: DatabaseIdentity, seen: LastSeen | undefined): boolean =>
  identity.incarnation !== identity.live || wasRolledBack(identity, seen)

async function requiresMerge(
  ctx: EngineCtx,
  { journal, seen }: Own,
  identity: DatabaseIdentity,
): Promise<boolean> {
  if (hasChanged(identity, seen)) return true
  const known = await findJournal(ctx.database, journal.id)
  return known === undefined || known.state === 'lost' || known.mergedEpoch < identity.epoch
}

/**
 * Merges this process's journal and those on this machine that no process holds. Returns the epoch in which all are merged.
 */
async function mergeAll(
  ctx: EngineCtx,
  resources: JournaledResources,
  home: string,
  own: Own,
): Promise<number> {
  const { added, epoch } = await mergeJournal(ctx, resources, own.journal, own.seen)
  if (added > 0)
    ctx.log.warn({ journal: own.journal.path, added }, 'restored transactions that the database had lost')
  // From here on, this incarnation is the one that checks compare with.
  own.seen = lastSeenOf(await readDatabaseState(ctx.database))
  await writeLastSeen(own.journal.path, own.seen)
  let last = epoch
  for (const id of (await listJournalIds(home)).filter((each) => each !== own.journal.id))
    if (await mayHaveLostRecords(ctx, home, id))
      last = (await mergeAbandoned(ctx, resources, home, id, own.seen.installation)) ?? last
  return last === epoch ? epoch : mergeAll(ctx, resources, home, own)
}

/**
 * Whether a journal of this machine may hold records that the database lost. A journal that was merged in this epoch, and
 * whose worker saw no later database state, does not, so workers that start do not wait for it.
 */
async function mayHaveLostRecords(ctx: EngineCtx, home: string, id: string): Promise<boolean> {
  const [identity, known, seen] = await Promise.all([
    readDatabaseIdentity(ctx.database),
    findJournal(ctx.database, id),
    readLastSeen(join(home, id)),
  ])
  if (seen === undefined) return true
  return known?.state !== 'open' || known.mergedEpoch < identity.epoch || wasRolledBack(identity, seen)
}

async function mergeAbandoned(
  ctx: EngineCtx,
  resources: JournaledResources,
  home: string,
  id: string,
  installation: string,
) {
  const directory = await lockJournal(join(home, id), id)
  if (!directory) return undefined
  try {
    const seen = await readLastSeen(directory.path)
    if (seen !== undefined && seen.installation !== installation) return undefined
    const { added, epoch } = await mergeJournal(ctx, resources, directory, seen)
    if (added > 0)
      ctx.log.warn({ journal: directory.path, added }, 'restored transactions that the database had lost')
    await writeLastSeen(directory.path, lastSeenOf(await readDatabaseState(ctx.database)))
    return epoch
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
    raiseAlarm(ctx.log, error.alarm, { err: error }, 'merging an abandoned journal failed')
    return undefined
  } finally {
    await directory.release()
  }
}

/** Registers the journal's head, since all its records are in the database, and saves the database state. */
async function saveProgress(ctx: EngineCtx, own: Own): Promise<void> {
  const { sequence, hash } = own.journal.head()
  await advanceHead(ctx.database, ctx.clock.nowMs(), { id: own.journal.id, sequence, headHash: hash })
  const state = await readDatabaseState(ctx.database)
  if (hasChanged(state, own.seen)) return
  const isOthers = JSON.stringify(state.journals) !== JSON.stringify(own.seen?.journals)
  own.seen = lastSeenOf(state)
  if (!isOthers && performance.now() - own.seenAtMs < saveEveryMs) return
  await writeLastSeen(own.journal.path, own.seen)
  own.seenAtMs = performance.now()
}

type ReportFailure = (error: unknown) => void

/** Codes of file operations that have no path, because they are on an open file. */
const fileCodes = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS']

/** The alarm for a failure of the keeper: its own judgement, else that of the part that failed. */
function alarmOf(error: unknown): AlarmName {
  if (error instanceof JournalError) return error.alarm
  if (isVolumeFull(error)) return 'database-full'
  const isOfFile = error instanceof Error && 'path' in error
  return isOfFile || fileCodes.includes(systemCode(error) ?? '')
    ? 'journal-unavailable'
    : 'database-unavailable'
}

const failureTexts: Partial<Record<AlarmName, string>> = {
  'database-full': 'the volume of the database is full: nothing is signed or sent; trying again',
  'database-unavailable': 'the database does not answer: nothing is signed or sent; trying again',
}

/** Raises the alarm of a failure when it starts, and again every `remindMs`; `went` ends those that it raised. */
function failureReporter(ctx: EngineCtx): { failed: ReportFailure; went(): void } {
  const isFirstReport = createRepeatFilter(remindMs)
  const raised = new Set<AlarmName>()
  return {
    failed: (error) => {
      const alarm = alarmOf(error)
      raised.add(alarm)
      if (!isFirstReport(`${alarm} ${(error as Error).message}`)) return
      const text =
        failureTexts[alarm] ?? 'the journal cannot be kept: nothing is signed or sent; trying again'
      raiseAlarm(ctx.log, alarm, { err: error }, text, raised)
    },
    went: () => {
      for (const alarm of raised) endAlarm(ctx.log, alarm, {}, 'the journal is kept again', raised)
      raised.clear()
    },
  }
}

/** Reports the journals that block signing when they change, and again every `remindMs`. */
function unmergedReporter(ctx: EngineCtx) {
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
        'journals',
      )
    else if (shown !== '')
      endAlarm(ctx.log, 'journal-unmerged', {}, 'every journal is merged: signing continues', 'journals')
    shown = now
    shownAtMs = performance.now()
  }
}
