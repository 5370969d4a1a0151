import { randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, openAsOwner, openDatabase, sql } from '#runtime/db/db'
import { whenConnected } from '#testing/databases/when-connected'
import { grantFor, openTestCustody, type TestCustody, type TestEntity } from '#testing/platform/custody'
import { isDeep, sizeOf } from '#testing/runner/size'
import { type EntitySecret, openEntitySecret, payloadsOf, SecondPayload, signForIntents } from '../index.ts'
import { createWalletSet, createWallets, type Wallet } from '../wallets/index.ts'
import type { SigningRequest } from './grants.ts'

const blockchain = 'BASE-SEPOLIA'
const runs = sizeOf('LEDGER_RUNS', { usual: 20, deep: 1_000 })
const racers = isDeep ? 1_000 : 60
const replacers = isDeep ? 200 : 30

let test: TestCustody
let crowd: Database
let entity: TestEntity
let secret: EntitySecret
let wallet: Wallet
let nonces = 0

beforeAll(async () => {
  test = await openTestCustody()
  crowd = openDatabase(test.connection, isDeep ? 30 : 12)
  entity = await test.newEntity()
  secret = await openEntitySecret(entity.ctx(), await entity.encrypt())
  const set = await entity.act((ctx) => createWalletSet(ctx, secret, {}))
  const chains = [{ blockchain, family: 'evm' as const, onChain: true }]
  ;[wallet] = (await entity.act((ctx) =>
    createWallets(ctx, secret, { walletSetId: set.id, chains, count: 1 }),
  )) as [Wallet]
})
afterAll(async () => {
  await crowd?.close()
  await test?.close()
})

/** A payload of a new intent with a separate grant. */
async function newRequest(nonce: number, changes: Partial<SigningRequest> = {}): Promise<SigningRequest> {
  const [intentId, intent] = [randomUUID(), randomBytes(40)]
  await entity.act((ctx) => grantFor(ctx, secret, wallet, { intentId, intent }))
  const fees = { maxFeeAtomic: 1_000n, priorityFeeAtomic: 100n }
  return {
    entityId: entity.id,
    intentId,
    intent,
    payload: randomBytes(32),
    blockchain,
    nonce,
    ...fees,
    ...changes,
  }
}

const sign = (...requests: SigningRequest[]) =>
  whenConnected(() => crowd.tx((tx) => signForIntents(test.custody, tx, requests, Date.now())))

const replacing = (last: SigningRequest, changes: Partial<SigningRequest> = {}): SigningRequest => ({
  ...last,
  payload: randomBytes(32),
  replaces: last.payload,
  maxFeeAtomic: tenthMore(last.maxFeeAtomic),
  priorityFeeAtomic: tenthMore(last.priorityFeeAtomic),
  ...changes,
})

/** The minimum that nodes want for a replacement, written independently of the table. */
function tenthMore(price: bigint): bigint {
  const more = (price * 11n + 9n) / 10n
  return more > price ? more : price + 1n
}

const lineOf = async (nonce: number) =>
  (await payloadsOf(crowd, [{ entityId: entity.id, address: wallet.address, blockchain, nonce }])).map(
    ({ digest }) => digest.toString('hex'),
  )

const hex = (request: SigningRequest) => request.payload.toString('hex')

