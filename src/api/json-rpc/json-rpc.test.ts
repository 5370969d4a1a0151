import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPublicClient, encodeFunctionData, http, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { networkOf, networks } from '#chains/networks/index'
import { createChains, type Node } from '#chains/registry'
import { startApi } from '#context'
import { insertApiKey, revokeApiKey } from '#runtime/auth/store'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { rawHttp } from '#testing/requests/raw-http'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

const passkeys = '/v1/rpc/w3s/buidl'
const chainPath = `${passkeys}/baseSepolia`
const request = (method: string, params: unknown[] = []) => ({ jsonrpc: '2.0', id: 'a-1', method, params })

const call = async (path: string, method: string, params: unknown[] = []) => {
  const { status, body } = await harness.http('POST', path, { body: request(method, params) })
  expect([status, body.jsonrpc, body.id]).toEqual([200, '2.0', 'a-1'])
  return body
}
const refusal = async (path: string, body: unknown) => {
  const answer = await harness.http('POST', path, { body })
  expect([answer.status, answer.body.jsonrpc]).toEqual([200, '2.0'])
  return [answer.body.id, answer.body.error.code, answer.body.error.message]
}

/** The API on other nodes than those of the harness. */
async function onNodes<Result>(nodes: Node[], work: (url: string) => Promise<Result>): Promise<Result> {
  const chains = createChains(nodes)
  const api = await startApi({
    ...harness.ctx,
    config: { ...harness.ctx.config, publicUrl: undefined },
    chains,
  })
  try {
    return await work(api.url)
  } finally {
    await api.stop()
    await Promise.all(chains.list().map((chain) => chain.endpoints.close()))
  }
}

describe('the protocol', () => {
  it('answers what is no request with the errors of JSON-RPC and the HTTP status 200', async () => {
    expect(await refusal(passkeys, '{"jsonrpc":')).toEqual([null, -32700, expect.stringContaining('JSON')])
    expect(await refusal(passkeys, [request('eth_chainId')])).toEqual([
      null,
      -32600,
      expect.stringContaining('A batch is not accepted'),
    ])
    expect(await refusal(passkeys, {})).toEqual([null, -32600, expect.stringMatching(/jsonrpc is missing/)])
    expect(await refusal(passkeys, { ...request('x'), jsonrpc: '1.0' })).toEqual([
      'a-1',
      -32600,
      expect.stringContaining('jsonrpc must be 2.0'),
    ])
    expect(await refusal(passkeys, { ...request('x'), params: { a: 1 } })).toEqual([
      'a-1',
      -32600,
      expect.stringContaining('params must be of type array'),
    ])
    expect(await refusal(passkeys, { ...request('x'), id: { a: 1 } })).toEqual([
      null,
      -32600,
      expect.stringContaining('id must be a text'),
    ])
    for (const method of ['circle_createWallet', 'constructor', 'eth_sendRawTransaction'])
      expect(await refusal(chainPath, request(method))).toEqual([
        'a-1',
        -32601,
        expect.stringMatching(/method is not one of this endpoint: eth_chainId, /),
      ])
  })

  it('leaves to HTTP what is wrong before a request is read', async () => {
    const large = await harness.http('POST', passkeys, {
      body: { ...request('x'), params: ['x'.repeat(70_000)] },
    })
    expect([large.status, large.body.code]).toEqual([413, 413])
    const typed = await harness.http('POST', passkeys, {
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    })
    expect([typed.status, typed.body.code]).toEqual([415, 415])
  })

  it('answers the preflight of a page of any origin', async () => {
    const head = `OPTIONS ${chainPath} HTTP/1.1\r\nHost: x\r\nOrigin: https://shop.example\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,content-type,x-appinfo\r\nConnection: close\r\n\r\n`
    const answer = await rawHttp(harness.url, head)
    expect(answer.status).toBe(204)
    expect(answer.head).toMatch(/^access-control-allow-origin: \*/im)
    expect(answer.head).toMatch(/^access-control-allow-headers: .*authorization.*content-type.*x-appinfo/im)
  })
})

