/**
 * The rotation of the root key, while the program runs: the new version is made the one that seals, all values are sealed again with
 * it, the former version is closed, so that nothing new is sealed with it, and it is retired once nothing is left. Each step is a short
 * `tx`, and the next call continues where one was interrupted.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { formatInstant } from '#lib/time'
import { type Database, longLimits } from '#runtime/db/db'
import { isLockNotFree } from '#runtime/db/errors'
import { installationId, recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { Custody } from '../custody.ts'
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
  sessionsSince,
} from '../store/root-keys.ts'
import { countOutdated } from '../store/sealed-values.ts'
import { rootKeyChange } from './changes.ts'
import { nameOfColumn, type RootKeyColumn } from './columns.ts'
import { isLeaving, sealFormer, sealingOf } from './open.ts'
import { type ResealProgress, resealAll } from './reseal.ts'
import { makeNextVersion } from './wrapped.ts'

/** One thing that a rotation tells of: a step that began, or values of a column that were sealed again. */
export type RotationProgress = { step: string } | ResealProgress

/** The outcome of a rotation. */
type Rotated = { version: number; retired: number[]; resealed: number }

type RootKeyRotation = {
  custody: Custody
  database: Database
  clock: { nowMs(): number }
  columns: readonly RootKeyColumn[]
  entityIds(): Promise<readonly string[]>
  report(progress: RotationProgress): void
}

/** Processes note their versions every two seconds: one that runs was seen within this time. */
const seenMs = 8_000
/** A process uses a connection much more often. Poolers keep those of processes that ended. */
const connectedMs = 60_000
const adoptMaxMs = 60_000
/** Time for all processes to ask the key service for a new version. */
const unwrapMaxMs = 45_000

/** Thrown for a rotation that may not begin or go on yet: the text names the remedy. */
export class RotationRefused extends Error {}

/**
 * Rotates the root key to the newest version that this process was given, or continues a rotation. With a key service, it makes a new
 * version where there is none to rotate to. Throws `RotationRefused` when there is nothing to rotate to, a process that runs lacks the
 * new version, or a value does not open; `KeyServiceAway` and `KeyServiceRefused` where the service fails.
 */
export async function rotateRootKey(rotation: RootKeyRotation): Promise<Rotated> {
  const { database, report } = rotation
  const { rows, version } = await findNext(rotation)
  requireFormer(rows, version)
  const next = rows.find((row) => row.version === version)!
  if (next.activeDate === null) {
    report({ step: `looking whether all processes have version ${version}` })
    await requireHolders(database, next)
    await activate(rotation, version)
    failpoint('after-root-key-activation')
  }
  report({ step: `version ${version} seals: waiting until all processes know` })
  await untilAdopted(rotation, next)
  let { resealed } = await reseal(rotation, version)
  await close(rotation, version)
  failpoint('after-root-key-close')
  for (;;) {
    const pass = await reseal(rotation, version)
    resealed += pass.resealed
    if (pass.found === 0) break
    report({ step: `looking again for ${pass.found - pass.resealed} values that others held` })
    await wait(againMs)
  }
  const retired = await retire(rotation, version)
  return { version, retired, resealed }
}

const againMs = 1_000

/** The version to rotate to: the newest one that this process has, or a new one that its key service wraps. */
async function findNext({ custody, database, clock, report }: RootKeyRotation) {
  const newest = Math.max(...custody.rootKeyVersions)
  const rows = await rootKeyRows(database)
  const { keyService: service } = custody
  const isSettled = rows.at(-1)?.version === newest && !rows.some((row) => isOpen(row, newest))
  if (!service || !isSettled) return { rows, version: newest }
  report({ step: `${service.name} wraps a new root key` })
  await makeNextVersion({ database, service, clock }, newest)
  const deadline = performance.now() + unwrapMaxMs
  for (;;) {
    await custody.followRootKeys()
    if (Math.max(...custody.rootKeyVersions) > newest || performance.now() > deadline) break
    await wait(againMs)
  }
  return { rows: await rootKeyRows(database), version: Math.max(...custody.rootKeyVersions) }
}

