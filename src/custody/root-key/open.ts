/**
 * The versions of the root key, of which a process gets one key or, while the root key is rotated, two. The database knows by check
 * values which version a key is, and says which one seals. So the order of the keys counts for nothing, and a process that starts
 * with a key that no version has makes it the next version, which seals nothing before `bezant root-key rotate`.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { hostname } from 'node:os'
import { formatInstant } from '#lib/time'
import type { Database, Db } from '#runtime/db/db'
import { alarmWhile } from '#runtime/log/alarms'
import type { Log } from '#runtime/log/log'
import { recordChanges } from '#runtime/record/store'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { type KeyService, KeyServiceAway, KeyServiceRefused } from '../key-services/index.ts'
import { formerRootKey, transportKey } from '../sealing/contexts.ts'
import { type RootKeys, type RootKeyVersion, rootKeysOf } from '../sealing/root-keys.ts'
import {
  rootCheckValueOf,
  rootKeyVersionOf,
  SealBroken,
  seal,
  takeKey,
  unseal,
  type Vault,
  vaultOf,
} from '../sealing/sealing.ts'
import {
  insertRootKey,
  lockRootKeys,
  noteHolder,
  type RootKeyRow,
  removeRootKeyHolder,
  rootKeyRows,
} from '../store/root-keys.ts'
import { oldestTransportKey } from '../store/transport-keys.ts'
import { rootKeyChange } from './changes.ts'
import {
  isWrappedAlone,
  makeFirstVersion,
  untilAnswered,
  unwrapRootKeys,
  type WhileWaiting,
} from './wrapped.ts'

/** The root keys that a process was given: one of 32 bytes, or those of a rotation in any order. */
export type GivenRootKeys = Buffer | readonly Buffer[]

export type OpenInput = {
  database: Database
  log: Log
  rootKey: GivenRootKeys
  clock: { nowMs(): number }
  /** The service that unwraps root keys of the database. */
  keyService?: KeyService | undefined
  /** Lets this process wait for that service. Default: it is an error when the service does not answer. */
  whileWaiting?: WhileWaiting | undefined
}

type OpenVault = {
  vault: Vault
  /** The versions of the keys that the process was given, or that its key service unwrapped. */
  held: readonly number[]
  /** Reads again which version seals. */
  follow(): Promise<void>
  close(): Promise<void>
}

const lookMs = 2_000

/**
 * Opens the vault. Throws `SealBroken` when the database was sealed under other keys, and an error that names the remedy when the
 * version that seals is missing, or the only key given is retired; `KeyServiceAway` and `KeyServiceRefused` where a service fails.
 */
