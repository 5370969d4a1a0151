import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'

let harness: Harness
let walletSetId: string

beforeAll(async () => {
  harness = await openHarness({ engines: false, blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  walletSetId = await newSet()
})
afterAll(() => harness?.close())

const post = async (path: string, rest: object, tenant: Tenant = harness) =>
  tenant.http('POST', path, {
    body: {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await tenant.sealSecret(),
      ...rest,
    },
  })
const newSet = async (tenant: Tenant = harness): Promise<string> =>
  (await post('/v1/w3s/developer/walletSets', {}, tenant)).body.data.walletSet.id
const create = (rest: object, tenant?: Tenant) =>
  post('/v1/w3s/developer/wallets', { walletSetId, blockchains: ['BASE-SEPOLIA'], ...rest }, tenant)

type Shown = { id: string; blockchain: string; address: string; name?: string; refId?: string }

describe('POST /v1/w3s/developer/wallets', () => {
  it('creates a wallet in the documented form', async () => {
    const { status, body } = await create({ metadata: [{ name: 'Till', refId: 'till-1' }] })
    const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const wallet = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      state: 'LIVE',
      walletSetId,
      custodyType: 'DEVELOPER',
      name: 'Till',
      refId: 'till-1',
      address: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      blockchain: 'BASE-SEPOLIA',
      accountType: 'EOA',
      updateDate: date,
      createDate: date,
    }
    expect([status, body]).toEqual([201, { data: { wallets: [wallet] } }])
    const { id } = body.data.wallets[0]
    expect((await harness.http('GET', `/v1/w3s/wallets/${id}`)).body.data.wallet).toEqual(
      body.data.wallets[0],
    )
  })

  it('shares addresses between the chains of one call, with the metadata of their index', async () => {
    const rest = {
      walletSetId: await newSet(),
      blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA', 'EVM-TESTNET'],
      count: 3,
      metadata: [{ name: 'a' }, { name: 'b', refId: 'r' }, {}],
    }
    const wallets: Shown[] = (await create(rest)).body.data.wallets
    expect(wallets.length).toBe(9)
    expect(new Set(wallets.map((wallet) => wallet.address)).size).toBe(3)
    for (const blockchain of rest.blockchains)
      expect(
        wallets.filter((wallet) => wallet.blockchain === blockchain).map(({ name, refId }) => [name, refId]),
      ).toEqual([
        ['a', undefined],
        ['b', 'r'],
        [undefined, undefined],
      ])
  })

  it('answers a repeated request with the same wallets in the same order', async () => {
    const rest = { idempotencyKey: randomUUID(), blockchains: ['ETH-SEPOLIA', 'BASE-SEPOLIA'], count: 200 }
    const first = await create(rest)
    const again = await create(rest)
    expect([first.status, again.status, first.body.data.wallets.length]).toEqual([201, 200, 400])
    expect(again.body).toEqual(first.body)
  })

  it.each([
    ['no such set', { walletSetId: randomUUID() }, 404, 156005, 'walletSetId'],
    ['too little metadata', { count: 2, metadata: [{}] }, 400, 155503, 'metadata'],
    ['too much metadata', { metadata: [{}, {}] }, 400, 155503, 'metadata'],
    ['a main network', { blockchains: ['BASE-SEPOLIA', 'BASE'] }, 400, 156006, 'blockchains[1]'],
    ['a network that is not connected', { blockchains: ['OP-SEPOLIA'] }, 400, 155511, 'blockchains[0]'],
    ['a network that starts when named', { blockchains: ['ARC-TESTNET'] }, 400, 155511, 'blockchains[0]'],
    [
      'a smart account without a chain',
      { accountType: 'SCA', blockchains: ['EVM-TESTNET'] },
      400,
      155507,
      'blockchains[0]',
    ],
    [
      'a smart account off EVM',
      { accountType: 'SCA', blockchains: ['SOL-DEVNET'] },
      400,
      155507,
      'blockchains[0]',
    ],
    ['an unknown network', { blockchains: ['DOGE'] }, 400, 2, 'blockchains[0]'],
    ['a network in lower case', { blockchains: ['base-sepolia'] }, 400, 2, 'blockchains[0]'],
    ['no network', { blockchains: [] }, 400, 2, 'blockchains'],
    ['a network twice', { blockchains: ['BASE-SEPOLIA', 'BASE-SEPOLIA'] }, 400, 2, 'blockchains'],
    ['no wallet', { count: 0 }, 400, 2, 'count'],
    ['too many', { count: 201 }, 400, 2, 'count'],
    ['half a wallet', { count: 1.5 }, 400, 2, 'count'],
    ['a count in text', { count: '1' }, 400, 2, 'count'],
    ['a set that is no id', { walletSetId: 'x' }, 400, 2, 'walletSetId'],
    ['an unknown account type', { accountType: 'MPC' }, 400, 2, 'accountType'],
    ['a name that is too long', { metadata: [{ name: 'x'.repeat(257) }] }, 400, 2, 'metadata[0].name'],
  ])('refuses %s and creates nothing', async (_what, rest, status, code, location) => {
    const count = () => harness.database.one<{ n: number }>(sql`select count(*) as n from wallets`)
    const before = await count()
    const refused = await create(rest)
    expect(refused).toMatchObject({ status, body: { code } })
    expect(refused.body.errors?.[0]?.location).toBe(location)
    expect(await count()).toEqual(before)
  })

  it('refuses a set of another tenant as unknown', async () => {
    const foreign = await newSet(await harness.newEntity())
    expect(await create({ walletSetId: foreign })).toMatchObject({ status: 404, body: { code: 156005 } })
  })

  it('assigns separate indexes to 30 concurrent requests', async () => {
    const rest = { walletSetId: await newSet() }
    const answers = await Promise.all(Array.from({ length: 30 }, () => create(rest)))
    const addresses = answers.flatMap((answer) =>
      answer.body.data.wallets.map((wallet: Shown) => wallet.address),
    )
    expect(new Set(addresses).size).toBe(30)
  })

  it('marks the ciphertext of a refused request as used, but not its idempotency key', async () => {
    const idempotencyKey = randomUUID()
    const entitySecretCiphertext = await harness.sealSecret()
    const refusedSet = randomUUID()
    const refused = await create({ idempotencyKey, entitySecretCiphertext, walletSetId: refusedSet })
    expect(refused.body.code).toBe(156005)
    expect((await create({ entitySecretCiphertext })).body.code).toBe(156004)
    // The same request with the same ciphertext is decided again, with the same answer.
    const same = await create({ idempotencyKey, entitySecretCiphertext, walletSetId: refusedSet })
    expect(same.body.code).toBe(156005)
    const changed = await create({ idempotencyKey, entitySecretCiphertext })
    expect(changed.body.code).toBe(156004)
    expect((await create({ idempotencyKey })).status).toBe(201)
  })
})

describe('PUT /v1/w3s/wallets/{id}', () => {
  const update = (id: string, body: object) => harness.http('PUT', `/v1/w3s/wallets/${id}`, { body })

  it('sets given fields, keeps missing ones, clears empty ones', async () => {
    const [{ id, ...made }] = (await create({ metadata: [{ name: 'a', refId: 'r' }] })).body.data.wallets
    expect((await update(id, { name: 'b' })).body.data.wallet).toMatchObject({ name: 'b', refId: 'r' })
    expect((await update(id, { refId: '' })).body.data.wallet).not.toHaveProperty('refId')
    const untouched = (await update(id, {})).body.data.wallet
    expect(untouched).toMatchObject({ name: 'b', address: made.address, createDate: made.createDate })
    expect((await harness.http('GET', `/v1/w3s/wallets/${id}`)).body.data.wallet).toEqual(untouched)
  })

  it('answers 156001 for an unknown wallet, 155501 for a frozen one', async () => {
    expect(await update(randomUUID(), { name: 'x' })).toMatchObject({ status: 404, body: { code: 156001 } })
    const [{ id }] = (await create({})).body.data.wallets
    await harness.database.run(sql`update wallets set state = 'FROZEN' where id = ${id}`)
    expect(await update(id, { name: 'x' })).toMatchObject({ status: 409, body: { code: 155501 } })
  })
})