describe('client keys', () => {
  const ask = async (url: string, key: string | undefined, path = passkeys) => {
    const { status, body } = await httpAs(url, key)('POST', path, { body: request('rp_getLoginOptions') })
    return [status, body.code ?? body.error?.code]
  }

  it('property 47: open the JSON-RPC endpoints, each with its own environment, until they are revoked', async () => {
    const tenant = await harness.newEntity()
    const [prefix, id, secret] = tenant.clientKey!.split(':') as [string, string, string]
    expect(prefix).toBe('TEST_CLIENT_KEY')
    expect(await ask(harness.url, tenant.clientKey)).toEqual([200, undefined])
    for (const key of [
      `TEST_API_KEY:${id}:${secret}`,
      `LIVE_CLIENT_KEY:${id}:${secret}`,
      `TEST_CLIENT_KEY:${id}:wrong`,
      tenant.apiKey.replace('API', 'CLIENT'),
      tenant.apiKey,
      undefined,
    ])
      expect([key, ...(await ask(harness.url, key))]).toEqual([key, 401, 401])
    await revokeApiKey(harness.database, id, harness.clock.nowMs())
    await until(async () => (await ask(harness.url, tenant.clientKey))[0] === 401, 'the key is refused')
  })

  it('have no other scope, and no other key has theirs: the database refuses it', async () => {
    const { entityId } = harness
    const nowMs = harness.clock.nowMs()
    const mixed = { entityId, environment: 'TEST', scopes: ['client', 'api'], nowMs } as const
    await expect(insertApiKey(harness.database, mixed)).rejects.toThrow(/api_keys_scopes_check/)
  })

  it('have limits of their own', async () => {
    const [one, other] = [await harness.newEntity(), await harness.newEntity()]
    const config = { ...harness.ctx.config, publicUrl: undefined, requestsPerSecondMax: 5 }
    const api = await startApi({ ...harness.ctx, config })
    // Requests of one second: a busy machine would spread them over several, each with its own limit.
    const nowMs = Date.now()
    const clock = vi.spyOn(Date, 'now').mockReturnValue(nowMs)
    try {
      const crowd = await Promise.all(Array.from({ length: 20 }, () => ask(api.url, one.clientKey)))
      expect(crowd.some(([status]) => status === 429)).toBe(true)
      expect(await ask(api.url, other.clientKey)).toEqual([200, undefined])
    } finally {
      clock.mockRestore()
      await api.stop()
    }
  })
})

