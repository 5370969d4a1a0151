import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1'
import { keccak_256 } from '@noble/hashes/sha3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '#lib/time'
import { sql } from '#runtime/db/db'
import { grantFor, openTestCustody, type TestCustody, type TestEntity } from '#testing/platform/custody'
import { freeze, unfreeze } from '../freezes/index.ts'
import {
  type Custody,
  type CustodyCtx,
  createPlatformKey,
  type EntitySecret,
  eraseGrants,
  grantSigning,
  openEntitySecret,
  signForIntents,
  signWithPlatformKey,
} from '../index.ts'
import { decidePolicy } from '../policy/index.ts'
import { createWalletSet, createWallets, type Wallet } from '../wallets/index.ts'
import type { SigningRequest } from './grants.ts'

let test: TestCustody
let entity: TestEntity
let secret: EntitySecret
let wallets: Wallet[]

beforeAll(async () => {
  test = await openTestCustody()
  entity = await test.newEntity()
  secret = await openEntitySecret(entity.ctx(), await entity.encrypt())
  const set = await entity.act((ctx) => createWalletSet(ctx, secret, {}))
  const chains = [{ blockchain: 'BASE-SEPOLIA', family: 'evm' as const, onChain: true }]
  wallets = await entity.act((ctx) => createWallets(ctx, secret, { walletSetId: set.id, chains, count: 3 }))
})
afterAll(() => test?.close())

/** Recovers the signer's address with a library other than custody's signer of this machine. */
function signerOf(digest: Buffer, signature: Buffer): string {
  const compact = secp256k1.Signature.fromCompact(signature.subarray(0, 64))
  const point = compact.addRecoveryBit(signature[64]!).recoverPublicKey(digest)
  const hash = keccak_256(point.toRawBytes(false).subarray(1))
  return `0x${Buffer.from(hash.subarray(12)).toString('hex')}`
}

const grant = (wallet: Wallet, intent: Buffer, intentId = randomUUID()) =>
  entity.act((ctx) => grantFor(ctx, secret, wallet, { intentId, intent })).then(() => intentId)
/** Counter that gives every request a separate nonce; the limits of one nonce are tested with the signing ledger. */
let nonces = 0
const onChain = () => ({
  blockchain: 'BASE-SEPOLIA',
  nonce: nonces++,
  maxFeeAtomic: 2n,
  priorityFeeAtomic: 1n,
})
const sign = (intentId: string, intent: Buffer, digest = randomBytes(32), entityId = entity.id) =>
  signAll(test.custody, [{ entityId, intentId, intent, payload: digest, ...onChain() }])
const signAll = (custody: Custody, requests: readonly SigningRequest[]) =>
  test.database.tx((tx) => signForIntents(custody, tx, requests, Date.now()))