export async function openRootKeys(input: OpenInput): Promise<OpenVault> {
  const { database, log, keyService } = input
  const { rows, versions } = await untilAnswered(input, () => findVersions(input))
  const held = versions.map(({ version }) => version)
  const unwrapNew = unwrappingOf({ log, keyService, versions, held })
  // The service may have taken long enough for another version to seal.
  await unwrapNew(rows)
  let sealing = sealingOf(rows)
  requireSealing(rows, held, sealing)
  const root = rootKeysOf(versions, () => sealing)
  const learn = (known: readonly RootKeyRow[]) => learnFormer(versions, known, root)
  learn(rows)
  warnOfRetired(log, versions, held)
  const vault = vaultOf(root, versions.find(({ version }) => version === 1)!)
  const report = alarmWhile(log, 'root-key-missing', {
    begins: 'the newest version of the root key seals now, and this process was not given it',
    ends: 'this process has the root key that seals',
  })
  const holder = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`
  let isNoted = false
  const follow = async () => {
    const now = await rootKeyRows(database)
    await unwrapNew(now)
    const newest = sealingOf(now)
    const isHeld = held.includes(newest)
    if (isHeld) {
      sealing = newest
      learn(now)
    }
    report(isHeld ? undefined : { version: newest, held: held.join(' ') })
    const isRotating = now.some((row) => row.version > newest || isLeaving(row, newest))
    if (isRotating)
      await noteHolder(database, { process: holder, versions: [...held], sealingVersion: sealing })
    isNoted ||= isRotating
  }
  const turn = () => follow().then(() => false)
  const loop = repeat(turn, logTrouble(log, 'following the versions of the root key'), lookMs)
  const close = async () => {
    await loop.stop()
    if (isNoted) await removeRootKeyHolder(database, holder).catch(() => undefined)
  }
  return { vault, held, follow, close }
}

/** The versions of the keys of this process: those that it was given, and those that its service unwraps. */
async function findVersions({ database, rootKey, clock, keyService }: OpenInput) {
  const given = Buffer.isBuffer(rootKey) ? [rootKey] : [...rootKey]
  const unwrapped: Buffer[] = []
  try {
    if (keyService) {
      const isFirst = given.length === 0 && (await rootKeyRows(database)).length === 0
      if (isFirst && (await oldestTransportKey(database))) throw new SealBroken('transport key')
      if (isFirst) await makeFirstVersion({ database, service: keyService, clock })
      unwrapped.push(...(await unwrapRootKeys(keyService, await rootKeyRows(database), given)))
    }
    const keys = [...given, ...unwrapped]
    const rows = await registered(database, keys, clock.nowMs())
    return { rows, versions: keys.map((key) => rootKeyVersionOf(key, versionOfKey(rows, key)!)) }
  } finally {
    for (const key of unwrapped) key.fill(0)
  }
}

/** Random, so that processes do not ask in step. */
const unwrapAgainMs = () => randomInt(5_000, 10_000)

/** Returns a function that asks the service for versions which it wrapped since. What it does not unwrap is asked for again, later. */
function unwrappingOf({
  log,
  keyService,
  versions,
  held,
}: Pick<OpenInput, 'log' | 'keyService'> & { versions: RootKeyVersion[]; held: number[] }) {
  const report = alarmWhile(log, 'key-service-away', {
    begins:
      'the key service does not unwrap a new version of the root key: its rotation waits for this process',
    ends: 'the key service unwrapped the new version of the root key',
  })
  let notBeforeMs = 0
  return async (rows: readonly RootKeyRow[]): Promise<void> => {
    const missing = rows.filter(
      (row) => isWrappedAlone(row, []) && versions.every(({ version }) => version !== row.version),
    )
    if (!keyService || (missing.length > 0 && performance.now() < notBeforeMs)) return
    try {
      for (const row of missing) {
        const [key] = await unwrapRootKeys(keyService, [row], [])
        versions.push(rootKeyVersionOf(key!, row.version))
        held.push(row.version)
        key!.fill(0)
      }
      report(undefined)
    } catch (error) {
      if (!(error instanceof KeyServiceAway) && !(error instanceof KeyServiceRefused)) throw error
      notBeforeMs = performance.now() + unwrapAgainMs()
      report({ reason: error.message })
    }
  }
}

/** The version that seals. */
export const sealingOf = (rows: readonly Pick<RootKeyRow, 'version' | 'activeDate'>[]): number =>
  Math.max(...rows.filter(({ activeDate }) => activeDate !== null).map(({ version }) => version))

/** Whether a version sealed before the one that seals now, and is not retired yet: its rotation has not ended. */
export const isLeaving = (
  { version, activeDate, retiredDate }: Pick<RootKeyRow, 'version' | 'activeDate' | 'retiredDate'>,
  sealing: number,
): boolean => version < sealing && activeDate !== null && retiredDate === null

const versionOfKey = (rows: readonly RootKeyRow[], key: Buffer): number | undefined => {
  const checkValue = rootCheckValueOf(key)
  return rows.find((row) => row.checkValue.equals(checkValue))?.version
}

/** Returns the versions of the database, in which all given keys are. */
async function registered(
  database: Database,
  given: readonly Buffer[],
  nowMs: number,
): Promise<RootKeyRow[]> {
  const createDate = formatInstant(nowMs)
  const isKnown = (rows: readonly RootKeyRow[]) => given.every((key) => versionOfKey(rows, key) !== undefined)
  const rows = await rootKeyRows(database)
  if (isKnown(rows)) return rows
  return database.tx(async (tx) => {
    await lockRootKeys(tx)
    const before = await rootKeyRows(tx)
    const first = before.length === 0 ? await firstOf(tx, given) : undefined
    if (first)
      await insertRootKey(tx, {
        version: 1,
        checkValue: rootCheckValueOf(first),
        createDate,
        activeDate: createDate,
      })
    else if (!given.some((key) => versionOfKey(before, key) !== undefined)) throw new SealBroken('root key')
    let version = Math.max(1, ...before.map((row) => row.version))
    for (const key of given) {
      if (key === first || versionOfKey(before, key) !== undefined) continue
      const checkValue = rootCheckValueOf(key)
      await insertRootKey(tx, { version: ++version, checkValue, createDate, activeDate: null })
      await recordChanges(tx, nowMs, [{ ...rootKeyChange('rootKey.created', version), actor: 'custody' }])
    }
    return rootKeyRows(tx)
  })
}

/** The key with which a database was sealed that knows no versions yet; any, where nothing is sealed. */
async function firstOf(tx: Db, given: readonly Buffer[]): Promise<Buffer> {
  const row = await oldestTransportKey(tx)
  if (!row) return given[0]!
  const opens = (key: Buffer) => {
    try {
      const root = rootKeysOf([rootKeyVersionOf(key, 1)], () => 1)
      unseal(root, transportKey(row.id), row.sealedPrivateKey).fill(0)
      return true
    } catch (error) {
      if (error instanceof SealBroken) return false
      throw error
    }
  }
  const found = given.find(opens)
  if (!found) throw new SealBroken('transport key')
  return found
}

/** Throws unless the version that seals is among those of a process. */
export function requireSealing(
  rows: readonly Pick<RootKeyRow, 'version' | 'retiredDate' | 'wrappedBy'>[],
  held: readonly number[],
  sealing: number,
): void {
  if (held.includes(sealing)) return
  const isRetired = rows.every(({ version, retiredDate }) => !held.includes(version) || retiredDate !== null)
  const given = held.length === 0 ? 'none' : `version ${held.join(' and ')}`
  const newest = `the database is sealed with version ${sealing} of the root key, and this process was given ${given}`
  const service = rows.find(({ version }) => version === sealing)?.wrappedBy
  if (service)
    throw new Error(`${newest}: set BEZANT_ROOT_KEY_SERVICE, as version ${sealing} was wrapped by ${service}`)
  throw new Error(
    isRetired
      ? `${newest}, which is retired: set BEZANT_ROOT_KEY, or root.key of the data directory, to version ${sealing}`
      : `${newest}: add version ${sealing} to BEZANT_ROOT_KEY, or to root.key of the data directory`,
  )
}

/** Learns the versions that a newer one seals, and which are retired. */
function learnFormer(versions: RootKeyVersion[], rows: readonly RootKeyRow[], root: RootKeys): void {
  for (const { version, sealedKeys, retiredDate } of rows.toReversed()) {
    let known = versions.find((each) => each.version === version)
    if (!known && sealedKeys) {
      const plain = unseal(root, formerRootKey(version), sealedKeys)
      known = {
        version,
        sealing: takeKey(plain.subarray(0, keyBytes)),
        salt: takeKey(plain.subarray(keyBytes)),
        isRetired: false,
      }
      versions.push(known)
    }
    if (known) known.isRetired = retiredDate !== null
  }
}

const keyBytes = 32

/** Seals what is derived from a version under the one that seals now. */
export function sealFormer(root: RootKeys, { version, sealing, salt }: RootKeyVersion): Buffer {
  const parts = [sealing.export(), salt.export()]
  const plain = Buffer.concat(parts)
  const sealed = seal(root, formerRootKey(version), plain)
  for (const each of [...parts, plain]) each.fill(0)
  return sealed
}

function warnOfRetired(log: Log, versions: readonly RootKeyVersion[], held: readonly number[]): void {
  for (const { version, isRetired } of versions)
    if (isRetired && held.includes(version))
      log.warn(
        { version },
        'a retired version of the root key is still given to this process: remove it from BEZANT_ROOT_KEY or root.key',
      )
}
