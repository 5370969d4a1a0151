/*
 * A request without an API key costs a bounded amount: each JSON-RPC method and each operation without an API key, with the worst input
 * that it accepts. Work is counted in requests to nodes, bytes of the answer, and processor time in units of a usual GET.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { chainMethods } from '#api/json-rpc/chain-methods'
import { passkeyMethods } from '#api/json-rpc/passkeys/methods'
import { emitterCode } from '#testing/builders/emitter'
import { executeOperation, openModularAccount, usdcPayment } from '#testing/builders/modular-accounts'
import { intentOf, jsonOfIntent, people, signedIntent, specOf } from '#testing/builders/unified-balances'
import { freshAddress, placeContract, type World, worldOf } from '#testing/builders/world'
import { placeBurner } from '#testing/nodes/burners'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { chainId, entryPoint, inHex, pageRequests, prepared } from '#testing/pages/page-operations'
import { type Harness, openHarness } from '#testing/platform/harness'
import { type HttpAnswer, httpAs } from '#testing/platform/tenant'
import { addressOf, type SampleRequest } from '#testing/requests/sample-request'
import { sampleRequests } from '#testing/requests/sample-requests'
import { clientPasskey, makePasskey } from '../../../contracts/test/accounts/keys.ts'

const bytesMax = 2.5 * 1024 * 1024
const nodeCallsMax = 40
/** Processor time of the worst answer, which has a mebibyte of a node in it, in usual GETs. Parsing by the test counts too. */
const unitsMax = 120
/** Hashing a password is made to be slow, and takes the same time whatever the request says. */
const unitsOf = { 'POST /operator/session': 2 * unitsMax } as Record<string, number>

let harness: Harness
let world: World
let node: LyingNode
let burner: string
const operations: Record<'many logs' | 'fewer logs', string> = { 'many logs': '', 'fewer logs': '' }
let unsent: object
let unitMs: number

beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'],
    node: async ({ rpcUrl, blockchain }) => {
      if (blockchain !== 'BASE-SEPOLIA') return {}
      node = await openLyingNode(rpcUrl)
      return { rpcUrl: node.url }
    },
  })
  world = worldOf(harness)
  burner = await placeBurner(harness.chain())
  const emitter = (await placeContract(world, emitterCode())) as `0x${string}`
  const opened = await openModularAccount(harness, harness, clientPasskey(makePasskey()))
  for (const [name, count] of [
    ['fewer logs', 1_200],
    ['many logs', 3_000],
  ] as const) {
    const data = `0x${count.toString(16).padStart(64, '0')}` as const
    operations[name] = (await executeOperation(opened.bundler, [{ to: emitter, data }])).userOpHash
  }
  unsent = inHex(await prepared(opened.bundler, [usdcPayment(harness, freshAddress())]))
  await harness.stopEngines()
  const get = () => harness.http('GET', '/v1/w3s/walletSets')
  for (let warm = 0; warm < 5; warm++) await get()
  unitMs = Math.max(0.5, (await costOf(get)).cpuMs)
})
afterAll(async () => {
  await harness?.close()
  await node?.close()
})

const { ask } = pageRequests(() => harness)

/** The least processor time of three runs, because collections of garbage count too. */
async function costOf(run: () => Promise<HttpAnswer>) {
  const cost = { cpuMs: Number.POSITIVE_INFINITY, bytes: 0, nodeCalls: 0 }
  for (let each = 0; each < 3; each++) {
    const calls = () => [...node.callCounts.values()].reduce((sum, count) => sum + count, 0)
    const [began, asked] = [process.cpuUsage(), calls()]
    const { text } = await run()
    const { user, system } = process.cpuUsage(began)
    cost.cpuMs = Math.min(cost.cpuMs, (user + system) / 1_000)
    cost.bytes = Math.max(cost.bytes, text.length)
    cost.nodeCalls = Math.max(cost.nodeCalls, calls() - asked)
  }
  return cost
}

async function expectBounded(name: string, run: () => Promise<HttpAnswer>) {
  const { cpuMs, bytes, nodeCalls } = await costOf(run)
  const shown = { name, bytes, nodeCalls, units: Math.ceil(cpuMs / unitMs) }
  const isBounded = [bytes <= bytesMax, nodeCalls <= nodeCallsMax, shown.units <= (unitsOf[name] ?? unitsMax)]
  expect([shown, ...isBounded]).toEqual([shown, true, true, true])
}

const rpc = (path: string, method: string, params: unknown[]) =>
  httpAs(harness.url, harness.clientKey)('POST', `/v1/rpc/w3s/buidl${path}`, {
    body: { jsonrpc: '2.0', id: 1, method, params },
  })

const call = () => ({ to: burner, data: '0x01020304', gas: '0xffffffffff' })
const mapping = { type: 'EOAOWNER', identifier: { address: freshAddress() } }
const scaConfiguration = () => ({
  initialOwnershipConfiguration: {
    weightedMultisig: {
      owners: Array.from({ length: 20 }, () => ({ address: freshAddress(), weight: 1 })),
      thresholdWeight: 1,
    },
  },
  scaCore: 'circle_6900_v1',
})
const long = (length: number) => 'A'.repeat(length)

