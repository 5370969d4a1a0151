import { hostname } from 'node:os'
import type { EngineCtx } from '#engines/ctx'
import { type Db, longLimits } from '#runtime/db/db'
import {
  type DatabaseIdentity,
  enterEpoch,
  findJournal,
  readDatabaseIdentity,
  registerJournal,
  registerUnknown,
  stopSigning,
} from '../store/journals.ts'
import { type LostAcceptance, restoreAcceptance } from './acceptance.ts'
import { firstHeadOf } from './frames.ts'
import { decodeRecords } from './journal.ts'
import { type LastSeen, wasRolledBack } from './last-seen.ts'
import type { JournaledResources } from './resources.ts'
import { restoreRecords } from './restore.ts'
import { hashAt, JournalError, readFrom } from './segments.ts'

/** `added`: number of records that were missing in the database. */
export type Merged = { added: number; epoch: number }

/**
 * Restores the records of a journal that are missing in the database, while no worker signs, and registers its head. If that
 * shows that an older copy of the database was restored, a new epoch begins: every other journal has to be merged again.
 * `seen` is the database state that the journal's worker saw last.
 */
export async function mergeJournal(
  ctx: EngineCtx,
  resources: JournaledResources,
  { id, path }: { id: string; path: string },
  seen: LastSeen | undefined,
): Promise<Merged> {
  return ctx.database.tx(async (tx) => {
    await stopSigning(tx)
    const identity = await readDatabaseIdentity(tx)
    const known = await findJournal(tx, id)
    let head = known ? { sequence: known.sequence, hash: known.headHash } : firstHeadOf(id)
    if (!(await hashAt(path, id, head.sequence))?.equals(head.hash)) throw diverged(path, head.sequence)
    const lost: LostAcceptance[] = []
    for await (const frame of readFrom(path, id, head.sequence)) {
      const records = await restoreRecords(tx, ctx, decodeRecords(frame.payload))
      // Drops the signed bytes, which are in the database now.
      lost.push(
        ...records.map(({ entityId, transactionId, accepted }) => ({ entityId, transactionId, accepted })),
      )
      head = frame.head
    }
    const added = lost.length
    if (added > 0) await restoreAcceptance(tx, ctx, resources, lost)
    const awaited = known !== undefined && known.mergedEpoch < identity.epoch
    const rolledBack =
      !awaited && (added > 0 || wasRolledBack(identity, seen)) && seen?.incarnation === identity.live
    const epoch = await epochAfter(identity, rolledBack, (next) => enterEpoch(tx, next, identity.live))
    await awaitUnknown(tx, ctx, seen?.journals.filter((each) => each.id !== id) ?? [], epoch)
    await registerJournal(tx, ctx.clock.nowMs(), {
      id,
      host: hostname(),
      path,
      sequence: head.sequence,
      headHash: head.hash,
      mergedEpoch: epoch,
    })
    return { added, epoch }
  }, longLimits)
}

/**
 * Registers the journals of which this database knows nothing, though the worker saw them in it: they belong to workers that
 * first ran after the restored copy was made.
 */
async function awaitUnknown(
  tx: Db,
  ctx: EngineCtx,
  seen: LastSeen['journals'],
  epoch: number,
): Promise<void> {
  const rows = seen.map((place) => ({ ...place, headHash: firstHeadOf(place.id).hash }))
  const unknown = await registerUnknown(tx, ctx.clock.nowMs(), rows, epoch - 1)
  if (unknown.length > 0)
    ctx.log.warn({ journals: unknown }, 'the restored copy does not know these journals: waiting for them')
}

/**
 * Returns the current epoch, or enters the next one when the database was restored. The first worker registers the
 * incarnation.
 */
async function epochAfter(
  { epoch, incarnation, live }: DatabaseIdentity,
  rolledBack: boolean,
  enter: (epoch: number) => Promise<unknown>,
): Promise<number> {
  const restored = (incarnation !== null && incarnation !== live) || rolledBack
  const next = restored ? epoch + 1 : epoch
  if (next !== epoch || incarnation === null) await enter(next)
  return next
}

const diverged = (path: string, sequence: number) =>
  new JournalError(
    'journal-diverged',
    `the journal ${path} does not match the database at record ${sequence}: restore its files, or check the chain for sent transactions, declare the journal lost and move it away`,
  )
