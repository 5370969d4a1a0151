import { createHook } from 'node:async_hooks'
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { grantFor, openTestCustody, type TestCustody, type TestEntity } from '#testing/platform/custody'
import { seal } from '#testing/platform/tenant'
import { isDeep } from '#testing/runner/size'
import {
  decryptSecret,
  openEntitySecret,
  type RotationProof,
  rotateEntitySecret,
  seedSandboxEntity,
  signForIntents,
  spendCiphertext,
  transportPublicKey,
} from '../index.ts'
import { createWalletSet, createWallets, type Wallet } from '../wallets/index.ts'

const keyCount = isDeep ? 150 : 12
const makerCount = isDeep ? 20 : 6
const starters = isDeep ? 3 : 2

let test: TestCustody

beforeAll(async () => {
  test = await openTestCustody()
})
afterAll(() => test?.close())

const chains = [{ blockchain: 'BASE-SEPOLIA', family: 'evm' as const, onChain: true }]

async function wallets(entity: TestEntity, count: number, bytes = entity.secret) {
  const secret = await openEntitySecret(entity.ctx(), await entity.encrypt(bytes))
  return entity.act(async (ctx) => {
    await spendCiphertext(ctx, secret)
    const set = await createWalletSet(ctx, secret, {})
    return createWallets(ctx, secret, { walletSetId: set.id, chains, count })
  })
}

async function rotate(entity: TestEntity, bytes: Buffer, proof?: RotationProof) {
  const shown = await decryptSecret(entity.ctx(), await entity.encrypt(bytes))
  const given = proof ?? { secret: await openEntitySecret(entity.ctx(), await entity.encrypt()) }
  return entity.act((ctx) => rotateEntitySecret(ctx, given, shown))
}

let nonces = 0

async function grantWith(entity: TestEntity, bytes: Buffer, wallet: Wallet) {
  const secret = await openEntitySecret(entity.ctx(), await entity.encrypt(bytes))
  const intentId = randomUUID()
  const intent = Buffer.from(intentId)
  await entity.act((ctx) => grantFor(ctx, secret, wallet, { intentId, intent }))
  const payload = { blockchain: 'BASE-SEPOLIA', nonce: nonces++, maxFeeAtomic: 2n, priorityFeeAtomic: 1n }
  return { entityId: entity.id, intentId, intent, payload: Buffer.alloc(32, 5), ...payload }
}

describe('rotating the entity secret', () => {
  it('lets every key open with the new secret only, and keeps grants good', async () => {
    const entity = await test.newEntity()
    const made = await wallets(entity, keyCount)
    const before = await grantWith(entity, entity.secret, made[3]!)
    const [signature] = await signForIntents(test.custody, test.database, [before], Date.now())
    const fresh = randomBytes(32)
    await rotate(entity, fresh)
    await expect(grantWith(entity, entity.secret, made[3]!)).rejects.toMatchObject({ code: 156013 })
    for (const wallet of [made[0]!, made[3]!, made.at(-1)!]) await grantWith(entity, fresh, wallet)
    const after = await grantWith(entity, fresh, made[3]!)
    const again = await signForIntents(test.custody, test.database, [before, after], Date.now())
    expect(again).toEqual([signature, signature])
    expect((await wallets(entity, 2, fresh)).length).toBe(2)
  })

  it('works from the recovery file once, and the next file takes its place', async () => {
    const entity = await test.newEntity()
    const [wallet] = await wallets(entity, 1)
    const fresh = randomBytes(32)
    const recoveryFile = entity.recoveryFile!
    const next = await rotate(entity, fresh, { recoveryFile })
    await grantWith(entity, fresh, wallet!)
    const refused = { code: 156018, status: 403 }
    await expect(rotate(entity, randomBytes(32), { recoveryFile })).rejects.toMatchObject(refused)
    const newest = randomBytes(32)
    await rotate(entity, newest, { recoveryFile: `${next.recoveryFile}\n` })
    await grantWith(entity, newest, wallet!)
  })

  it('refuses a changed, foreign or senseless recovery file', async () => {
    const entity = await test.newEntity()
    const other = await test.newEntity()
    const own = Buffer.from(entity.recoveryFile!, 'base64')
    const changed = Array.from({ length: own.length }, (_, index) => {
      const bytes = Buffer.from(own)
      bytes[index]! ^= 1
      return bytes.toString('base64')
    })
    const bad = [
      ...changed,
      other.recoveryFile!,
      '',
      'x',
      own.subarray(0, 9).toString('base64'),
      own.toString('hex'),
    ]
    const shown = await decryptSecret(entity.ctx(), await entity.encrypt(randomBytes(32)))
    for (const recoveryFile of bad)
      await expect(
        entity.act((ctx) => rotateEntitySecret(ctx, { recoveryFile }, shown)),
        recoveryFile,
      ).rejects.toMatchObject({ code: 156018 })
    expect(own.includes(entity.secret)).toBe(false)
  })

  it('leaves everything as it was when it does not commit', async () => {
    const entity = await test.newEntity()
    const [wallet] = await wallets(entity, 3)
    const shown = await decryptSecret(entity.ctx(), await entity.encrypt(randomBytes(32)))
    const secret = await openEntitySecret(entity.ctx(), await entity.encrypt())
    const killed = entity.act(async (ctx) => {
      await rotateEntitySecret(ctx, { secret }, shown)
      await ctx.db.run(sql`select pg_terminate_backend(pg_backend_pid())`)
    })
    await expect(killed).rejects.toThrow()
    await grantWith(entity, entity.secret, wallet!)
  })

  it('refuses secrets opened before the rotation', async () => {
    const entity = await test.newEntity()
    const stale = await openEntitySecret(entity.ctx(), await entity.encrypt())
    await rotate(entity, randomBytes(32))
    const use = entity.act((ctx) => spendCiphertext(ctx, stale))
    await expect(use).rejects.toMatchObject({ code: 156013 })
  })

  it('loses no key while wallets are being made', async () => {
    const entity = await test.newEntity()
    const fresh = randomBytes(32)
    const making = Array.from({ length: makerCount }, () =>
      wallets(entity, 2).catch((error) => error.code as number),
    )
    const [outcomes] = await Promise.all([Promise.all(making), rotate(entity, fresh)])
    const made = outcomes.flatMap((outcome) => (typeof outcome === 'number' ? [] : outcome))
    expect(outcomes.filter((outcome) => typeof outcome === 'number' && outcome !== 156013)).toEqual([])
    for (const wallet of made) await grantWith(entity, fresh, wallet)
  })
})