/** Whether a rotation to this version, or from it, has yet to be done. */
const isOpen = (row: RootKeyRow, newest: number) => row.activeDate === null || isLeaving(row, newest)

/** Throws unless there is a former version to rotate from. */
function requireFormer(rows: readonly RootKeyRow[], version: number): void {
  if (rows.some((row) => isLeaving(row, version))) return
  const next = rows.findLast((row) => row.version > version)
  throw new RotationRefused(
    next
      ? `version ${next.version} of the root key is known, and this command was not given it: ${howToGive(next)}, and run the command again`
      : `version ${version} of the root key seals everything, and there is nothing to rotate to: make a new key, add it to BEZANT_ROOT_KEY or to root.key of the data directory, and restart serve and worker with both`,
  )
}

const howToGive = ({ wrappedBy }: RootKeyRow) =>
  wrappedBy
    ? `set BEZANT_ROOT_KEY_SERVICE, as ${wrappedBy} wrapped it`
    : 'add it to BEZANT_ROOT_KEY or to root.key of the data directory'

/** Seals all values again that are there to be sealed. Throws `RotationRefused` for those that do not open. */
async function reseal({ custody, database, columns, report }: RootKeyRotation, version: number) {
  const pass = await resealAll({ root: custody.vault.root, database, columns, report }, version)
  const { broken } = pass
  if (broken.length === 0) return pass
  const shown = broken.slice(0, brokenShownMax).join('; ')
  const more = broken.length > brokenShownMax ? `, and ${broken.length - brokenShownMax} more` : ''
  throw new RotationRefused(
    `these values do not open with any version of the root key: ${shown}${more}. They were damaged or moved, and the former version is not retired: put their rows back from a backup of when they opened, and run this command again`,
  )
}

const brokenShownMax = 5

async function requireHolders(database: Database, next: RootKeyRow): Promise<void> {
  const deadline = performance.now() + (next.wrappedBy ? unwrapMaxMs : 0)
  await wait(seenMs)
  let holders = await holdersSince(database, seenMs)
  const lacking = () => holders.filter(({ versions }) => !versions.includes(next.version))
  while (lacking().length > 0 && performance.now() < deadline) {
    await wait(againMs)
    holders = await holdersSince(database, seenMs)
  }
  if (lacking().length > 0) throw lackingHolders(lacking(), next)
  const noted = new Set(holders.map(({ process }) => sessionOf(process)))
  const silent = (await sessionsSince(database, connectedMs)).filter((session) => !noted.has(session))
  if (silent.length > 0)
    throw new RotationRefused(
      `these processes are connected and do not say which root keys they have: ${silent.join(', ')}. They run a release that knows one root key alone, hang, or are commands: upgrade and restart them, or let them end, and then run this command again`,
    )
}

/** The name of the sessions of a holder: a random part ends the one, and PostgreSQL cuts the other off. */
const sessionOf = (process: string) => process.slice(0, process.lastIndexOf(':')).slice(0, sessionMax)
const sessionMax = 63 - 'bezant '.length

const lackingHolders = (holders: readonly RootKeyHolder[], { version, wrappedBy }: RootKeyRow) => {
  const remedy = wrappedBy
    ? `Their logs say why the key service does not give it to them (key-service-away), or they have no BEZANT_ROOT_KEY_SERVICE: restart each with one of ${wrappedBy}`
    : 'Restart each with both keys'
  return new RotationRefused(
    `these processes lack version ${version} of the root key: ${holders.map(({ process }) => process).join(', ')}. ${remedy}, and then run this command again`,
  )
}