describe('a grant', () => {
  it('signs its intent with the key of its address, any number of times and in any process', async () => {
    const other = await test.open()
    const requests = await Promise.all(
      wallets.map(async (wallet, index) => {
        const intent = Buffer.from(`intent ${index}`)
        const intentId = await grant(wallet, intent)
        return { entityId: entity.id, intentId, intent, payload: randomBytes(32), ...onChain() }
      }),
    )
    const others = requests.map((request) => ({ ...request, payload: randomBytes(32), ...onChain() }))
    const twice = [...requests, ...others]
    for (const custody of [test.custody, other]) {
      const signatures = await signAll(custody, twice)
      const signers = signatures.map((signature, index) => signerOf(twice[index]!.payload, signature))
      expect(signers).toEqual([...wallets, ...wallets].map((wallet) => wallet.address))
    }
  })

  it('signs for no other intent bytes', async () => {
    const intentId = await grant(wallets[0]!, Buffer.from('send 1'))
    await expect(sign(intentId, Buffer.from('send 2'))).rejects.toThrow('does not open')
  })

  it('does not open for another intent, address or entity when its row is copied there', async () => {
    const intent = Buffer.from('send 1')
    const from = await grant(wallets[0]!, intent)
    const moved = randomUUID()
    const copy = (entityId: string, intentId: string, address: string) =>
      test.database.run(sql`insert into grants (entity_id, intent_id, key_id, wallet_id, decision_id, address,
          sealed_key, create_date)
        select ${entityId}::uuid, ${intentId}::uuid, key_id, wallet_id, decision_id, ${address}, sealed_key, create_date
        from grants where intent_id = ${from}`)
    await copy(entity.id, moved, wallets[0]!.address)
    await expect(sign(moved, intent)).rejects.toThrow('does not open')
    await test.database.run(sql`update grants set address = ${wallets[1]!.address} where intent_id = ${from}`)
    await expect(sign(from, intent)).rejects.toThrow('does not open')
    const other = await test.newEntity()
    await copy(other.id, from, wallets[0]!.address)
    await test.database.run(sql`insert into keys
        (entity_id, id, class, family, derivation_index, address, sealed_private_key, create_date)
      select ${other.id}::uuid, id, 'platform', family, derivation_index, address, sealed_private_key, create_date
      from keys where id = ${wallets[0]!.keyId}`)
    await expect(sign(from, intent, undefined, other.id)).rejects.toThrow('does not open')
  })

  it('is gone once erased, and a batch that lacks one grant is not signed at all', async () => {
    const intent = Buffer.from('send')
    const [kept, erased] = [await grant(wallets[0]!, intent), await grant(wallets[1]!, intent)]
    await eraseGrants(test.database, [{ entityId: entity.id, intentId: erased }])
    await expect(sign(erased, intent)).rejects.toThrow('no grant')
    const requests = [kept, erased].map((intentId) => ({
      entityId: entity.id,
      intentId,
      intent,
      payload: randomBytes(32),
      ...onChain(),
    }))
    await expect(signAll(test.custody, requests)).rejects.toThrow('no grant')
    expect((await sign(kept, intent)).length).toBe(1)
  })

  it('is not made with the secret of another entity, nor for a platform key', async () => {
    const other = await test.newEntity()
    const foreign = await openEntitySecret(other.ctx(), await other.encrypt())
    const make = (who: TestEntity, by: EntitySecret, wallet: Wallet) =>
      who.act((ctx) => grantFor(ctx, by, wallet, { intentId: randomUUID(), intent: Buffer.from('x') }))
    await expect(make(other, foreign, wallets[0]!)).rejects.toMatchObject({ code: 156001 })
    await expect(make(entity, foreign, wallets[0]!)).rejects.toMatchObject({ code: 156001 })
    const { keyId } = await createPlatformKey(entity.ctx(), { entityId: entity.id, family: 'evm' })
    await expect(make(entity, secret, { ...wallets[0]!, keyId })).rejects.toMatchObject({ code: 156001 })
  })

  it('is made once by each decision, in the tx of the decision', async () => {
    const operation = { kind: 'transfer', effects: [], dangers: [] } as const
    const ask = (ctx: CustodyCtx) =>
      decidePolicy(ctx, wallets[0]!, { intentId: randomUUID(), intent: Buffer.from('x'), operation })
    const twice = entity.act(async (ctx) => {
      const decision = await ask(ctx)
      await grantSigning(ctx, secret, decision)
      await grantSigning(ctx, secret, decision)
    })
    await expect(twice).rejects.toThrow('good once')
    const early = await entity.act(ask)
    await expect(entity.act((ctx) => grantSigning(ctx, secret, early))).rejects.toThrow('good once')
    const made = entity.act(async (ctx) => grantSigning(ctx, secret, { ...(await ask(ctx)) }))
    await expect(made).rejects.toThrow('good once')
  })

  it('does not open when the keys of two rows are swapped', async () => {
    const [a, b] = wallets as [Wallet, Wallet, Wallet]
    const swap = sql`update keys k set sealed_private_key = o.sealed_private_key from keys o
      where o.entity_id = k.entity_id and k.id in (${a.keyId}, ${b.keyId}) and o.id in (${a.keyId}, ${b.keyId}) and k.id <> o.id`
    await test.database.run(swap)
    await expect(grant(a, Buffer.from('x'))).rejects.toThrow('does not open')
    await test.database.run(swap)
    await grant(a, Buffer.from('x'))
  })
})

describe('platform keys', () => {
  it('are distinct when made 20 at a time, and sign without the entity secret', async () => {
    const bare = await test.newEntity({ registered: false })
    const make = () => createPlatformKey(bare.ctx(), { entityId: bare.id, family: 'evm' })
    const keys = await Promise.all(Array.from({ length: 20 }, make))
    expect(new Set(keys.map((key) => key.address)).size).toBe(20)
    const digest = createHash('sha256').update('sweep').digest()
    const { keyId, address } = keys[7]!
    const request = { entityId: bare.id, keyId, payload: digest }
    expect(signerOf(digest, await signWithPlatformKey(test.custody, test.database, request))).toBe(address)
    const subject = { entityId: bare.id }
    const operator = { db: test.database, clock: systemClock, actor: 'operator' }
    await freeze(operator, subject)
    await expect(signWithPlatformKey(test.custody, test.database, request)).rejects.toThrow('frozen')
    await unfreeze(operator, subject)
    const foreign = { ...request, entityId: entity.id }
    await expect(signWithPlatformKey(test.custody, test.database, foreign)).rejects.toThrow('no platform key')
    const walletKey = { entityId: entity.id, keyId: wallets[0]!.keyId, payload: digest }
    await expect(signWithPlatformKey(test.custody, test.database, walletKey)).rejects.toThrow(
      'no platform key',
    )
  })
})
