/**
 * The rotation of the root key, while the program runs: the new version is made the one that seals, all values are sealed again with
 * it, the former version is closed, so that nothing new is sealed with it, and it is retired once nothing is left. Each step is a short
 * `tx`, and the next call continues where one was interrupted.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { formatInstant } from '#lib/time'
import { type Database, type Db, sqlState } from '#runtime/db/db'
import { installationId, recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { Custody } from '../custody.ts'
import { openUnderRoot, sealUnderRoot } from '../sealing/sealing.ts'
import {
  activateRootKey,
  closeRootKeysBefore,
  holdersSince,
  keepRootKey,
  lockRootKeys,
  type RootKeyHolder,
  type RootKeyRow,
  retireRootKeysBefore,
  rootKeyRows,
} from '../store/root-keys.ts'
import { countOutdated, lockOutdated, replaceSealed, type SealedValue } from '../store/sealed-values.ts'
import type { RootKeyColumn } from './columns.ts'
import { sealFormer } from './open.ts'

type Rotating = {
  custody: Custody
  database: Database
  clock: { nowMs(): number }
}

/** One thing that a rotation tells of: a step that began, or values of a column that were sealed again. */
export type RotationProgress = { step: string } | { column: string; resealed: number; left: number }

/** The outcome of a rotation. */
type Rotated = { version: number; retired: number[]; resealed: number }

type RootKeyRotation = Rotating & {
  columns: readonly RootKeyColumn[]
  entityIds(): Promise<readonly string[]>
  report(progress: RotationProgress): void
}

/** Small, so that a row is locked for a few milliseconds. */
const batchSize = 100
/** Processes note their versions every two seconds: one that runs was seen within this time. */
const seenMs = 8_000
const adoptMaxMs = 60_000

/** Thrown for a rotation that may not begin or go on yet: the text names the remedy. */
export class RotationRefused extends Error {}

/**
 * Rotates the root key to the newest version that this process was given, or continues a rotation. Throws `RotationRefused` when there
 * is nothing to rotate to, or a process that runs lacks the new version.
 */
export async function rotateRootKey(rotation: RootKeyRotation): Promise<Rotated> {
  const { custody, database, report } = rotation
  const version = Math.max(...custody.rootKeyVersions)
  const rows = await rootKeyRows(database)
  const open = rows.filter(
    (row) => row.version < version && row.activeDate !== null && row.retiredDate === null,
  )
  const target = rows.find((row) => row.version === version)!
  if (open.length === 0)
    throw new RotationRefused(
      `version ${version} of the root key is the only one, and there is nothing to rotate to: make a new key, add it to BEZANT_ROOT_KEY or to root.key of the data directory, and restart serve and worker with both`,
    )
  if (target.activeDate === null) {
    report({ step: `looking whether all processes have version ${version}` })
    await requireHolders(database, version)
    await activate(rotation, version)
    failpoint('after-root-key-activation')
  }
  report({ step: `version ${version} seals: waiting until all processes know` })
  await untilAdopted(rotation, version)
  let resealed = await resealAll(rotation, version)
  await close(rotation, version)
  failpoint('after-root-key-close')
  for (let left = await countLeft(rotation, version); left > 0; left = await countLeft(rotation, version)) {
    resealed += await resealAll(rotation, version)
    await wait(100)
  }
  const retired = await retire(rotation, version)
  return { version, retired, resealed }
}

async function requireHolders(database: Database, version: number): Promise<void> {
  await wait(seenMs)
  const lacking = (await holdersSince(database, seenMs)).filter(({ versions }) => !versions.includes(version))
  if (lacking.length > 0) throw lackingHolders(lacking, version)
}

const lackingHolders = (holders: readonly RootKeyHolder[], version: number) =>
  new RotationRefused(
    `these processes lack version ${version} of the root key: ${holders.map(({ process }) => process).join(', ')}. Restart each with both keys, and then run this command again`,
  )

/** Makes the version the one that seals, and keeps what is derived from those before it under the new one. */
async function activate({ custody, database, clock }: RootKeyRotation, version: number): Promise<void> {
  const { root } = custody.vault
  const sealsNow = root.newest().version
  const under = { ...root, newest: () => root.open(version) }
  const former = root.known().find((each) => each.version === sealsNow)!
  await database.tx(async (tx) => {
    await lockRootKeys(tx)
    const nowMs = clock.nowMs()
    await activateRootKey(tx, version, formatInstant(nowMs))
    await keepRootKey(tx, sealsNow, sealFormer(under, former))
    await recordChanges(tx, nowMs, [changeOf('rootKey.activated', version)])
  })
}

const changeOf = (type: string, version: number) => ({
  entityId: installationId,
  actor: 'operator',
  type,
  resourceId: String(version),
})

/** Waits until every process that runs seals with the version. */
async function untilAdopted({ custody, database }: RootKeyRotation, version: number): Promise<void> {
  const deadline = performance.now() + adoptMaxMs
  for (;;) {
    await custody.followRootKeys()
    const holders = await holdersSince(database, seenMs)
    const lacking = holders.filter(({ versions }) => !versions.includes(version))
    if (lacking.length > 0) throw lackingHolders(lacking, version)
    const slow = holders.filter(({ sealingVersion }) => sealingVersion !== version)
    if (slow.length === 0 && custody.vault.root.newest().version === version) return
    if (performance.now() > deadline)
      throw new RotationRefused(
        `these processes still seal with a former version of the root key: ${slow.map(({ process }) => process).join(', ')}. Run this command again once they answer`,
      )
    await wait(500)
  }
}

