import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints, notBuilt } from '#api/index'
import { startApi } from '#context'
import { errorKinds } from '#lib/error-kinds'
import { pathsOf } from '#runtime/http/schemas'
import { worldOf } from './builders.ts'
import { type Harness, openHarness } from './harness.ts'
import { addressOf } from './sample-requests.ts'
import { httpAs } from './tenant.ts'
import { makeUser, tokenOf } from './users.ts'

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ engines: false, blockchains: ['BASE-SEPOLIA', 'MATIC-AMOY'] })
})
afterAll(() => harness?.close())

const refusal = async (path: string, body: object) => {
  const answer = await harness.http('POST', path, { body: { idempotencyKey: randomUUID(), ...body } })
  const [error] = answer.body.errors ?? []
  return [answer.status, answer.body.code, error?.location, error?.message]
}

describe('a listed chain that cannot be used', () => {
  const depositPath = '/v1/businessAccount/wallets/addresses/deposit'

  it('is refused with the actual reason and the usable chains', async () => {
    expect(await refusal(depositPath, { chain: 'SOL', currency: 'USD' })).toEqual([
      400,
      2005,
      'chain',
      'chain names a chain that this version does not support: use BASE, POLY',
    ])
    expect(await refusal(depositPath, { chain: 'ETH', currency: 'USD' })).toEqual([
      400,
      156017,
      'chain',
      'chain ETH names ETH-SEPOLIA, to which this server is not connected (--chains of a sandbox and BEZANT_NETWORKS connect it): use BASE, POLY',
    ])
  })

  it('is distinguished from a misspelled name', async () => {
    for (const [meant, chain] of [
      ['BASE', 'BASE-SEPOLIA'],
      ['BASE', 'base'],
      ['AVAX', 'AVAX-FUJI'],
      ['POLY', 'MATIC-AMOY'],
      ['POLY', 'Polygon'],
      ['ETH', 'ethereum-sepolia'],
    ])
      expect((await refusal(depositPath, { chain, currency: 'USD' }))[3]).toMatch(`: did you mean ${meant}?`)
    for (const [meant, blockchain] of [
      ['MATIC-AMOY', 'POLYGON_AMOY'],
      ['MATIC-AMOY', 'POLY'],
      ['ETH-SEPOLIA', 'Ethereum-Sepolia'],
    ])
      expect((await refusal('/v1/faucet/drips', { blockchain, address: '0x' }))[3]).toMatch(
        `: did you mean ${meant}?`,
      )
    expect((await refusal(depositPath, { chain: 'NOWHERE', currency: 'USD' }))[3]).not.toMatch(/did you mean/)
  })

  it('is distinguished from the network of the other environment with a similar name', async () => {
    const live = await harness.newEntity('LIVE')
    const feesOf = async (key: string, blockchain: string) => {
      const path = `/v1/w3s/developer/transactions/feeParameters?blockchain=${blockchain}`
      const { status, body } = await httpAs(harness.url, key)('GET', path)
      expect(body.message.endsWith(`${body.errors[0].message}.`.replace('?.', '?'))).toBe(true)
      return [status, body.code, body.errors[0].location, body.errors[0].message]
    }
    const asked = [feesOf(harness.apiKey, 'BASE'), feesOf(live.apiKey, 'BASE-SEPOLIA')]
    expect(await Promise.all(asked)).toEqual([
      [
        400,
        156006,
        'blockchain',
        'blockchain is a main network, which needs a LIVE key: use BASE-SEPOLIA, MATIC-AMOY: did you mean BASE-SEPOLIA?',
      ],
      [
        400,
        156006,
        'blockchain',
        'blockchain is a test network, which needs a TEST key, and no blockchain is available to this key',
      ],
    ])
    const wallets = await refusal('/v1/w3s/developer/wallets', {
      entitySecretCiphertext: await harness.sealSecret(),
      walletSetId: randomUUID(),
      blockchains: ['BASE'],
    })
    expect(wallets).toEqual([
      400,
      156006,
      'blockchains[0]',
      expect.stringContaining('did you mean BASE-SEPOLIA?'),
    ])
  })

  it('names the only usable chain once', async () => {
    const [base] = harness.ctx.chains.list()
    const chains = { list: () => [base!], find: () => undefined }
    const api = await startApi({ ...harness.ctx, chains })
    try {
      const path = '/v1/w3s/developer/transactions/feeParameters?blockchain=BASE'
      const { body } = await httpAs(api.url, harness.apiKey)('GET', path)
      expect(body.errors[0].message).toMatch(/: use BASE-SEPOLIA$/)
    } finally {
      await api.stop()
    }
  })
})

