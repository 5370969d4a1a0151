import { randomUUID } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initiateSmartContractPlatformClient } from '@circle-fin/smart-contract-platform'
import { encodeAbiParameters, encodeFunctionData, getAddress } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '#runtime/config'
import { catalogueAbi, catalogueBytecode } from '#testing/artifacts/catalogue'
import { freshAddress, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const abiJson = JSON.stringify(catalogueAbi)
const blockchain = 'BASE-SEPOLIA'
const contractSourcesDir = join(tmpdir(), `sources-${randomUUID()}`)

/** A server of verified sources, which has none unless a test says otherwise. */
let sources: Server
type Serve = (path: string, response: ServerResponse) => void
const serveNothing: Serve = (_, response) => void response.writeHead(404).end('{"match":null}')
let serve = serveNothing
const serveText =
  (text: string): Serve =>
  (_, response) =>
    void response.end(text)

let harness: Harness
let world: World
let catalogue: string
let client: ReturnType<typeof initiateSmartContractPlatformClient>

beforeAll(async () => {
  sources = createServer((request, response) => serve(request.url!, response))
  await new Promise<void>((resolve) => sources.listen(0, '127.0.0.1', resolve))
  const contractSourcesUrl = `http://127.0.0.1:${(sources.address() as AddressInfo).port}/server`
  harness = await openHarness({ config: { contractSourcesDir, contractSourcesUrl } })
  world = worldOf(harness)
  catalogue = await place()
  const { apiKey, entitySecret, url } = harness
  client = initiateSmartContractPlatformClient({ apiKey, entitySecret, baseUrl: url })
})
afterAll(async () => {
  await rm(contractSourcesDir, { recursive: true, force: true })
  await harness?.close()
  await new Promise((resolve) => sources.close(resolve))
})
afterEach(() => {
  serve = serveNothing
})

/** Puts a catalogue on the chain, from outside the platform. */
async function place(): Promise<string> {
  const { rpc, outsider } = harness.chain()
  const types = catalogueAbi.find(({ type }) => type === 'constructor')!.inputs
  const values = [outsider, { limit: 2n, label: 'found' }, [1, -1]] as const
  const data = `${catalogueBytecode}${encodeAbiParameters(types, values as never).slice(2)}`
  const hash = await rpc('eth_sendTransaction', [{ from: outsider, data, gas: '0x2dc6c0' }])
  let address: string | undefined
  await until(async () => {
    const receipt = await rpc<{ contractAddress: string } | null>('eth_getTransactionReceipt', [hash])
    address = receipt?.contractAddress
    return address !== undefined
  }, 'the catalogue is there')
  return address!
}

/** Puts code at an unused address. */
async function placeCode(code: string): Promise<string> {
  const address = freshAddress()
  await harness.chain().rpc('anvil_setCode', [address, code])
  return address
}

const minimalProxyOf = (address: string) =>
  placeCode(`0x363d3d373d3d3d363d73${address.slice(2)}5af43d82803e903d91602b57fd5bf3`)

const slot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const setImplementation = (proxy: string, address: string) =>
  harness.chain().rpc('anvil_setStorageAt', [proxy, slot, `0x${address.slice(2).padStart(64, '0')}`])
async function slotProxyOf(address: string): Promise<string> {
  const proxy = await placeCode('0x600160015500')
  await setImplementation(proxy, address)
  return proxy
}

const importing = (changes: Record<string, unknown>, http = harness.http) =>
  http('POST', '/v1/w3s/contracts/import', {
    body: { idempotencyKey: randomUUID(), name: 'Found', address: catalogue, blockchain, ...changes },
  })

async function imported(changes: Record<string, unknown> = {}) {
  const { status, text, body } = await importing(changes)
  expect(status, text).toBe(201)
  return body.data.contract
}

const query = (changes: Record<string, unknown>, http = harness.http) =>
  http('POST', '/v1/w3s/contracts/query', { body: { address: catalogue, blockchain, ...changes } })

async function values(abiFunctionSignature: string, abiParameters?: unknown[], changes: object = {}) {
  const { status, text, body } = await query({ abiFunctionSignature, abiParameters, abiJson, ...changes })
  expect(status, text).toBe(200)
  return body.data.outputValues
}

const refused = (answer: { status: number; body: { code: number; errors?: { location: string }[] } }) => [
  answer.status,
  answer.body.code,
  answer.body.errors?.[0]?.location,
]

describe('an import', () => {
  it('by the published client keeps a contract once, and without an ABI where none is known', async () => {
    const address = await place()
    const given = { name: 'Found one', address: getAddress(address), blockchain } as const
    const made = await client.importContract(given)
    expect(made.status).toBe(201)
    expect(made.data!.contract).toMatchObject({
      name: 'Found one',
      contractInputType: 'IMPORT',
      contractAddress: address,
      status: 'COMPLETE',
      verificationStatus: 'UNVERIFIED',
      functions: [],
      events: [],
      sourceCode: [],
    })
    expect(made.data!.contract.abiJson).toBeUndefined()
    expect(refused(await importing({ address }))).toEqual([409, 175004, 'address'])
    const asked = await query({ address, abiFunctionSignature: 'owner()', abiJson: undefined })
    expect(refused(asked)).toEqual([400, 175002, 'abiJson'])
    const refreshed = await imported({ address, abiJson, refreshVerification: true })
    expect(refreshed.id).toBe(made.data!.contract.id)
    expect(refreshed.functions.length).toBeGreaterThan(5)
    expect(await imported({ address, refreshVerification: true })).toMatchObject({ abiJson })
    expect(await values('owner()', [], { address, abiJson: undefined })).toEqual([
      harness.chain().outsider.toLowerCase(),
    ])
  })

  it('is one contract for each entity, whatever another one imported', async () => {
    const address = await place()
    await imported({ address })
    const other = await harness.newEntity()
    const theirs = await importing({ address }, other.http)
    expect(theirs.status).toBe(201)
    const ours = await harness.http('GET', `/v1/w3s/contracts/${theirs.body.data.contract.id}`)
    expect(refused(ours)).toEqual([404, 175001, 'id'])
  })

  it('knows the stablecoins of a local chain, and takes ABI and sources from the folder of the operator', async () => {
    const usdc = await imported({ address: harness.chain().tokens.USDC })
    expect(usdc.events.map(({ name }: { name: string }) => name)).toContain('Transfer')
    const address = await place()
    const folder = join(contractSourcesDir, '84532', getAddress(address))
    await mkdir(join(folder, 'sources', 'lib'), { recursive: true })
    await writeFile(join(folder, 'metadata.json'), JSON.stringify({ output: { abi: catalogueAbi } }))
    await writeFile(join(folder, 'sources', 'Catalogue.sol'), 'contract Catalogue {}')
    await writeFile(join(folder, 'sources', 'lib', 'Library.sol'), 'library Library {}')
    expect(await imported({ address })).toMatchObject({
      verificationStatus: 'VERIFIED',
      abiJson,
      sourceCode: [
        { fileName: 'Catalogue.sol', fileContent: 'contract Catalogue {}' },
        { fileName: 'lib/Library.sol', fileContent: 'library Library {}' },
      ],
    })
    const listed = await client.listContracts({ name: 'Found', pageSize: 1 })
    expect(listed.data!.contracts).toMatchObject([{ verificationStatus: 'VERIFIED', sourceCode: [] }])
    const broken = await place()
    await mkdir(join(contractSourcesDir, '84532', broken), { recursive: true })
    await writeFile(join(contractSourcesDir, '84532', broken, 'metadata.json'), '{"output":{"abi":7}}')
    expect(await imported({ address: broken })).toMatchObject({ verificationStatus: 'UNVERIFIED' })
  })

  it('takes ABI and sources from the server of verified sources where they are not known otherwise', async () => {
    const address = await place()
    const paths: string[] = []
    const content = { 'lib/A.sol': { content: 'library A {}\0' }, 'B.sol': { content: 'contract B {}' } }
    serve = (path, response) => {
      paths.push(path)
      response.end(JSON.stringify({ abi: catalogueAbi, sources: content, match: 'exact_match' }))
    }
    expect(await imported({ address })).toMatchObject({
      verificationStatus: 'VERIFIED',
      abiJson,
      sourceCode: [
        { fileName: 'lib/A.sol', fileContent: 'library A {}' },
        { fileName: 'B.sol', fileContent: 'contract B {}' },
      ],
    })
    expect(paths).toEqual([`/server/v2/contract/84532/${getAddress(address)}?fields=abi,sources`])
    const { implementationContract } = await imported({ address: await minimalProxyOf(address), abiJson })
    expect(implementationContract).toMatchObject({ verificationStatus: 'VERIFIED', contractAddress: address })
    await imported({ address: await place(), abiJson })
    await imported({ address: await minimalProxyOf(harness.chain().tokens.USDC.toLowerCase()), abiJson })
    expect(paths).toHaveLength(2)
    serve = serveText(
      JSON.stringify({ abi: catalogueAbi, sources: { huge: { content: 'x'.repeat(3 << 20) } } }),
    )
    expect(await imported({ address: await place() })).toMatchObject({ abiJson, sourceCode: [] })
  })

  it.each([
    ['answers with an error', (_, response) => void response.writeHead(500).end()],
    ['redirects', (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end()],
    ['breaks off', (_, response) => void response.write('{"abi":[', () => response.destroy())],
    ['answers without end', (_, response) => void response.end(`[${'1,'.repeat(4 << 20)}1]`)],
    ['is no server of sources', serveText('<html>')],
    ['answers null', serveText('null')],
    ['has an ABI that is none', serveText('{"abi":7}')],
  ] as [string, Serve][])(
    'needs no server of verified sources that %s, unless nothing else is known',
    async (_, answer) => {
      serve = answer
      const address = await place()
      const refusal = await importing({ address })
      expect([refusal.status, refusal.body.code]).toEqual([503, 175901])
      expect(refusal.body.message).toMatch(/try again in a moment, or give abiJson/)
      expect(await imported({ address, abiJson })).toMatchObject({ abiJson })
      const refreshed = await importing({ address, refreshVerification: true })
      expect([refreshed.status, refreshed.body.code]).toEqual([503, 175901])
      const given = await importing({ address, abiJson, refreshVerification: true })
      expect(given.status).toBe(201)
      const proxy = { address: await minimalProxyOf(address), abiJson }
      expect((await imported(proxy)).implementationContract).toMatchObject({ functions: [] })
      serve = serveNothing
      expect(await imported({ address: await place() })).toMatchObject({ verificationStatus: 'UNVERIFIED' })
    },
  )

  it('needs no server of verified sources to refresh a proxy with an ABI, and forgets nothing that it said', async () => {
    const [address, other] = [await place(), await place()]
    serve = serveText(
      JSON.stringify({ abi: catalogueAbi, sources: { 'A.sol': { content: 'contract A {}' } } }),
    )
    const proxy = await slotProxyOf(address)
    await imported({ address: proxy })
    serve = (_, response) => void response.writeHead(500).end()
    const refresh = (changes: object) => imported({ address: proxy, refreshVerification: true, ...changes })
    const own = JSON.stringify([{ type: 'function', name: 'own', inputs: [], outputs: [] }])
    const refreshed = await refresh({ abiJson: own })
    expect(refreshed).toMatchObject({ abiJson: own, functions: [{ name: 'own' }] })
    expect(refreshed.implementationContract).toMatchObject({
      contractAddress: address,
      verificationStatus: 'VERIFIED',
      abiJson,
      sourceCode: [{ fileName: 'A.sol' }],
    })
    await setImplementation(proxy, other)
    expect((await refresh({ abiJson: own })).implementationContract).toMatchObject({
      contractAddress: other,
      verificationStatus: 'UNVERIFIED',
      functions: [],
    })
    expect((await importing({ address: proxy, refreshVerification: true })).status).toBe(503)
  })

  it.each([
    'sourcify.dev',
    'ftp://sourcify.dev',
    'https://me@sourcify.dev',
    'https://sourcify.dev:22',
    'https://sourcify.dev/?a=b',
  ])('is not configured with the server %s', (url) => {
    const read = () => readConfig({}, { BEZANT_CONTRACT_SOURCES_URL: url })
    expect(read).toThrow(/^BEZANT_CONTRACT_SOURCES_URL (must|uses port 22)/)
    // The text may hold a password.
    expect(read).not.toThrow(url)
  })

  it('resolves one layer of a proxy, minimal or with a slot, and refuses a second one', async () => {
    const { USDC } = harness.chain().tokens
    const [minimal, slotted] = [await minimalProxyOf(USDC.toLowerCase()), await slotProxyOf(USDC)]
    for (const address of [minimal, slotted]) {
      const { implementationContract: found, abiJson: own } = await imported({ address })
      expect([own, found.contractAddress]).toEqual([undefined, USDC.toLowerCase()])
      expect(found.functions.length).toBeGreaterThan(20)
    }
    const decimals = { address: minimal, abiFunctionSignature: 'decimals()' }
    expect((await query(decimals)).body.data.outputValues).toEqual(['0'])
    expect(refused(await importing({ address: await minimalProxyOf(minimal) }))).toEqual([
      400,
      175008,
      'address',
    ])
  })

  it.each([
    ['an address without code', () => ({ address: freshAddress() }), 175005, 'address'],
    ['an address that is none', () => ({ address: '0x12' }), 175410, 'address'],
    [
      'a wrong checksum',
      () => ({ address: getAddress(catalogue).replace(/[A-F]/, (c) => c.toLowerCase()) }),
      175410,
      'address',
    ],
    ['a broken ABI', () => ({ abiJson: '[{"type":"function"}]' }), 175007, 'abiJson[0].name'],
    ['a chain that is not connected', () => ({ blockchain: 'ETH-SEPOLIA' }), 175407, 'blockchain'],
    ['Monad, not connected', () => ({ blockchain: 'MONAD-TESTNET' }), 175407, 'blockchain'],
    ['a chain of no contracts', () => ({ blockchain: 'NEAR-TESTNET' }), 175402, 'blockchain'],
  ])('refuses %s', async (_, changes, code, field) => {
    expect(refused(await importing(changes()))).toEqual([400, code, field])
  })
})

describe('a query', () => {
  it('decodes tuples, arrays and nested arrays in the order of the ABI', async () => {
    const maker = harness.chain().outsider.toLowerCase()
    const items = [
      ['0', maker, '0x00000001', false],
      ['1', maker, '0xffffffff', true],
    ]
    expect(await values('items()')).toEqual([items, '2'])
    expect(await values('item(uint256)', ['1'])).toEqual([items[1]])
    expect(await values('rows()')).toEqual([
      [
        ['0', '0'],
        ['-7', '9'],
      ],
    ])
    expect(await values('settings()')).toEqual(['2', 'found'])
  })

  it('asks as the given sender and at the given block', async () => {
    const fromAddress = freshAddress()
    expect(await values('caller()', [], { fromAddress })).toEqual([fromAddress])
    const blockNumber = await harness.chain().height()
    const { rpc, outsider } = harness.chain()
    const data = encodeFunctionData({
      abi: catalogueAbi,
      functionName: 'add',
      args: [fromAddress as `0x${string}`],
    })
    const address = await place()
    const before = await harness.chain().height()
    await rpc('eth_sendTransaction', [{ from: outsider, to: address, data, gas: '0x2dc6c0' }])
    const countAt = async (at?: number) => (await values('items()', [], { address, blockNumber: at }))[1]
    await until(async () => (await countAt()) === '3', 'the item is there')
    expect(await countAt(before)).toBe('2')
    expect(
      refused(await query({ abiFunctionSignature: 'owner()', abiJson, blockNumber: blockNumber + 10_000 })),
    ).toEqual([400, 175012, undefined])
  })

  it('takes callData, and a signature of a contract that nobody imported, and decodes where the ABI is known', async () => {
    const callData = encodeFunctionData({ abi: catalogueAbi, functionName: 'settings' })
    const raw = (await query({ callData })).body.data
    expect(raw.outputValues).toEqual([])
    expect(raw.outputData).toMatch(/^0x[0-9a-f]{256}$/)
    expect((await query({ callData, abiJson })).body.data).toEqual({ ...raw, outputValues: ['2', 'found'] })
    const asked = { abiFunctionSignature: 'settings()', address: await place() }
    expect((await query({ ...asked, abiParameters: [] })).body.data).toEqual(raw)
    expect(refused(await query({ ...asked, abiFunctionSignature: 'settings(' }))).toEqual([
      ...[400, 177008, 'abiFunctionSignature'],
    ])
    const nowhere = await query({ ...asked, address: freshAddress() })
    expect(refused(nowhere)).toEqual([400, 175005, 'address'])
    const nothing = await query({ callData, address: freshAddress() })
    expect(nothing.body.data).toEqual({ outputValues: [], outputData: '0x' })
  })

  it('shows the reason of a revert, and the errors of the ABI by name', async () => {
    const missing = await query({ abiFunctionSignature: 'item(uint256)', abiParameters: [9], abiJson })
    expect(refused(missing)).toEqual([400, 177901, undefined])
    expect(missing.body.message).toContain('ItemMissing(9, {"limit":"2","label":"found"})')
    const said = await query({ abiFunctionSignature: 'refuse(string)', abiParameters: ['not now'], abiJson })
    expect(said.body.message).toContain('"not now"')
  })

  it('bounds the answer of a hostile contract without a failure of the node', async () => {
    const fill = (bytes: number) =>
      query({ abiFunctionSignature: 'fill(uint256)', abiParameters: [bytes], abiJson })
    expect((await fill(400_000)).status).toBe(200)
    expect((await fill(20_000_000)).status).toBe(400)
    expect(await values('owner()')).toHaveLength(1)
  })

  it.each([
    [
      'a function that is not in the ABI',
      { abiFunctionSignature: 'price()' },
      175010,
      'abiFunctionSignature',
    ],
    [
      'a function that changes state',
      { abiFunctionSignature: 'add(address)' },
      175013,
      'abiFunctionSignature',
    ],
    ['a misspelt signature', { abiFunctionSignature: 'item(uint)' }, 177008, 'abiFunctionSignature'],
    ['too few parameters', { abiFunctionSignature: 'item(uint256)' }, 177008, 'abiParameters'],
    [
      'a wrong type',
      { abiFunctionSignature: 'item(uint256)', abiParameters: ['x'] },
      177008,
      'abiParameters[0]',
    ],
    ['neither signature nor data', {}, 2, 'abiFunctionSignature'],
    ['both', { abiFunctionSignature: 'owner()', callData: '0x' }, 2, 'callData'],
    ['data that is no hex', { callData: '0xabc' }, 2, 'callData'],
    ['an ABI of 10,000 functions', { abiFunctionSignature: 'a()', abiJson: longAbi() }, 175007, 'abiJson'],
    [
      'an address without code',
      { abiFunctionSignature: 'owner()', address: freshAddress() },
      175005,
      'address',
    ],
    ['a bad sender', { callData: '0x', fromAddress: '0x1' }, 175410, 'fromAddress'],
  ])('refuses %s', async (_, changes, code, field) => {
    expect(refused(await query({ abiJson, ...changes }))).toEqual([400, code, field])
  })
})

const longAbi = () => JSON.stringify(Array.from({ length: 10_000 }, (_, index) => ({ name: `f${index}` })))

describe('contracts', () => {
  it('are listed by filters, changed and archived, by the published client', async () => {
    const { id } = await imported({ address: await place(), name: 'Listed', abiJson })
    const list = async (filters: object) =>
      (await client.listContracts(filters)).data!.contracts.map((contract) => contract.id)
    expect(
      await list({ name: 'Listed', blockchain, contractInputType: 'IMPORT', status: 'COMPLETE' }),
    ).toEqual([id])
    expect(await list({ name: 'Listed', status: 'FAILED' })).toEqual([])
    expect(await list({ name: 'Listed', deployerAddress: freshAddress() })).toEqual([])
    const changed = await client.updateContract({ id, name: 'Renamed', description: 'Old', archived: true })
    expect(changed.data!.contract).toMatchObject({ id, name: 'Renamed', description: 'Old', archived: true })
    const { contractAddress: address } = changed.data!.contract
    expect(refused(await query({ address, callData: '0x' }))).toEqual([400, 175006, 'address'])
    expect(refused(await importing({ address, refreshVerification: true }))).toEqual([400, 175006, 'address'])
    await client.updateContract({ id, archived: false })
    expect(await values('settings()', [], { address, abiJson: undefined })).toEqual(['2', 'found'])
    await expect(client.updateContract({ id })).rejects.toMatchObject({ code: 175011 })
    await expect(client.getContract({ id: randomUUID() })).rejects.toMatchObject({ code: 175001 })
    await expect(client.getContract({ id: 'x' })).rejects.toMatchObject({ code: 175401 })
    await expect(client.listContracts({ pageAfter: randomUUID() })).rejects.toMatchObject({ code: 175408 })
    expect((await world.call('GET', '/contracts?name=Renamed')).contracts).toHaveLength(1)
  })
})
