import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sealedColumns } from '#identity/sealed-columns/index'
import { openWithPin, setPin, storeKeyChange } from '#identity/user-keys/index'
import { sql } from '#runtime/db/db'
import { newPageUser, submissionOf } from '#testing/builders/user-submissions'
import { countAlarm } from '#testing/platform/count-alarm'
import { grantFor, openTestCustody, type TestCustody } from '#testing/platform/custody'
import {
  type Custody,
  createPlatformKey,
  decryptSecret,
  openEntitySecret,
  rotateEntitySecret,
  signForIntents,
  signWithPlatformKey,
  spendCiphertext,
} from '../index.ts'
import { rotateWebhookKeys } from '../installation/index.ts'
import { countOutdated } from '../store/sealed-values.ts'
import { createWalletSet, createWallets } from '../wallets/index.ts'
import { RotationRefused, rootKeyAdvice, rootKeyStates, rotateRootKey } from './index.ts'

const [second, third] = [randomBytes(32), randomBytes(32)]
const pin = '258014'
const chains = [{ blockchain: 'BASE-SEPOLIA', family: 'evm' as const, onChain: true }]

let test: TestCustody

beforeAll(async () => {
  test = await openTestCustody('seeded', { pinCost: { memoryKib: 64, passes: 1 } })
})
afterAll(() => test?.close())

const clock = { nowMs: Date.now }

const rotate = (custody: Custody) =>
  rotateRootKey({
    custody,
    database: test.database,
    clock,
    columns: sealedColumns,
    entityIds: async () =>
      (await test.database.all<{ id: string }>(sql`select id from entities`)).map(({ id }) => id),
    report: () => undefined,
  })

/** An installation with a key of each kind, and the work that needs them, in the process of any custody. */
async function makeWorld() {
  const entity = await test.newEntity()
  const secret = await openEntitySecret(entity.ctx(), await entity.encrypt())
  const wallets = await entity.act(async (ctx) => {
    await spendCiphertext(ctx, secret)
    const set = await createWalletSet(ctx, secret, {})
    return createWallets(ctx, secret, { walletSetId: set.id, chains, count: 3 })
  })
  const user = await newPageUser(entity)
  const submit = (purpose: 'setPin' | 'open', kind: string) => submissionOf(user, purpose, [[kind, pin]])
  const change = await setPin(entity.ctx(), submit('setPin', 'N'))
  await entity.act((ctx) => storeKeyChange(ctx, change))
  const scope = { custody: test.custody, db: test.database, clock }
  const platform = await createPlatformKey(scope, { entityId: entity.id, family: 'evm' })
  await rotateWebhookKeys(scope)
  const [intentId, intent] = [randomUUID(), Buffer.from(randomUUID())]
  await entity.act((ctx) => grantFor(ctx, secret, wallets[0]!, { intentId, intent }))
  const payload = { blockchain: 'BASE-SEPOLIA', nonce: 0, maxFeeAtomic: 2n, priorityFeeAtomic: 1n }
  const request = { entityId: entity.id, intentId, intent, payload: Buffer.alloc(32, 5), ...payload }
  const granted = await signForIntents(test.custody, test.database, [request], Date.now())
  const platformPayload = { entityId: entity.id, keyId: platform.keyId, payload: Buffer.alloc(32, 6) }
  const signed = await signWithPlatformKey(test.custody, test.database, platformPayload)
  const webhook = { id: 'w', timestampSeconds: 1, body: '{}' }
  const link = test.custody.notary.tokenOf('payment page', 'a')
  const { keyId } = await test.custody.webhookSigner.sign(webhook)
  return {
    entity,
    /** Everything works as before, in this process. */
    check: async (custody: Custody) => {
      expect(await signForIntents(custody, test.database, [request], Date.now())).toEqual(granted)
      expect(await signWithPlatformKey(custody, test.database, platformPayload)).toEqual(signed)
      expect((await custody.webhookSigner.sign(webhook)).keyId).toBe(keyId)
      expect(custody.notary.tokensOf('payment page', 'a')).toContain(link)
      const shown = await openEntitySecret(entity.ctx(custody), await entity.encrypt())
      await entity.act(async (ctx) => {
        const own = { intentId: randomUUID(), intent: randomBytes(32) }
        await grantFor(ctx, shown, wallets[1]!, own)
        await createWallets(ctx, shown, { walletSetId: wallets[0]!.walletSetId, chains, count: 1 })
      }, custody)
      await openWithPin(entity.ctx(custody), submit('open', 'P'))
    },
  }
}

it('property 285: after a rotation the new root key opens everything, and the old one nothing', async () => {
  const world = await makeWorld()
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