/** The worst input of each method; several where different ones are worst. */
const worst: Record<string, () => unknown[][]> = {
  eth_chainId: () => [[]],
  eth_supportedEntryPoints: () => [[]],
  eth_getBalance: () => [[burner, 'latest']],
  eth_blockNumber: () => [[]],
  eth_call: () => [
    [call(), 'latest'],
    [{ ...call(), data: `0x${'00'.repeat(30_000)}` }, 'latest'],
  ],
  eth_getBlockByNumber: () => [['latest', false]],
  eth_gasPrice: () => [[]],
  eth_getCode: () => [[entryPoint, 'latest']],
  eth_maxPriorityFeePerGas: () => [[]],
  circle_getAddress: () => [[{ scaConfiguration: scaConfiguration() }]],
  circle_createAddressMapping: () => [[{ walletAddress: freshAddress(), owners: Array(20).fill(mapping) }]],
  circle_getAddressMapping: () => [[{ owner: mapping }]],
  circle_getUserOperationGasPrice: () => [[]],
  pm_getPaymasterStubData: () => [[unsent, entryPoint, chainId, {}]],
  pm_getPaymasterData: () => [[unsent, entryPoint, chainId, {}]],
  eth_estimateUserOperationGas: () => [[unsent, entryPoint]],
  eth_sendUserOperation: () => [[unsent, entryPoint]],
  eth_getUserOperationByHash: () => [[operations['many logs']]],
  eth_getUserOperationReceipt: () => [[operations['many logs']], [operations['fewer logs']]],
  rp_getRegistrationOptions: () => [['u'.repeat(64)]],
  rp_getRegistrationVerification: () => [
    [
      {
        id: long(1_364),
        rawId: long(1_364),
        type: 'public-key',
        response: { clientDataJSON: long(8_192), attestationObject: long(32_768) },
      },
    ],
  ],
  rp_getLoginOptions: () => [[long(1_364)]],
  rp_getLoginVerification: () => [
    [
      {
        id: long(1_364),
        rawId: long(1_364),
        type: 'public-key',
        response: { clientDataJSON: long(8_192), authenticatorData: long(8_192), signature: long(1_024) },
      },
    ],
  ],
}

describe('property 122: methods of JSON-RPC', () => {
  it.each([...Object.keys(chainMethods), ...Object.keys(passkeyMethods)])('%s is bounded', async (method) => {
    const path = Object.hasOwn(chainMethods, method) ? '/baseSepolia' : ''
    for (const params of worst[method]!()) await expectBounded(method, () => rpc(path, method, params))
  })

  it('answer the receipt of an operation with more logs than an answer may have', async () => {
    const { result } = await ask('eth_getUserOperationReceipt', [operations['many logs']])
    expect(result).toMatchObject({ success: true, logs: [], logsOmitted: true, receipt: { status: '0x1' } })
    const { result: fewer } = await ask('eth_getUserOperationReceipt', [operations['fewer logs']])
    expect([fewer.logs.length, fewer.logsOmitted]).toEqual([1_200, undefined])
  })
})

const garbage = () => {
  const intent = jsonOfIntent(intentOf(specOf(harness.chain(), harness.chains[1]!, people[0]!.address)))
  return { intents: Array(16).fill(intent) }
}
const depositors = {
  token: 'USDC',
  sources: Array.from({ length: 20 }, () => ({ depositor: freshAddress() })),
}

/** Bodies that are worse than the samples of other suites. */
const worstBodies: Record<string, () => unknown> = {
  'POST /v1/balances': () => depositors,
  'POST /v1/deposits': () => depositors,
  'POST /v1/transfer': () => [{ burnIntentSet: garbage(), signature: `0x${'11'.repeat(64)}1b` }],
}

describe('property 122: what needs no key', () => {
  const open = endpoints.filter(({ auth }) => auth === 'none')
  it.each(open.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    '%s is bounded',
    async (name, { method, path }) => {
      const sample: SampleRequest = (await sampleRequests[name]?.request(world)) ?? {}
      const body = worstBodies[name]?.() ?? (sample.listed ? [sample.body] : sample.body)
      const url = addressOf(path, sample.params)
      await expectBounded(name, () =>
        httpAs(harness.url, undefined)(method, url, {
          ...(body !== undefined && { body }),
          ...(sample.query && { query: sample.query }),
        }),
      )
    },
  )

  it('16 signed intents of a depositor without a balance are bounded', async () => {
    const [from, to] = harness.chains
    const signer = people[0]!
    const entries = await Promise.all(
      Array.from({ length: 16 }, () => signedIntent(signer, intentOf(specOf(from!, to!, signer.address)))),
    )
    await expectBounded('16 signed intents', () =>
      httpAs(harness.url, undefined)('POST', '/v1/transfer', { body: entries }),
    )
  })

  it('files of the reference and of the documents are answered from memory, and not at all to those that have them', async () => {
    const plain = httpAs(harness.url, undefined)
    for (const path of [
      '/docs/reference/static/swagger-ui-bundle.js',
      '/docs/json',
      '/docs/yaml',
      '/openapi.json',
      '/docs/search.json',
      '/docs/reference',
    ]) {
      const answer = await plain('GET', path)
      expect([path, answer.status]).toEqual([path, 200])
      await expectBounded(path, () => plain('GET', path))
      const etag = answer.headers.get('etag')
      if (path === '/docs/reference') continue
      const again = await plain('GET', path, { headers: { 'if-none-match': String(etag) } })
      expect([path, again.status, again.text]).toEqual([path, 304, ''])
    }
  })
})

describe('property 122: what the token of a user allows', () => {
  const ofUsers = endpoints.filter(({ auth }) => auth === 'user')
  it.each(ofUsers.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    '%s is bounded',
    async (name, { method, path }) => {
      const sample = await sampleRequests[name]!.request(world)
      const send = (body: object | undefined) => () =>
        httpAs(harness.url, undefined)(method, addressOf(path, sample.params), {
          ...(body && { body }),
          ...(sample.headers && { headers: sample.headers }),
        })
      if (sample.body) await expectBounded(name, send({ ...sample.body, submission: long(32_768) }))
      await expectBounded(name, send(sample.body))
    },
  )
})