it('answers a malformed id with the code of its product', async () => {
  const withIds = endpoints.filter(({ params }) =>
    Object.values(params?.properties ?? {}).some((field) => (field as { format?: string }).format === 'uuid'),
  )
  expect(withIds.length).toBeGreaterThan(10)
  const world = worldOf(harness)
  const headers = { 'X-User-Token': await tokenOf(world, (await makeUser(world)).id) }
  for (const { method, path, errorsAs } of withIds) {
    const address = addressOf(path, { id: 'nonsense', blockchain: 'BASE-SEPOLIA' })
    const answer = await harness.http(method, address, { headers })
    const kind = path.startsWith('/v1/w3s/') ? 'idNotUuid' : 'invalidRequest'
    const { code } = errorKinds[errorsAs?.[kind] ?? kind]
    expect([path, answer.status, answer.body.code]).toEqual([path, 400, code])
    expect(answer.body.errors[0].location).toBe('id')
  }
})

it('names the field of an unknown id, with the code of its product', async () => {
  const id = randomUUID()
  const transfer = { destinationAddress: `0x${'9'.repeat(40)}`, amounts: ['1'] }
  const estimate = '/v1/w3s/transactions/transfer/estimateFee'
  const source = { sourceAddress: `0x${'8'.repeat(40)}`, blockchain: 'BASE-SEPOLIA' }
  expect(await refusal(estimate, { ...transfer, walletId: id })).toEqual([
    404,
    156001,
    'walletId',
    'walletId matches no wallet of this entity',
  ])
  expect(await refusal(estimate, { ...transfer, ...source, tokenId: id })).toEqual([
    404,
    156002,
    'tokenId',
    'tokenId is not a token of this server',
  ])
  const byQuery: [string, number, string][] = [
    [`/v1/w3s/wallets/${id}`, 156001, 'id'],
    [`/v1/w3s/wallets/${id}/balances`, 156001, 'id'],
    [`/v1/w3s/tokens/${id}`, 156002, 'id'],
    [`/v1/w3s/transactions/lowestNonceTransaction?walletId=${id}`, 156001, 'walletId'],
    [`/v1/notifications/certificates/${id}.pem`, 404, 'name'],
    ['/v1/notifications/confirm?Token=1', 404, 'Token'],
  ]
  for (const [path, code, location] of byQuery) {
    const { status, body } = await harness.http('GET', path)
    expect([path, status, body.code, body.errors?.[0].location]).toEqual([path, 404, code, location])
  }
})

it('returns fees without a blockchain parameter, as the client permits, and names the blockchain', async () => {
  const path = '/v1/w3s/developer/transactions/feeParameters'
  const { status, body } = await harness.http('GET', path)
  expect([status, body.data.blockchain]).toEqual([200, 'BASE-SEPOLIA'])
  expect(body.data.high.maxFee).toMatch(/^\d/)
  const live = await harness.newEntity('LIVE')
  const refused = await live.http('GET', path)
  expect([refused.status, refused.body.errors[0].location]).toEqual([400, 'blockchain'])
})

it('keeps the monitored tokens when the body names none', async () => {
  const answer = await harness.http('PUT', '/v1/w3s/config/entity/monitoredTokens', { body: {} })
  expect([answer.status, answer.body.code, answer.body.errors[0].location]).toEqual([400, 2, 'tokenIds'])
})

describe('a documented operation that is not built', () => {
  const listed = notBuilt.flatMap((operation) => {
    const [method, path] = operation.split(' ') as [string, string]
    return pathsOf(path).map((each) => [method, each.replaceAll(/:\w+/g, 'x')] as const)
  })
  const ask = async (method: string, path: string) => {
    const { status, body } = await httpAs(harness.url, undefined)(method, path)
    return [method, path, status, body?.code, /not part of this version.*\/docs/.test(body?.message)]
  }

  it('answers so without a key at each of its paths, and leaves the list once it is built', async () => {
    const answers = await Promise.all(listed.map((each) => ask(...each)))
    expect(answers).toEqual(listed.map((each) => [...each, 404, 404, true]))
    expect(listed.length).toBeGreaterThan(10)
  })

  it('answers HEAD as GET', async () => {
    for (const path of ['/v1/externalEntities', '/v1/w3s/contracts/x/y']) {
      const [head, get] = await Promise.all(
        ['HEAD', 'GET'].map((method) => httpAs(harness.url, undefined)(method, path)),
      )
      expect([path, head!.status, head!.headers.get('content-length')]).toEqual([
        path,
        404,
        get!.headers.get('content-length'),
      ])
    }
  })

  it('is distinguished from a wrong method or path', async () => {
    for (const [method, path] of [
      ['DELETE', '/v1/w3s/contracts'],
      ['GET', '/v1/w3s/contracts/x/y'],
      ['GET', '/v1/w3s/templates/'],
      ['POST', '/v1/w3s/contract/deploy'],
      ['GET', `/${'x/'.repeat(200)}`],
    ] as const)
      expect(await ask(method, path)).toEqual([method, path, 404, 404, false])
  })
})
