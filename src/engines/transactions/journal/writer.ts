import { type NonceRef, payloadsOf } from '#custody/index'
import type { Database } from '#runtime/db/db'
import { createStillness } from '#runtime/scheduling/still'
import { copyAttempts } from '../store/journal-copies.ts'
import { copyAcceptance } from './acceptance.ts'
import type { Journal, JournalRecord } from './journal.ts'
import type { JournaledResources } from './resources.ts'

type JournaledAttempt = { entityId: string; id: string; address: string; nonce: number }

/** Number of written attempts that a worker remembers; a forgotten one is written again, which is harmless. */
const rememberedMax = 10_000

export type JournalWriter = {
  /** Resolves when all of these attempts are on the disk of this worker. */
  write(blockchain: string, attempts: readonly JournaledAttempt[]): Promise<void>
  /**
   * Runs a merge of the journal while no attempt is on its way into it. A slow disk may outlast a failover: an attempt that was read
   * from the former database would come after the merge, be sent, and be unknown to the present database.
   */
  whileStill<Result>(merge: () => Promise<Result>): Promise<Result>
}

/** Writes attempts to the journal before they are sent: each once, even if another worker has journaled it before. */
export function journalWriter(
  database: Database,
  resources: JournaledResources,
  journal: Pick<Journal, 'append'>,
): JournalWriter {
  const written = new Set<string>()
  const { moving, still } = createStillness()
  const write: JournalWriter['write'] = async (blockchain, attempts) => {
    const missing = attempts.filter(({ id }) => !written.has(id))
    if (missing.length === 0) return
    const records = await copiesOf(database, resources, blockchain, missing)
    const found = new Set(records.map(({ attemptId }) => attemptId))
    if (!missing.every(({ id }) => found.has(id)))
      throw new Error('an attempt that is due to be sent is missing in the database')
    await journal.append(records)
    for (const { id } of missing) written.add(id)
    for (const oldest of written) {
      if (written.size <= rememberedMax) break
      written.delete(oldest)
    }
  }
  return {
    write: (blockchain, attempts) => moving(() => write(blockchain, attempts)),
    whileStill: still,
  }
}

async function copiesOf(
  database: Database,
  resources: JournaledResources,
  blockchain: string,
  attempts: readonly JournaledAttempt[],
): Promise<JournalRecord[]> {
  const [copies, payloads] = await Promise.all([
    copyAttempts(database, attempts),
    payloadsOf(
      database,
      attempts.map((attempt) => ({ ...attempt, blockchain })),
    ),
  ])
  const lines = new Map<string, object[]>()
  for (const { digest, replaces, ...payload } of payloads) {
    const place = placeOf(payload)
    const { intentId, noop, ordinal, createDate, expiresMs, lastHeight, deathProof } = payload
    const fees = {
      maxFee: payload.maxFeeAtomic.toString(),
      priorityFee: payload.priorityFeeAtomic.toString(),
    }
    const link = { digest: digest.toString('hex'), replaces: replaces?.toString('hex') ?? null }
    lines.set(place, [
      ...(lines.get(place) ?? []),
      { ordinal, ...link, ...fees, intentId, noop, createDate, expiresMs, lastHeight, deathProof },
    ])
  }
  const acceptedOf = await copyAcceptance(database, resources, copies)
  return copies.map((copy) => ({
    ...copy,
    payloads: JSON.stringify(lines.get(placeOf(copy)) ?? []),
    accepted: acceptedOf(copy),
  }))
}

const placeOf = ({ entityId, address, blockchain, nonce }: NonceRef) =>
  [entityId, address, blockchain, nonce].join()