/** Seals the values of all columns again, in small batches. Returns their number. */
async function resealAll(rotation: RootKeyRotation, version: number): Promise<number> {
  let count = 0
  for (const column of rotation.columns) {
    let after: SealedValue | undefined
    let resealed = 0
    const all = await countOutdated(rotation.database.reading, column, version)
    while (all > 0) {
      const batch = await rotation.database.tx((tx) =>
        resealBatch(tx, rotation.custody, column, version, after),
      )
      if (batch.length === 0) break
      failpoint('after-root-key-batch')
      after = batch.at(-1)
      resealed += batch.length
      rotation.report({ column: nameOf(column), resealed, left: Math.max(0, all - resealed) })
    }
    count += resealed
  }
  return count
}

const nameOf = ({ table, column }: RootKeyColumn) => `${table}.${column}`

async function resealBatch(
  tx: Db,
  custody: Custody,
  column: RootKeyColumn,
  version: number,
  after: SealedValue | undefined,
): Promise<SealedValue[]> {
  const { root } = custody.vault
  const values = await lockOutdated(tx, column, { version, after, limit: batchSize })
  if (values.length === 0) return []
  const plains = values.map(({ sealed, texts }) => openUnderRoot(root, column.contextOf(texts), sealed))
  try {
    const stored = await replaceSealed(
      tx,
      column,
      values.map(({ texts }, index) => ({
        texts,
        sealed: sealUnderRoot(root, column.contextOf(texts), plains[index]!),
      })),
    )
    const isSame = ({ texts, sealed, position }: (typeof stored)[number]) => {
      const found = openUnderRoot(root, column.contextOf(texts), sealed)
      return found.equals(plains[position]!)
    }
    // An error undoes the batch: what it replaced is still there.
    if (stored.length !== values.length || !stored.every(isSame))
      throw new Error(`a value of ${nameOf(column)} that was sealed again does not open as before`)
    return values
  } finally {
    for (const plain of plains) plain.fill(0)
  }
}

async function countLeft({ columns, database }: RootKeyRotation, version: number): Promise<number> {
  let count = 0
  for (const column of columns) count += await countOutdated(database.reading, column, version)
  return count
}

const closing = { idleMs: 10_000, lockMs: 1_000, statementMs: 10_000 }
const closeTriesMax = 60

/** Closes the versions before this one. Those who store sealed values wait behind it for a second at most. */
async function close(
  { database, clock, report, entityIds }: RootKeyRotation,
  version: number,
): Promise<void> {
  const rows = await rootKeyRows(database)
  if (rows.every((row) => row.version >= version || row.activeDate === null || row.closedDate !== null))
    return
  report({ step: `closing the versions before ${version}` })
  await recordInTrails({ database, clock, entityIds }, version)
  for (let tries = 1; ; tries++) {
    try {
      await database.tx((tx) => closeRootKeysBefore(tx, version, formatInstant(clock.nowMs())), closing)
      return
    } catch (error) {
      if (sqlState(error) !== lockNotAvailable || tries === closeTriesMax) throw error
    }
  }
}

const lockNotAvailable = '55P03'
const trailsAtOnce = 200

/**
 * Adds an entry to the audit trail of each entity: its head is signed with the new version, so that who has the former one cannot write
 * a trail that counts.
 */
async function recordInTrails(
  { database, clock, entityIds }: Pick<RootKeyRotation, 'database' | 'clock' | 'entityIds'>,
  version: number,
): Promise<void> {
  const ids = [installationId, ...(await entityIds())]
  for (let from = 0; from < ids.length; from += trailsAtOnce) {
    const changes = ids
      .slice(from, from + trailsAtOnce)
      .map((entityId) => ({ ...changeOf('rootKey.rotated', version), entityId }))
    await database.tx((tx) => recordChanges(tx, clock.nowMs(), changes))
  }
}

/** Retires the versions before this one, if nothing is sealed with them. */
const retire = ({ database, clock, columns }: RootKeyRotation, version: number): Promise<number[]> =>
  database.tx(async (tx) => {
    await lockRootKeys(tx)
    for (const column of columns)
      if ((await countOutdated(tx, column, version)) > 0)
        throw new Error(
          `${nameOf(column)} has values of former versions of the root key: run this command again`,
        )
    const nowMs = clock.nowMs()
    const retired = await retireRootKeysBefore(tx, version, formatInstant(nowMs))
    const changes = retired.map((former) => changeOf('rootKey.retired', former))
    await recordChanges(tx, nowMs, changes)
    return retired
  })

/** The state of each version, for an operator. */
type RootKeyState = Pick<
  RootKeyRow,
  'version' | 'createDate' | 'activeDate' | 'closedDate' | 'retiredDate'
> & {
  /** The first digits of its check value, by which two machines compare the keys that they were given. */
  fingerprint: string
}

/** The versions of the root key that the database knows, oldest first. */
export const rootKeyStates = async (db: Db): Promise<RootKeyState[]> =>
  (await rootKeyRows(db)).map(({ checkValue, sealedKeys: _, ...row }) => ({
    ...row,
    fingerprint: checkValue.toString('hex', 0, 8),
  }))