describe('transport keys', () => {
  it('are created once by processes that start together', async () => {
    const own = await openTestCustody('empty')
    const others = await Promise.all(Array.from({ length: starters - 1 }, () => own.open()))
    const keys = await Promise.all([own.custody, ...others].map(transportPublicKey))
    expect(new Set(keys).size).toBe(1)
    await own.close()
  })

  it('still decrypt ciphertexts for older keys, in every process', async () => {
    const entity = await test.newEntity()
    const other = await test.open()
    const old = await transportPublicKey(test.custody)
    let made = 0
    const hook = createHook({ init: (_id, type) => void (type === 'KEYPAIRGENREQUEST' && made++) }).enable()
    // A start with an existing key spends no time on generating another one.
    expect(await transportPublicKey(await test.open())).toBe(old)
    expect(made).toBe(0)
    await test.custody.transport.rotate()
    hook.disable()
    // The hook counts generated keys: the zero above is meaningful.
    expect(made).toBe(1)
    const fresh = await transportPublicKey(other)
    expect(fresh).not.toBe(old)
    for (const custody of [test.custody, other])
      for (const key of [old, fresh]) await openEntitySecret(entity.ctx(custody), seal(key, entity.secret))
  })

  it('do not open under another root key, which fails the start of the process', async () => {
    await transportPublicKey(test.custody)
    await expect(test.open(randomBytes(32))).rejects.toThrow('root key does not open')
  })
})

describe('the sandbox entity', () => {
  it('is registered once, and a rotated secret is reported', async () => {
    const entity = await test.newEntity({ registered: false })
    const input = { entityId: entity.id, secretHex: entity.secret.toString('hex') }
    for (const _ of [1, 2]) expect(await seedSandboxEntity(entity.ctx(), input)).toEqual({ current: true })
    await openEntitySecret(entity.ctx(), await entity.encrypt())
    await rotate(entity, randomBytes(32))
    expect(await seedSandboxEntity(entity.ctx(), input)).toEqual({ current: false })
  })
})

describe('the database', () => {
  it('holds no key, seed or secret in the clear', async () => {
    const entity = await test.newEntity()
    const made = await wallets(entity, 2)
    await grantWith(entity, entity.secret, made[0]!)
    const tables = [
      'transport_keys',
      'entity_secrets',
      'wallet_sets',
      'keys',
      'grants',
      'platform_seeds',
      'audit',
    ]
    const derived = new Set(made.map((wallet) => wallet.address))
    const { evm } = await import('../families/evm.ts')
    let windows = 0
    for (const table of tables) {
      const newest = sql`id = (select id from transport_keys order by create_date desc limit 1)`
      const scope = table === 'transport_keys' ? newest : sql`entity_id = ${entity.id}`
      const rows = await test.database.all<Record<string, unknown>>(
        sql`select * from ${{ text: [table], values: [] }} where ${scope}`,
      )
      for (const value of rows.flatMap((row) => Object.values(row))) {
        if (typeof value === 'string') expect(value).not.toContain(entity.secret.toString('hex'))
        if (!Buffer.isBuffer(value)) continue
        expect(value.includes(entity.secret)).toBe(false)
        for (let at = 0; at + 32 <= value.length; at++) {
          windows++
          const window = value.subarray(at, at + 32)
          try {
            expect(derived.has(evm.addressOf(test.custody.signer, window))).toBe(false)
          } catch (error) {
            if (error instanceof Error && error.name === 'AssertionError') throw error
          }
        }
      }
    }
    expect(windows).toBeGreaterThan(1_000)
  })
})