describe('the endpoint of a chain', () => {
  const transfer = parseAbi([
    'function transfer(address to, uint256 amount) returns (bool)',
    'function balanceOf(address owner) view returns (uint256)',
  ])

  it('serves the reads of a client library', async () => {
    const chain = harness.chain()
    const fetchOptions = { headers: { authorization: `Bearer ${harness.clientKey}` } }
    const page = createPublicClient({
      transport: http(harness.url + chainPath, { fetchOptions, timeout: 300_000 }),
    })
    const node = createPublicClient({ transport: http(chain.rpcUrl) })
    const [address, owner] = [chain.tokens.USDC as `0x${string}`, chain.outsider as `0x${string}`]
    expect(await page.getChainId()).toBe(chain.chainId)
    expect(await page.getBalance({ address: owner })).toBe(await node.getBalance({ address: owner }))
    expect(await page.getCode({ address })).toBe(await node.getCode({ address }))
    expect(await page.getGasPrice()).toBe(await node.getGasPrice())
    expect(await page.getBlockNumber({ cacheTime: 0 })).toBe(await node.getBlockNumber({ cacheTime: 0 }))
    expect((await page.getBlock()).hash).toBe((await node.getBlock()).hash)
    expect((await page.estimateFeesPerGas()).maxPriorityFeePerGas).toBeGreaterThanOrEqual(0n)
    const balance = { address, abi: transfer, functionName: 'balanceOf', args: [owner] } as const
    expect(await page.readContract(balance)).toBe(await node.readContract(balance))
    const tooMuch = { address, abi: transfer, functionName: 'transfer', args: [owner, 10n ** 30n] } as const
    await expect(page.simulateContract({ ...tooMuch, account: owner })).rejects.toThrow(/revert/i)
    const { result } = await call(chainPath, 'eth_supportedEntryPoints')
    expect(result).toEqual(['0x0000000071727De22E5E9d8BAf0edAc6f37da032'])
  })

  it('shows a revert as nodes do, with its data', async () => {
    const { USDC: to } = harness.chain().tokens
    const data = encodeFunctionData({
      abi: transfer,
      functionName: 'transfer',
      args: [to as '0x', 10n ** 30n],
    })
    const { error } = await call(chainPath, 'eth_call', [{ to, data }, 'latest'])
    expect(error).toEqual({
      code: 3,
      message: expect.stringMatching(/revert/),
      data: expect.stringMatching(/^0x[0-9a-f]{8,}$/),
    })
  })

  it('refuses parameters by name, and what a node would spend too much on', async () => {
    const { outsider } = harness.chain()
    const wrong: [string, unknown[], RegExp][] = [
      ['eth_getBalance', [], /params\[0\] must be an address/],
      ['eth_getBalance', ['0x12', 'latest'], /params\[0\] must be an address/],
      ['eth_getBalance', [outsider, 'newest'], /params\[1\] must be a block number/],
      ['eth_getBalance', [outsider, 7], /params\[1\] must be a block number/],
      ['eth_blockNumber', [1], /params\[0\] is not taken by eth_blockNumber/],
      ['eth_call', ['0x'], /params\[0\] must be an object/],
      ['eth_call', [{ to: outsider, data: '0x1' }], /params\[0\]\.data must be 0x/],
      ['eth_call', [{ to: outsider, gasPrice: '0x1' }], /params\[0\]\.gasPrice is not taken/],
      ['eth_call', [{ to: outsider, __proto__x: '0x1' }], /params\[0\]\.__proto__x is not taken/],
      ['eth_call', [{ to: outsider, gas: 'all' }], /params\[0\]\.gas must be a quantity/],
      ['eth_call', [{ to: outsider }, 'latest', {}], /params\[2\] is not taken by eth_call/],
      ['eth_getBlockByNumber', ['latest', true], /params\[1\] must be false/],
    ]
    for (const [method, params, words] of wrong) {
      const { error } = await call(chainPath, method, params)
      expect([method, error.code, error.message]).toEqual([method, -32602, expect.stringMatching(words)])
    }
  })

  it('says that a node is away or silent, and nothing of its address', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const node = (blockchain: string, at: number) => ({
      network: networkOf(blockchain)!,
      rpcUrl: `http://127.0.0.1:${at}/hidden-key`,
      local: true,
      timeoutMs: 200,
    })
    try {
      await onNodes([node('BASE-SEPOLIA', 1), node('OP-SEPOLIA', port)], async (url) => {
        for (const [path, blockchain] of [
          ['baseSepolia', 'BASE-SEPOLIA'],
          ['optimismSepolia', 'OP-SEPOLIA'],
        ]) {
          const answer = await httpAs(url, harness.clientKey)('POST', `${passkeys}/${path}`, {
            body: request('eth_blockNumber'),
          })
          const message = `The node of ${blockchain} does not answer: try again in a moment.`
          expect(answer.body.error).toEqual({ code: -32002, message })
          expect(answer.text).not.toMatch(/hidden-key|127\.0\.0\.1/)
        }
      })
    } finally {
      silent.closeAllConnections()
      silent.close()
    }
  })

  it('lets one entity wait for a few reads at a time', async () => {
    const held: (() => void)[] = []
    const slow = createServer((_, response) => {
      held.push(() => response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}'))
    })
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
    const { port } = slow.address() as AddressInfo
    const rpcUrl = `http://127.0.0.1:${port}`
    const [one, other] = [await harness.newEntity(), await harness.newEntity()]
    try {
      await onNodes([{ network: networkOf('BASE-SEPOLIA')!, rpcUrl, local: true }], async (url) => {
        const ask = (key: string | undefined) =>
          httpAs(url, key)('POST', chainPath, { body: request('eth_blockNumber') })
        const waiting = Array.from({ length: 8 }, () => ask(one.clientKey))
        await until(async () => held.length === 8, 'eight reads wait')
        expect((await ask(one.clientKey)).body.error.code).toBe(-32005)
        const others = ask(other.clientKey)
        await until(async () => held.length === 9, 'the read of another waits too')
        for (const answer of held) answer()
        await Promise.all([...waiting, others])
      })
    } finally {
      slow.closeAllConnections()
      slow.close()
    }
  })

  it('names the chains that can be used instead of another', async () => {
    const live = await harness.newEntity('LIVE')
    const paths: [string | undefined, string, RegExp][] = [
      [harness.clientKey, 'baseSepolias', /is not a chain of this endpoint: use baseSepolia\./],
      [harness.clientKey, 'optimismSepolia', /is OP-SEPOLIA, to which this server is not connected/],
      [harness.clientKey, 'base', /is BASE, which needs a LIVE key: use baseSepolia/],
      [live.clientKey, 'baseSepolia', /is BASE-SEPOLIA, which needs a TEST key, and no chain is available/],
    ]
    for (const [key, path, words] of paths) {
      const { status, body } = await httpAs(harness.url, key)('POST', `${passkeys}/${path}`, {
        body: request('eth_chainId'),
      })
      expect([status, body.error.code, body.error.message]).toEqual([
        200,
        -32001,
        expect.stringMatching(words),
      ])
    }
  })

  it('has a path for every chain of the interface that this version has', () => {
    const known = networks.flatMap(({ rpcPath }) => rpcPath ?? []).sort()
    expect(known).toEqual([
      'arbitrum',
      'arbitrumSepolia',
      'arc',
      'arcTestnet',
      'avalanche',
      'avalancheFuji',
      'base',
      'baseSepolia',
      'monad',
      'monadTestnet',
      'optimism',
      'optimismSepolia',
      'polygon',
      'polygonAmoy',
      'unichain',
      'unichainSepolia',
    ])
  })
})
