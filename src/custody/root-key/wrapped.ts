/** Versions of the root key whose keys a service outside of the program wraps: the database has them, encrypted by that service. */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { formatInstant } from '#lib/time'
import type { Database } from '#runtime/db/db'
import { alarmWhile } from '#runtime/log/alarms'
import type { Log } from '#runtime/log/log'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import { type KeyService, KeyServiceAway, KeyServiceRefused } from '../key-services/index.ts'
import { checkFingerprintOf, rootCheckValueOf } from '../sealing/sealing.ts'
import {
  insertRootKey,
  lockRootKeys,
  type RootKeyRow,
  replaceWrappedKey,
  rootKeyRows,
  type WrappedKey,
} from '../store/root-keys.ts'
import { rootKeyChange } from './changes.ts'

/** Begins what a process does while it waits for its key service, such as to answer probes; returns what ends that. */
export type WhileWaiting = () => Promise<() => Promise<void>>

const rootKeyBytes = 32
const [firstRestMs, restMaxMs] = [1_000, 15_000]

/** The fingerprint ties a wrapped key to its version, whose check value it has to have. It is no secret. */
const contextOf = (checkValue: Buffer) => ({
  bezant: 'root key',
  fingerprint: checkFingerprintOf(checkValue),
})

/** Wraps a root key, and unwraps it again: a key that a service does not give back is never used. */
async function wrapRootKey(service: KeyService, rootKey: Buffer): Promise<WrappedKey> {
  const checkValue = rootCheckValueOf(rootKey)
  const wrappedKey = await service.wrap(rootKey, contextOf(checkValue))
  const again = await unwrapRootKey(service, { checkValue, wrappedKey })
  again.fill(0)
  return { checkValue, wrappedKey, wrappedBy: service.name }
}

/** Returns the root key, which the caller wipes. Throws `KeyServiceRefused` for one that has another check value. */
async function unwrapRootKey(
  service: KeyService,
  { checkValue, wrappedKey }: Pick<WrappedKey, 'checkValue' | 'wrappedKey'>,
): Promise<Buffer> {
  const rootKey = await service.unwrap(wrappedKey, contextOf(checkValue))
  if (rootKey.length === rootKeyBytes && rootCheckValueOf(rootKey).equals(checkValue)) return rootKey
  rootKey.fill(0)
  throw new KeyServiceRefused(`${service.name} unwraps another key than that of this version of the root key`)
}

/** A version whose key only a service gives: none of `given`, and none that a later version seals. */
export const isWrappedAlone = (row: RootKeyRow, given: readonly Buffer[]): row is RootKeyRow & WrappedKey =>
  row.wrappedKey !== null &&
  row.sealedKeys === null &&
  !given.some((key) => rootCheckValueOf(key).equals(row.checkValue))

/** Asks the service for the keys of these versions, which the caller wipes. Throws `KeyServiceAway` and `KeyServiceRefused`. */
export async function unwrapRootKeys(
  service: KeyService,
  rows: readonly RootKeyRow[],
  given: readonly Buffer[],
): Promise<Buffer[]> {
  const found: Buffer[] = []
  for (const row of rows.filter((each) => isWrappedAlone(each, given))) {
    requireKind(service, row)
    found.push(await unwrapRootKey(service, row as RootKeyRow & WrappedKey).catch(nameWrapper(service, row)))
  }
  return found
}

/** Adds to a refusal which service wrapped the version, where that is another one. */
const nameWrapper =
  ({ name }: KeyService, { version, wrappedBy }: RootKeyRow) =>
  (error: Error): never => {
    if (!(error instanceof KeyServiceRefused) || name === wrappedBy) throw error
    throw new KeyServiceRefused(`${error.message}; version ${version} was wrapped by ${wrappedBy}`, {
      cause: error,
    })
  }

const kindOf = (name: string) => name.slice(0, name.indexOf(':'))

function requireKind({ name }: KeyService, { version, wrappedBy }: RootKeyRow): void {
  if (kindOf(name) === kindOf(wrappedBy!)) return
  throw new KeyServiceRefused(
    `version ${version} of the root key was wrapped by ${wrappedBy}, and BEZANT_ROOT_KEY_SERVICE names ${name}: set it to the former, and move with bezant root-key rewrap --to`,
  )
}

