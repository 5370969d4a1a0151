import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { readConfig } from '#runtime/config'
import { type Database, openDatabase, sql } from '#runtime/db/db'
import { once } from '#runtime/scheduling/memoize'
import { makeKeyWorld, rotateIn } from '#testing/builders/key-world'
import { cleanUp, cleanups, copyOf } from '#testing/databases/restored-database'
import { testRootKey } from '#testing/databases/template'
import { countAlarm } from '#testing/platform/count-alarm'
import { openTestCustody, type TestCustody } from '#testing/platform/custody'
import { until } from '#testing/platform/until'
import { openTestVault, type TestVault } from '#testing/servers/vault-transit'
import { type Custody, createPlatformKey, signWithPlatformKey } from '../index.ts'
import { type KeyService, openKeyService } from '../key-services/index.ts'
import { rewrapRootKeys, rootKeyAdvice, rootKeyStates } from './index.ts'

const clock = { nowMs: Date.now }
let test: TestCustody
let vault: TestVault
let keyService: KeyService

const serviceOf = (key: string) => {
  const BEZANT_ROOT_KEY_SERVICE = `vault:${vault.url}/keys/${key}`
  return openKeyService(
    readConfig({}, { BEZANT_ROOT_KEY_SERVICE, BEZANT_VAULT_TOKEN: vault.token }).keyService!,
  )
}
const unwraps = () => vault.asked.filter(({ path }) => path.includes('/decrypt/')).length
const columnsOf = (version: number) =>
  test.database.one<{ wrappedKey: Buffer | null; wrappedBy: string }>(
    sql`select wrapped_key, wrapped_by from root_keys where version = ${version}`,
  )

beforeAll(async () => {
  test = await openTestCustody('seeded', { pinCost: { memoryKib: 64, passes: 1 } })
  vault = await openTestVault()
  vault.createKey('bezant')
  vault.createKey('elsewhere')
  keyService = serviceOf('bezant')
})
afterAll(async () => {
  await test?.close()
  await vault?.stop()
})
afterEach(cleanUp)

it('property 292: the root key moves to a service that is asked once by each process, and back', async () => {
  const world = await makeKeyWorld(test)
  const alone = await test.open()
  const both = await test.open(test.rootKey, { keyService })
  await test.custody.close()
  const before = await rootKeyStates(test.database, [test.rootKey], keyService)
  expect(rootKeyAdvice(before, 1, true)).toBe(
    'version 1 seals; run bezant root-key rotate for one that the key service wraps, and then remove this one from the settings',
  )
  expect(unwraps()).toBe(0)
  // A process without the service would lose what the new version seals.
  const refused = await rotateIn(test.database, both).catch((error: Error) => error.message)
  expect(refused).toContain('these processes lack version 2 of the root key')
  expect(refused).toContain(`restart each with one of vault:${vault.url}/keys/bezant`)
  await alone.close()
  expect(await rotateIn(test.database, both)).toMatchObject({ version: 2, retired: [1] })
  await world.check(both)
  const from = unwraps()
  const [first, second] = [await test.open([], { keyService }), await test.open([], { keyService })]
  expect(unwraps() - from).toBe(2)
  await world.check(first)
  await expect(test.open(test.rootKey)).rejects.toThrow(
    `set BEZANT_ROOT_KEY_SERVICE, as version 2 was wrapped by vault:${vault.url}/keys/bezant`,
  )
  await expect(test.open([])).rejects.toThrow('this process was given none')

  // Nothing asks while the processes run, whatever the service does.
  await vault.stop()
  await world.check(first)
  await world.check(second)
  await expect(test.open([], { keyService })).rejects.toThrow('does not unwrap the root key')
  await expect(rotateIn(test.database, first)).rejects.toThrow('does not wrap the root key')
  expect(await test.database.all(sql`select version from root_keys`)).toHaveLength(2)
  await vault.start()

  // The next rotation needs no restart of any process.
  await both.close()
  expect(await rotateIn(test.database, first)).toMatchObject({ version: 3, retired: [2] })
  expect(second.rootKeyVersions).toContain(3)
  await world.check(second)
  expect((await columnsOf(2)).wrappedKey).toBeNull()
  const state = await rootKeyStates(test.database, [], keyService)
  expect(rootKeyAdvice(state, 0, true)).toBe(`version 3 seals, wrapped by vault:${vault.url}/keys/bezant`)

  // A wrapped key that was changed, or belongs to another version, is refused.
  const { wrappedKey: intact } = await columnsOf(3)
  const store = (wrapped: Buffer) =>
    test.database.run(sql`update root_keys set wrapped_key = ${wrapped} where version = 3`)
  const foreign = await keyService.wrap(randomBytes(32), {
    bezant: 'root key',
    fingerprint: state[2]!.fingerprint,
  })
  for (const [wrapped, text] of [
    [Buffer.concat([intact!.subarray(0, -8), Buffer.from('AAAAAAAA')]), 'message authentication failed'],
    [foreign, 'unwraps another key'],
  ] as const) {
    await store(wrapped)
    await expect(test.open([], { keyService })).rejects.toThrow(text)
  }
  await store(intact!)

  // Back to a key of the settings.
  const plain = randomBytes(32)
  await first.close()
  const returning = await test.open(plain, { keyService })
  await expect(rotateIn(test.database, returning)).rejects.toThrow('Restart each with both keys')
  await second.close()
  expect(await rotateIn(test.database, returning)).toMatchObject({ version: 4, retired: [3] })
  await returning.close()
  await world.check(await test.open(plain))
})

