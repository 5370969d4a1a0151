import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints, notBuilt } from '#api/index'
import type { Chains } from '#chains/chain'
import { startApi } from '#context'
import { errorKinds } from '#lib/error-kinds'
import { pathsOf, querySchema } from '#runtime/http/schemas'
import { makeUser, tokenOf } from '#testing/builders/users'
import { worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { addressOf } from '#testing/requests/sample-request'

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
    expect(await refusal(depositPath, { chain: 'XLM', currency: 'USD' })).toEqual([
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
      ['MATIC-AMOY', 'MATIC-MUMBAI'],
      ['ETH-SEPOLIA', 'ETH-GOERLI'],
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
    const chains: Chains = {
      list: () => [base!],
      find: () => undefined,
      onBehalfOf: () => chains,
      shared: harness.ctx.chains,
    }
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
  const idIn = ({ params }: (typeof endpoints)[number]) =>
    Object.entries(params?.properties ?? {}).find(
      ([, field]) => (field as { format?: string }).format === 'uuid',
    )?.[0]
  const withIds = endpoints.filter((endpoint) => idIn(endpoint) !== undefined)
  expect(withIds.length).toBeGreaterThan(10)
  const world = worldOf(harness)
  const headers = { 'X-User-Token': await tokenOf(world, (await makeUser(world)).id) }
  for (const endpoint of withIds) {
    const { method, path, errorsAs } = endpoint
    const address = addressOf(path, { id: 'nonsense', blockchain: 'BASE-SEPOLIA' })
    const answer = await harness.http(method, address, { headers })
    const kind = path.startsWith('/v1/w3s/') ? 'idNotUuid' : 'invalidRequest'
    const { code } = errorKinds[errorsAs?.[kind] ?? kind]
    expect([path, answer.status, answer.body.code]).toEqual([path, 400, code])
    expect(answer.body.errors[0].location).toBe(idIn(endpoint))
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

const paging = ['from', 'to', 'pageSize', 'pageBefore', 'pageAfter', 'order']
const filtered = endpoints.filter(
  ({ method, auth, userToken, ...endpoint }) =>
    method === 'GET' &&
    auth === 'apiKey' &&
    userToken !== 'required' &&
    querySchema({ method, auth, ...endpoint } as never),
)

it('property 131: an operation that reads refuses unknown and empty filters, and names in brackets, by name', async () => {
  const refused = async (path: string, query: string) => {
    const { status, body } = await harness.http('GET', `${path}?${query}`)
    return [query, status, body.code, body.errors?.[0]?.location, body.errors?.[0]?.message] as const
  }
  // Clients send an empty tokenAddress for the native coin; an empty standard means it for modular wallets.
  const isRefused = (path: string, name: string) =>
    ![...paging, 'tokenAddress'].includes(name) &&
    !(name === 'standard' && /^\/v1\/w3s\/(modular|buidl)\/.*\/balances$/.test(path))
  expect(filtered.length).toBeGreaterThan(20)
  for (const endpoint of filtered) {
    const path = endpoint.path.replaceAll(/\{\w+\}/g, randomUUID())
    const names = Object.keys(querySchema(endpoint)!.properties)
    const cases = [
      ['unheardOf', 'unheardOf=1'] as const,
      ...names.map((name) => [`${name}[]`, `${name}[]=1`] as const),
      ...names.filter((name) => isRefused(path, name)).map((name) => [name, `${name}=`] as const),
    ]
    for (const [name, query] of cases) {
      const [asked, status, code, location, message] = await refused(path, query)
      expect([path, asked, status, code, location]).toEqual([path, query, 400, 2, name])
      if (name.endsWith('[]')) expect(message).toContain(`write ${name.slice(0, -2)} without brackets`)
    }
  }
  expect((await refused('/v1/w3s/transactions', 'walletIDs=x'))[4]).toContain('did you mean walletIds?')
})

it('reads compressed bodies, and paths that end in a slash', async () => {
  const body = gzipSync(JSON.stringify({ idempotencyKey: randomUUID(), chain: 'BASE', currency: 'USD' }))
  const path = `${harness.url}/v1/businessAccount/wallets/addresses/deposit`
  const send = (coding: string, bytes: Buffer) =>
    fetch(path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${harness.apiKey}`,
        'content-type': 'application/json',
        'content-encoding': coding,
      },
      body: bytes as never,
    })
  expect((await send('gzip', body)).status).toBe(201)
  expect((await send('gzip', Buffer.from('{}'))).status).toBe(400)
  expect((await send('zstd', body)).status).toBe(415)
  // More than the bound after decoding, and less before.
  expect((await send('gzip', gzipSync(Buffer.alloc(1_000_000, ' ')))).status).toBe(413)
  const [plain, slashed] = await Promise.all(
    ['/v1/w3s/wallets', '/v1/w3s/wallets/?pageSize=1'].map((each) => harness.http('GET', each)),
  )
  expect([plain!.status, slashed!.status]).toEqual([200, 200])
})

it('refuses balances of an address that is none, in every list of sources', async () => {
  const evm = `0x${'ab'.repeat(20)}`
  for (const path of ['/v1/balances', '/v1/deposits']) {
    const ask = (...sources: object[]) => harness.http('POST', path, { body: { token: 'USDC', sources } })
    for (const depositor of ['0x12', 'x', `${evm}00`, 'vitalik.eth']) {
      const { status, body } = await ask({ depositor: evm }, { depositor })
      expect([depositor, status, body.code, body.errors?.[0]?.location]).toEqual([
        depositor,
        400,
        2,
        'sources[1].depositor',
      ])
    }
    const ofSolana = 'So11111111111111111111111111111111111111112'
    expect((await ask({ depositor: ofSolana, domain: 6 })).body.errors[0].location).toBe(
      'sources[0].depositor',
    )
    for (const source of [{ depositor: ofSolana }, { depositor: evm.toUpperCase().replace('X', 'x') }])
      expect((await ask(source)).status).toBe(200)
  }
})

it('answers messages that are not there with 404 and an error to read', async () => {
  const hash = `0x${'12'.repeat(32)}`
  for (const path of [
    `/v2/messages/6?transactionHash=${hash}`,
    `/v2/messages/4000?transactionHash=${hash}`,
    `/v1/attestations/${hash}`,
    '/v2/burn/USDC/fees/6/4000',
  ]) {
    const { status, body } = await httpAs(harness.url, undefined)('GET', path)
    expect([path, status, body.error]).toEqual([path, 404, body.message])
  }
})

it('points users of unified balances to their operations', async () => {
  const ask = async (path: string) => (await harness.http('GET', path)).body.message
  expect(await ask('/v1/balances')).toContain('POST /v1/balances')
  expect(await ask(`/v1/transfers/${randomUUID()}`)).toContain('GET /v1/transfer/{id}')
})

it('an unknown operation is answered with those that it resembles', async () => {
  const id = randomUUID()
  for (const [method, path, meant] of [
    ['GET', '/v1/w3s/developer/walletSets', 'GET /v1/w3s/walletSets?'],
    ['GET', `/v1/w3s/developer/walletSets/${id}`, 'GET /v1/w3s/walletSets/{id}?'],
    ['GET', '/v1/w3s/developer/wallets', 'GET /v1/w3s/wallets?'],
    ['GET', `/v1/w3s/developer/wallets/${id}/balances`, 'GET /v1/w3s/wallets/{id}/balances?'],
    ['GET', `/v1/w3s/developer/transactions/${id}`, 'GET /v1/w3s/transactions/{id}?'],
    ['POST', '/v1/w3s/walletSets', 'POST /v1/w3s/developer/walletSets?'],
    ['POST', '/v1/w3s/wallets', 'POST /v1/w3s/user/wallets or POST /v1/w3s/developer/wallets?'],
    ['GET', '/v1/recipients', 'GET /v1/addressBook/recipients?'],
    ['GET', '/v1/subscriptions', 'GET /v1/notifications/subscriptions?'],
    ['GET', '/v1/w3s/developer/transactions/transfer', 'POST /v1/w3s/developer/transactions/transfer?'],
    ['POST', '/v1/paymentintents', 'POST /v1/paymentIntents?'],
    ['GET', '/v1/ping', 'GET /ping?'],
    ['GET', '/v1/w3s/ping', 'GET /ping?'],
    ['PATCH', `/v1/w3s/wallets/${id}`, 'GET /v1/w3s/wallets/{id} or PUT /v1/w3s/wallets/{id}?'],
  ]) {
    const { status, body } = await harness.http(method!, path!)
    expect([path, status, body.message]).toEqual([
      path,
      404,
      expect.stringContaining(`${path} does not exist: did you mean ${meant} /docs`),
    ])
  }
  for (const path of ['/v1/nowhere', `/v1/w3s/developer/wallets/${id}/transactions`])
    expect((await harness.http('GET', path)).body?.message).not.toMatch(/did you mean/)
})

it('tells who names an address where an id belongs how to get the id', async () => {
  const amount = { amount: '1.00', currency: 'USD' }
  const to = { address: `0x${'1'.repeat(40)}`, chain: 'ETH' }
  for (const [path, remedy] of [
    ['/v1/payouts', '/v1/addressBook/recipients'],
    ['/v1/businessAccount/transfers', '/v1/businessAccount/wallets/addresses/recipient'],
  ] as const) {
    const answer = await harness.http('POST', path, {
      body: { idempotencyKey: randomUUID(), amount, destination: { type: 'blockchain', ...to } },
    })
    const type = answer.body.errors.find(
      ({ location }: { location: string }) => location === 'destination.type',
    )
    expect([answer.status, answer.body.code, type.message]).toEqual([
      400,
      2,
      expect.stringContaining(`POST ${remedy} `),
    ])
    expect(answer.body.message).toContain(type.message)
  }
})

it('says each reason once', async () => {
  const messageOf = async (method: string, path: string, body?: object) =>
    (await harness.http(method, path, body && { body: { idempotencyKey: randomUUID(), ...body } })).body
      .message
  expect(await messageOf('GET', '/v2/burn/USDC/fees/6/4000')).toBe(
    'destination is the domain of no network of this server.',
  )
  const execution = { contractAddress: `0x${'1'.repeat(40)}`, callData: '0x', abiFunctionSignature: 'f()' }
  const estimate = '/v1/w3s/transactions/contractExecution/estimateFee'
  const source = { sourceAddress: `0x${'2'.repeat(40)}`, blockchain: 'BASE-SEPOLIA' }
  expect(await messageOf('POST', estimate, { ...execution, ...source })).toBe(
    'callData cannot be combined with abiFunctionSignature or abiParameters.',
  )
  const address = { chain: 'ETH', address: `0x${'3'.repeat(40)}`, description: 'x', currency: 'GBP' }
  expect(await messageOf('POST', '/v1/businessAccount/wallets/addresses/recipient', address)).toBe(
    'API parameter invalid. currency must be one of USD, EUR, BTC, ETH.',
  )
  expect(await messageOf('POST', '/v1/balances', { token: 'usdc', sources: [] })).toMatch(
    /token must be USDC; /,
  )
})

it('recommends for a chain without wallets no chain that it refuses next', async () => {
  const { body } = await harness.http('POST', '/v1/w3s/developer/wallets', {
    body: { idempotencyKey: randomUUID(), walletSetId: randomUUID(), blockchains: ['LINEA-SEPOLIA'] },
  })
  const [, list] = /blockchains\[0\] must be one of ([A-Z0-9, -]+)/.exec(body.message) ?? []
  expect(list).toContain('ETH-SEPOLIA, ')
  expect(list).not.toMatch(/LINEA/)
})

it('a base address that ends in the version is told so', async () => {
  const answer = await harness.http('GET', '/v1/v1/w3s/wallets')
  expect([answer.status, answer.body.message]).toEqual([
    404,
    'Resource not found: GET /v1/v1/w3s/wallets names the version twice. Give your client the base address without /v1.',
  ])
})

describe('a documented operation that is not built', () => {
  const listed = notBuilt.flatMap(({ name, operations, under = [] }) =>
    [...operations, ...under.map((folder) => `POST ${folder}/x/y`)].flatMap((operation) => {
      const [method, path] = operation.split(' ') as [string, string]
      return pathsOf(path).map((each) => [name, method, each.replaceAll(/:\w+/g, 'x')] as const)
    }),
  )
  const ask = async (method: string, path: string) => {
    const { status, body } = await httpAs(harness.url, undefined)(method, path)
    const [, name] =
      /not part of this version\. It belongs to (.+?)\. .*\/docs\/not-built/.exec(body?.message) ?? []
    return [name, method, path, status, body?.code]
  }

  it('names its product without a key at each of its paths, and leaves the list once it is built', async () => {
    const answers: unknown[] = []
    for (const [, method, path] of listed) answers.push(await ask(method, path))
    expect(answers).toEqual(listed.map((each) => [...each, 404, 404]))
    expect(listed.length).toBeGreaterThan(200)
  })

  it('says what to use here', async () => {
    const { body } = await httpAs(harness.url, undefined)('POST', '/v1/policy')
    expect(body.message).toBe(
      'Resource not found: POST /v1/policy is documented, but not part of this version. It belongs to the spending policies of agent wallets. Operators limit what wallets sign with POST /operator/policies. /docs/not-built lists what this version lacks, and /docs/reference what it has.',
    )
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
      ['GET', '/v1/policyholder'],
      ['GET', `/${'x/'.repeat(200)}`],
    ] as const)
      expect(await ask(method, path)).toEqual([undefined, method, path, 404, 404])
  })
})