type MakeInput = { database: Database; service: KeyService; clock: { nowMs(): number } }

/** Makes the first root key of a database that has none, unless another process is faster. */
export async function makeFirstVersion({ database, service, clock }: MakeInput): Promise<void> {
  const made = await newWrappedKey(service)
  const nowDate = formatInstant(clock.nowMs())
  await database.tx(async (tx) => {
    await lockRootKeys(tx)
    if ((await rootKeyRows(tx)).length > 0) return
    await insertRootKey(tx, { version: 1, ...made, createDate: nowDate, activeDate: nowDate })
  })
  failpoint('after-wrapped-version')
}

/** Makes the next version, which seals nothing yet. Throws `KeyServiceAway` and `KeyServiceRefused`. */
export async function makeNextVersion({ database, service, clock }: MakeInput, after: number): Promise<void> {
  const made = await newWrappedKey(service)
  await database.tx(async (tx) => {
    await lockRootKeys(tx)
    const version = Math.max(...(await rootKeyRows(tx)).map((row) => row.version)) + 1
    // Another command was faster: its version is the next one.
    if (version !== after + 1) return
    const nowMs = clock.nowMs()
    await insertRootKey(tx, { version, ...made, createDate: formatInstant(nowMs), activeDate: null })
    await recordChanges(tx, nowMs, [rootKeyChange('rootKey.created', version)])
  })
  failpoint('after-wrapped-version')
}

async function newWrappedKey(service: KeyService): Promise<WrappedKey> {
  const rootKey = randomBytes(rootKeyBytes)
  const made = await wrapRootKey(service, rootKey).finally(() => rootKey.fill(0))
  failpoint('after-root-key-wrap')
  return made
}

type Rewrapping = MakeInput & {
  /** The service that wraps them from now on. Default: the same one, with the newest version of its key. */
  to?: KeyService | undefined
}

/** Wraps the keys of all versions again, and returns those versions. The root key stays the same, and no process notices it. */
export async function rewrapRootKeys({
  database,
  service,
  clock,
  to = service,
}: Rewrapping): Promise<number[]> {
  const done: number[] = []
  for (const row of await rootKeyRows(database)) {
    if (row.wrappedKey === null) continue
    requireKind(service, row)
    const rootKey = await unwrapRootKey(service, { checkValue: row.checkValue, wrappedKey: row.wrappedKey })
    const made = await wrapRootKey(to, rootKey).finally(() => rootKey.fill(0))
    await database.tx(async (tx) => {
      await lockRootKeys(tx)
      const replaced = await replaceWrappedKey(tx, row.version, { ...made, before: row.wrappedKey! })
      if (replaced === 1)
        await recordChanges(tx, clock.nowMs(), [rootKeyChange('rootKey.rewrapped', row.version)])
    })
    done.push(row.version)
  }
  return done
}

/** Wraps and unwraps a key that is used for nothing. Throws `KeyServiceAway` and `KeyServiceRefused`. */
export const tryKeyService = async (service: KeyService): Promise<void> =>
  void (await wrapRootKey(service, randomBytes(rootKeyBytes)))

/** Runs `work` again and again until the key service answers. Without `whileWaiting`, that it does not answer is an error. */
export async function untilAnswered<Result>(
  { log, whileWaiting }: { log: Log; whileWaiting?: WhileWaiting | undefined },
  work: () => Promise<Result>,
): Promise<Result> {
  const report = alarmWhile(log, 'key-service-away', {
    begins: 'the key service does not unwrap the root key: this process waits for it, and asks again',
    ends: 'the key service answers',
  })
  let end: (() => Promise<void>) | undefined
  try {
    for (let restMs = firstRestMs; ; restMs = Math.min(2 * restMs, restMaxMs)) {
      try {
        const result = await work()
        report(undefined)
        return result
      } catch (error) {
        if (!(error instanceof KeyServiceAway) || !whileWaiting) throw error
        report({ reason: error.message })
        end ??= await whileWaiting()
      }
      await wait(restMs)
    }
  } finally {
    await end?.()
  }
}