it('property 292: a process waits for its service, and the wrapped key follows the key of the service', async () => {
  const { database, openOn } = await openCopy('seeded')
  const old = await openOn(testRootKey, { keyService })
  const signature = await signerOf(database, old)
  await rotateIn(database, old)
  await old.close()

  const alarmed = countAlarm('key-service-away')
  const begun: string[] = []
  vault.be('sealed')
  const whileWaiting = async () => {
    begun.push('began')
    return async () => void begun.push('ended')
  }
  const opening = openOn([], { keyService, whileWaiting })
  await until(() => begun.length === 1, 'the process waits')
  expect(alarmed()).toBe(1)
  vault.be('well')
  const waited = await opening
  expect(begun).toEqual(['began', 'ended'])
  expect(await signature(waited)).toBe(true)

  // The service makes a new version of its key, and drops the old one.
  vault.rotateKey('bezant')
  const rewrap = (to?: KeyService) => rewrapRootKeys({ database, clock, service: keyService, to })
  expect(await rewrap()).toEqual([2])
  vault.refuseOldVersions('bezant')
  expect(await signature(await openOn([], { keyService }))).toBe(true)
  // Another service takes over, and processes that run notice nothing.
  const to = serviceOf('elsewhere')
  expect(await rewrap(to)).toEqual([2])
  await expect(openOn([], { keyService })).rejects.toThrow(
    `too old); version 2 was wrapped by vault:${vault.url}/keys/elsewhere`,
  )
  // A service that refuses is not waited for.
  await expect(openOn([], { keyService, whileWaiting })).rejects.toThrow('too old')
  expect(await signature(await openOn([], { keyService: to }))).toBe(true)
  expect(await signature(waited)).toBe(true)
  const entries = await database.all<{ action: string }>(
    sql`select action from audit where action like 'rootKey.%' and resource_id = '2'`,
  )
  const actions = entries.map(({ action }) => action)
  expect(actions.filter((action) => action === 'rootKey.rewrapped')).toHaveLength(2)
  expect(actions).toContain('rootKey.created')
})

it('property 293: an earlier backup opens after a rotation with the key of its time, and is rotated again', async () => {
  const fresh = randomBytes(32)
  const site = await openCopy('seeded')
  const signature = await signerOf(site.database, await site.openOn(testRootKey))
  await site.close()
  const earlier = await openCopy(site.name)
  await earlier.close()
  const later = await openCopy(site.name)
  const rotating = await later.openOn([testRootKey, fresh])
  expect(await rotateIn(later.database, rotating)).toMatchObject({ version: 2 })
  expect(await signature(await later.openOn(fresh), later.database)).toBe(true)
  await later.close()

  const restored = await openCopy(earlier.name)
  await expect(restored.openOn(fresh)).rejects.toThrow('root key does not open')
  expect(await signature(await restored.openOn(testRootKey), restored.database)).toBe(true)
  await restored.closeCustodies()
  const again = await restored.openOn([fresh, testRootKey], { keyService })
  expect(await rotateIn(restored.database, again)).toMatchObject({ version: 2, retired: [1] })
  await restored.close()

  // A backup whose key a service wraps opens by the service alone, also after that version was retired elsewhere.
  const wrapped = await openCopy(restored.name)
  const moving = await wrapped.openOn(fresh, { keyService })
  expect(await rotateIn(wrapped.database, moving)).toMatchObject({ version: 3, retired: [2] })
  await wrapped.close()
  const kept = await openCopy(wrapped.name)
  const before = await kept.openOn([], { keyService })
  expect(await rotateIn(kept.database, before)).toMatchObject({ version: 4, retired: [3] })
  await kept.close()
  const opened = await openCopy(wrapped.name)
  expect(await signature(await opened.openOn([], { keyService }), opened.database)).toBe(true)
  await opened.close()
})

/** A copy of a database, and processes on it. */
async function openCopy(of: string) {
  const { name, connection } = await copyOf(of)
  const database = openDatabase(connection, 8)
  const custodies: Custody[] = []
  const openOn = async (...[rootKey, more]: Parameters<TestCustody['open']>) => {
    const custody = await test.open(rootKey, { ...more, database })
    custodies.push(custody)
    return custody
  }
  const closeCustodies = async () => {
    for (const custody of custodies.splice(0)) await custody.close()
  }
  const close = once(async () => {
    await closeCustodies()
    await database.close()
  })
  cleanups.push(close)
  return { name, database, openOn, closeCustodies, close }
}

/** Makes a key, and returns a function that tells whether a process signs with it as before. */
async function signerOf(database: Database, custody: Custody) {
  const { id } = await database.one<{ id: string }>(sql`select id from entities limit 1`)
  const { keyId } = await createPlatformKey({ custody, db: database, clock }, { entityId: id, family: 'evm' })
  const request = { entityId: id, keyId, payload: Buffer.alloc(32, 7) }
  const signed = await signWithPlatformKey(custody, database, request)
  return async (through: Custody, on = database) =>
    isDeepStrictEqual(await signWithPlatformKey(through, on, request), signed)
}