describe('the signing ledger', () => {
  it(`property 35: of ${racers} payloads at once for one key, chain and nonce exactly one is signed`, async () => {
    const nonce = nonces++
    const requests = await Promise.all(Array.from({ length: racers }, () => newRequest(nonce)))
    const outcomes = await Promise.allSettled(requests.map((request) => sign(request)))
    const signed = requests.filter((_, index) => outcomes[index]!.status === 'fulfilled')
    expect(signed).toHaveLength(1)
    expect(await lineOf(nonce)).toEqual([hex(signed[0]!)])
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(SecondPayload)
    // A repeated request returns the same signature, also while others compete.
    const again = await Promise.allSettled(
      [...requests.slice(0, racers / 20), signed[0]!].map((each) => sign(each)),
    )
    expect(again.at(-1)!.status).toBe('fulfilled')
    expect(await lineOf(nonce)).toEqual([hex(signed[0]!)])
  })

  it(`property 35: of ${replacers} replacements at once of the same payload exactly one is signed`, async () => {
    const first = await newRequest(nonces++)
    await sign(first)
    const bumps = Array.from({ length: replacers }, () => replacing(first))
    const outcomes = await Promise.allSettled(bumps.map((request) => sign(request)))
    const signed = bumps.filter((_, index) => outcomes[index]!.status === 'fulfilled')
    expect(signed).toHaveLength(1)
    expect(await lineOf(first.nonce)).toEqual([hex(first), hex(signed[0]!)])
  })

  it('property 35: a replacement is signed only when both prices rise by a tenth, rounded up', async () => {
    const price = fc.bigInt({ min: 0n, max: 2n ** 128n })
    const step = fc.oneof(fc.constantFrom(-1n, 0n, 1n), fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }))
    await fc.assert(
      fc.asyncProperty(price, price, step, step, async (cap, tip, capStep, tipStep) => {
        const first = await newRequest(nonces++, { maxFeeAtomic: cap, priorityFeeAtomic: tip })
        await sign(first)
        const least = [tenthMore(cap), tenthMore(tip)] as const
        const [maxFeeAtomic, priorityFeeAtomic] = [least[0] + capStep, least[1] + tipStep]
        fc.pre(maxFeeAtomic >= 0n && priorityFeeAtomic >= 0n)
        const enough = capStep >= 0n && tipStep >= 0n
        const result = await sign(replacing(first, { maxFeeAtomic, priorityFeeAtomic })).then(
          () => true,
          (error) => expect(error).toBeInstanceOf(SecondPayload) === undefined && false,
        )
        expect(result).toBe(enough)
      }),
      { numRuns: runs },
    )
  })

  it('property 35: a replacement must name the last signed payload of the same intent', async () => {
    const first = await newRequest(nonces++)
    await sign(first)
    const second = replacing(first)
    const dear = { maxFeeAtomic: 10n ** 9n, priorityFeeAtomic: 10n ** 9n }
    await sign(second)
    await expect(sign(replacing(first, dear))).rejects.toThrow(SecondPayload)
    await expect(sign(replacing(second, { ...dear, replaces: randomBytes(32) }))).rejects.toThrow(
      SecondPayload,
    )
    await expect(sign(replacing(second, { ...dear, replaces: undefined }))).rejects.toThrow(SecondPayload)
    const other = await newRequest(first.nonce, { ...dear, replaces: second.payload })
    await expect(sign(other)).rejects.toThrow('another intent')
    await sign({ ...other, noop: true })
    // A signed payload may be requested again whatever its state; the signature is the same.
    await sign(first)
    await sign(second)
    expect(await lineOf(first.nonce)).toEqual([first, second, other].map(hex))
  })

  it('property 35: nothing of a batch is signed when one nonce of it is taken, and each chain has its own', async () => {
    const taken = await newRequest(nonces++)
    await sign(taken)
    const [good, bad] = [await newRequest(nonces++), await newRequest(taken.nonce)]
    await expect(sign(good, bad)).rejects.toThrow(SecondPayload)
    expect(await lineOf(good.nonce)).toEqual([])
    const elsewhere = { ...bad, blockchain: 'ETH-SEPOLIA' }
    expect(await sign(good, elsewhere)).toHaveLength(2)
  })

  it('property 35: signed payloads cannot be changed, removed or bypassed', async () => {
    const first = await newRequest(nonces++)
    await sign(first)
    const owner = openAsOwner(test.connection)
    for (const statement of [
      sql`update signatures set digest = ${randomBytes(32)} where nonce = ${first.nonce}`,
      sql`delete from signatures where nonce = ${first.nonce}`,
      sql`truncate signatures`,
    ])
      await expect(owner.run(statement)).rejects.toThrow('append-only')
    await owner.close()
    const insert = (ordinal: number, replaces: Buffer | null, fee: string) =>
      crowd.run(sql`insert into signatures (entity_id, address, blockchain, nonce, ordinal, digest, intent_id, max_fee,
          priority_fee, replaces, create_date)
        values (${entity.id}, ${wallet.address}, ${blockchain}, ${first.nonce}, ${ordinal}, ${randomBytes(32)},
          ${first.intentId}, ${fee}, ${fee}, ${replaces}, now())`)
    await expect(insert(0, null, '10000')).rejects.toThrow('signatures_pkey')
    await expect(insert(1, null, '10000')).rejects.toThrow()
    await expect(insert(2, first.payload, '10000')).rejects.toThrow('signed last')
    await expect(insert(1, first.payload, '1099')).rejects.toThrow('a tenth more')
    expect(await insert(1, first.payload, '1100')).toBe(1)
  })
})