/** Makes the version the one that seals, and keeps what is derived from those before it under the new one. */
async function activate({ custody, database, clock }: RootKeyRotation, version: number): Promise<void> {
  const { root } = custody.vault
  const sealsNow = root.newest().version
  const under = { ...root, newest: () => root.open(version) }
  const former = root.known().find((each) => each.version === sealsNow)!
  await database.tx(async (tx) => {
    await lockRootKeys(tx)
    const rows = await rootKeyRows(tx)
    if (sealingOf(rows) === version) return
    if (sealingOf(rows) !== sealsNow)
      throw new RotationRefused(
        `version ${sealingOf(rows)} of the root key seals since a moment ago, by another command: run this one again`,
      )
    const nowMs = clock.nowMs()
    await activateRootKey(tx, version, formatInstant(nowMs))
    await keepRootKey(tx, sealsNow, sealFormer(under, former))
    await recordChanges(tx, nowMs, [rootKeyChange('rootKey.activated', version)])
  })
}

/** Waits until every process that runs seals with the version. */
async function untilAdopted({ custody, database }: RootKeyRotation, next: RootKeyRow): Promise<void> {
  const { version } = next
  const deadline = performance.now() + adoptMaxMs
  for (;;) {
    await custody.followRootKeys()
    const holders = await holdersSince(database, seenMs)
    const lacking = holders.filter(({ versions }) => !versions.includes(version))
    if (lacking.length > 0) throw lackingHolders(lacking, next)
    const slow = holders.filter(({ sealingVersion }) => sealingVersion !== version)
    if (slow.length === 0 && custody.vault.root.newest().version === version) return
    if (performance.now() > deadline)
      throw new RotationRefused(
        `these processes still seal with a former version of the root key: ${slow.map(({ process }) => process).join(', ')}. Run this command again once they answer`,
      )
    await wait(500)
  }
}

const closing = { idleMs: 10_000, lockMs: 1_000, statementMs: 10_000 }
const closeTriesMax = 60

/** Closes the versions before this one. Those who store sealed values wait behind it for a second at most. */
async function close(rotation: RootKeyRotation, version: number): Promise<void> {
  const { database, clock, report } = rotation
  const rows = await rootKeyRows(database)
  if (rows.every((row) => row.version >= version || row.activeDate === null || row.closedDate !== null))
    return
  report({ step: `closing the versions before ${version}` })
  await recordInTrails(rotation, version)
  for (let tries = 1; ; tries++) {
    try {
      await database.tx((tx) => closeRootKeysBefore(tx, version, formatInstant(clock.nowMs())), closing)
      return
    } catch (error) {
      if (!isLockNotFree(error)) throw error
      if (tries === closeTriesMax)
        throw new RotationRefused(
          'a database transaction that stored sealed values did not end for a minute: look for a process that hangs, and run this command again',
        )
    }
  }
}

const trailsAtOnce = 200

/**
 * Adds an entry to the audit trail of each entity: its head is signed with the new version, so that who has the former one cannot write
 * a trail that counts.
 */
async function recordInTrails(
  { database, clock, entityIds }: RootKeyRotation,
  version: number,
): Promise<void> {
  const ids = [installationId, ...(await entityIds())]
  for (let from = 0; from < ids.length; from += trailsAtOnce) {
    const changes = ids
      .slice(from, from + trailsAtOnce)
      .map((entityId) => ({ ...rootKeyChange('rootKey.rotated', version), entityId }))
    await database.tx((tx) => recordChanges(tx, clock.nowMs(), changes))
  }
}

/** Retires the versions before this one, if nothing is sealed with them. */
const retire = ({ database, clock, columns }: RootKeyRotation, version: number): Promise<number[]> =>
  database.tx(async (tx) => {
    await lockRootKeys(tx)
    for (const column of columns)
      if ((await countOutdated(tx, column, version)) > 0)
        throw new RotationRefused(
          `${nameOfColumn(column)} has values of former versions of the root key: run this command again`,
        )
    const nowMs = clock.nowMs()
    const retired = await retireRootKeysBefore(tx, version, formatInstant(nowMs))
    const changes = retired.map((former) => rootKeyChange('rootKey.retired', former))
    await recordChanges(tx, nowMs, changes)
    return retired
  }, longLimits)
