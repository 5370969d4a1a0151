import { hostname } from 'node:os'
import type { EngineCtx } from '#engines/ctx'
import { longLimits } from '#runtime/db/db'
import {
  type DatabaseIdentity,
  enterEpoch,
  findJournal,
  readStanding,
  registerJournal,
  stopSigning,
} from '../store/journals.ts'
import { type LostAcceptance, restoreAccepted } from './accepted.ts'
import { genesisOf } from './frames.ts'
import { decodeRecords } from './journal.ts'
import { restoreRecords } from './restore.ts'
import { type Seen, wentBack } from './seen.ts'
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
  { id, path }: { id: string; path: string },
  seen: Seen | undefined,
): Promise<Merged> {
  return ctx.database.tx(async (tx) => {
    await stopSigning(tx)
    const standing = await readStanding(tx)
    const known = await findJournal(tx, id)
    let head = known ? { sequence: known.sequence, hash: known.headHash } : genesisOf(id)
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
    if (added > 0) await restoreAccepted(tx, ctx, lost)
    const awaited = known !== undefined && known.mergedEpoch < standing.epoch
    const surprised =
      !awaited && (added > 0 || wentBack(standing, seen)) && seen?.incarnation === standing.live
    const epoch = await epochAfter(standing, surprised, (next) => enterEpoch(tx, next, standing.live))
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
 * Returns the current epoch, or enters the next one when the database was restored. The first worker registers the
 * incarnation.
 */
async function epochAfter(
  { epoch, incarnation, live }: DatabaseIdentity,
  surprised: boolean,
  enter: (epoch: number) => Promise<unknown>,
): Promise<number> {
  const restored = (incarnation !== null && incarnation !== live) || surprised
  const next = restored ? epoch + 1 : epoch
  if (next !== epoch || incarnation === null) await enter(next)
  return next
}

const diverged = (path: string, sequence: number) =>
  new JournalError(
    'journal-diverged',
    `the journal ${path} has lost what the database knows of it (record ${sequence}): restore its files, or look at the chain for what was sent, declare it lost and move it away`,
  )
