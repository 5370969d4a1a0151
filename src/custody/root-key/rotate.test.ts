import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sealedColumns } from '#identity/sealed-columns/index'
import { sql } from '#runtime/db/db'
import { makeKeyWorld, rotateIn } from '#testing/builders/key-world'
import { countAlarm } from '#testing/platform/count-alarm'
import { openTestCustody, type TestCustody } from '#testing/platform/custody'
import { type Custody, decryptSecret, openEntitySecret, rotateEntitySecret } from '../index.ts'
import { countOutdated } from '../store/sealed-values.ts'
import { RotationRefused, rootKeyAdvice, rootKeyStates } from './index.ts'

const [second, third] = [randomBytes(32), randomBytes(32)]

let test: TestCustody

beforeAll(async () => {
  test = await openTestCustody('seeded', { pinCost: { memoryKib: 64, passes: 1 } })
})
afterAll(() => test?.close())

const rotate = (custody: Custody) => rotateIn(test.database, custody)

it('property 285: after a rotation the new root key opens everything, and the old one nothing', async () => {
  const world = await makeKeyWorld(test)
  await expect(rotate(test.custody)).rejects.toThrow(RotationRefused)
  const both = await test.open([second, test.rootKey])
  // The process with the old key alone would lose what the new one seals.
  await expect(rotate(both)).rejects.toThrow('lack version 2 of the root key')
  await test.custody.close()
  // A process of a release that knows nothing of versions, or one that hangs.
  const { connection } = test
  const settings = 'url' in connection ? { connectionString: connection.url } : connection
  const silent = new pg.Client({ ...settings, application_name: 'bezant elsewhere:7' })
  await silent.connect()
  await expect(rotate(both)).rejects.toThrow('do not say which root keys they have: elsewhere:7.')
  await silent.end()
  // A value that does not open is named, and the old key is not retired for it.
  const intact = await test.database.one<{ sealed: Buffer; entityId: string }>(
    sql`select entity_id, sealed_entropy as sealed from platform_seeds order by entity_id limit 1`,
  )
  const storeSeed = (sealed: Buffer) =>
    test.database.run(
      sql`update platform_seeds set sealed_entropy = ${sealed} where entity_id = ${intact.entityId}`,
    )
  await storeSeed(Buffer.concat([intact.sealed.subarray(0, -1), Buffer.of(intact.sealed.at(-1)! ^ 1)]))
  const named = `do not open with any version of the root key: platform_seeds.sealed_entropy of entity_id ${intact.entityId}.`
  await expect(rotate(both)).rejects.toThrow(named)
  await world.check(both)
  await storeSeed(intact.sealed)
  const { version, retired, resealed } = await rotate(both)
  // Everything else was sealed again beside the value that did not open.
  expect([version, retired, resealed]).toEqual([2, [1], 1])
  for (const column of sealedColumns) expect(await countOutdated(test.database, column, 2)).toBe(0)
  // A process that slept through the rotation, with the old key alone.
  const missing = countAlarm('root-key-missing')
  await test.custody.followRootKeys()
  expect(missing()).toBe(1)
  await expect(test.database.tx((tx) => test.custody.auditSigner.signIn(tx))).rejects.toThrow(
    'version 1 of the root key is closed',
  )
  await world.check(both)
  const fresh = await test.open(second)
  await world.check(fresh)
  await expect(test.open(test.rootKey)).rejects.toThrow('which is retired')
  await expect(test.open(randomBytes(32))).rejects.toThrow('does not open')
  const states = await rootKeyStates(test.database, [test.rootKey])
  expect(states.map(({ retiredDate, isGiven }) => [retiredDate !== null, isGiven])).toEqual([
    [true, true],
    [false, false],
  ])
  expect(() => rootKeyAdvice(states, 1)).toThrow('which is retired')

  // A value of before the rotation, as an old copy of the database has it, is refused by the database and by the program.
  const { sealed: present } = await test.database.one<{ sealed: Buffer }>(
    sql`select sealed_private_key as sealed from transport_keys limit 1`,
  )
  const old = Buffer.concat([Buffer.of(1), present.subarray(3)])
  await expect(test.database.run(sql`update transport_keys set sealed_private_key = ${old}`)).rejects.toThrow(
    'a version of the root key that is closed',
  )
  await test.custody.close()

  // A recovery file of before the rotation still gives the owner a new secret, whose keys have both layers.
  const { entity } = world
  const bytes = randomBytes(32)
  await entity.act(async (ctx) => {
    const shown = await decryptSecret(ctx, await entity.encrypt(bytes))
    await rotateEntitySecret(ctx, { recoveryFile: entity.recoveryFile! }, shown)
  }, fresh)
  const all = await test.open([third, second])
  for (const custody of [both, fresh]) await custody.close()
  expect((await rotate(all)).retired).toEqual([2])
  expect(await rotate(await test.open(third)).catch((error: Error) => error.message)).toContain(
    'nothing to rotate to',
  )
  await openEntitySecret(entity.ctx(await test.open(third)), await entity.encrypt(bytes))
})