describe('property 219: what expires', () => {
  const expiresMs = 600_000
  const proofAt = (timeMs: number, nextNonce: number) =>
    JSON.stringify({ block: { number: 9, hash: `0x${'ab'.repeat(32)}`, timeMs }, expiresMs, nextNonce })

  it('is signed for its nonce with another expiry only after a proof that the last one passed unused', async () => {
    const nonce = nonces++
    const first = await newRequest(nonce, { expiresMs })
    await sign(first)
    const dearer = replacing(first, { expiresMs })
    await sign(dearer)
    const later = 2 * expiresMs
    const refused: Partial<SigningRequest>[] = [
      { expiresMs: later },
      { expiresMs: undefined },
      { expiresMs: later, deathProof: '{}' },
      { expiresMs: later, deathProof: proofAt(expiresMs - 1, nonce) },
      { expiresMs: later, deathProof: proofAt(expiresMs, nonce + 1) },
      { expiresMs: expiresMs - 1, deathProof: proofAt(expiresMs - 1, nonce) },
    ]
    for (const change of refused) await expect(sign(replacing(dearer, change))).rejects.toThrow(SecondPayload)
    const other = await newRequest(nonce, {
      ...replacing(dearer),
      intentId: randomUUID(),
      expiresMs: later,
      deathProof: proofAt(expiresMs, nonce),
    })
    await expect(sign(other)).rejects.toThrow()
    const again = replacing(dearer, { expiresMs: later, deathProof: proofAt(expiresMs, nonce) })
    await sign(again)
    const kept = await payloadsOf(test.database, [
      { entityId: entity.id, address: wallet.address, blockchain, nonce },
    ])
    expect(kept.map((each) => each.expiresMs)).toEqual([expiresMs, expiresMs, later])
  })

  it('is nothing that lives until its nonce is used', async () => {
    const first = await newRequest(nonces++)
    await sign(first)
    const expiring = replacing(first, { expiresMs, deathProof: proofAt(expiresMs, 0) })
    await expect(sign(expiring)).rejects.toThrow(SecondPayload)
  })
})

describe('property 237: what lives up to a height', () => {
  const lastHeight = 1_000
  const proofAt = (number: number) =>
    JSON.stringify({ block: { number, hash: 'a block', timeMs: 9 }, lastHeight })

  it('is followed by nothing, at no price, before a proof that its last block had passed', async () => {
    const nonce = nonces++
    const first = await newRequest(nonce, { lastHeight })
    await sign(first)
    const later = 2 * lastHeight
    const refused: Partial<SigningRequest>[] = [
      { lastHeight },
      { lastHeight: later },
      { lastHeight: undefined },
      { lastHeight, deathProof: '{}' },
      { lastHeight: later, deathProof: proofAt(lastHeight - 1) },
      { expiresMs: 600_000, lastHeight: undefined },
    ]
    for (const change of refused) await expect(sign(replacing(first, change))).rejects.toThrow(SecondPayload)
    const again = replacing(first, { lastHeight: later, deathProof: proofAt(lastHeight) })
    await sign(again)
    // The proof is of the first one, and says nothing of the second.
    const third = replacing(again, { lastHeight: 3 * lastHeight, deathProof: proofAt(lastHeight) })
    await expect(sign(third)).rejects.toThrow(SecondPayload)
    const kept = await payloadsOf(test.database, [
      { entityId: entity.id, address: wallet.address, blockchain, nonce },
    ])
    expect(kept.map((each) => each.lastHeight)).toEqual([lastHeight, later])
  })

  it('takes the place of nothing that lives until its nonce is used', async () => {
    const first = await newRequest(nonces++)
    await sign(first)
    await expect(sign(replacing(first, { lastHeight, deathProof: proofAt(lastHeight) }))).rejects.toThrow(
      SecondPayload,
    )
  })
})
