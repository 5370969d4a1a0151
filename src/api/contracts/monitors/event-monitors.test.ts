import { randomUUID } from 'node:crypto'
import { initiateSmartContractPlatformClient } from '@circle-fin/smart-contract-platform'
import { encodeAbiParameters, getAddress, keccak256, parseAbi, toBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import {
  emit,
  emitterCode,
  makeEmitter,
  makeMonitor,
  monitorBody,
  movedSignature,
  movedTopic,
} from '#testing/builders/emitter'
import { makeWallet, placeContract, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const blockchain = 'BASE-SEPOLIA'
const path = '/v1/w3s/contracts/monitors'
const declared = 'Moved(uint256 count)'
const transfer = 'Transfer(address indexed from, address indexed to, uint256 value)'

let harness: Harness
let world: World
let client: ReturnType<typeof initiateSmartContractPlatformClient>

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  const { apiKey, entitySecret, url } = harness
  client = initiateSmartContractPlatformClient({ apiKey, entitySecret, baseUrl: url })
})
afterAll(() => harness?.close())

const logsOf = async (contractAddress: string, of = world) =>
  (await of.call('GET', `/v1/w3s/contracts/events?contractAddress=${contractAddress}&pageSize=50`)).eventLogs

const untilLogs = (contractAddress: string, count: number, of = world) =>
  until(async () => (await logsOf(contractAddress, of)).length === count, `${count} logs are listed`)

const importUsdc = async () => {
  const address = harness.chain().tokens.USDC
  const body = { idempotencyKey: randomUUID(), name: 'USDC', address, blockchain }
  await harness.http('POST', '/v1/w3s/contracts/import', { body })
  return address.toLowerCase()
}

const refused = (answer: { status: number; body: { code: number; errors?: { location: string }[] } }) => [
  answer.status,
  answer.body.code,
  answer.body.errors?.[0]?.location,
]

const create = (fields: object, http = harness.http) =>
  http('POST', path, { body: { idempotencyKey: randomUUID(), blockchain, ...fields } })

describe('event monitors', () => {
  it('are created, listed by each filter, updated and deleted by the published client', async () => {
    const usdc = await importUsdc()
    const other = await makeEmitter(world)
    const made = await client.createEventMonitor({
      blockchain,
      contractAddress: getAddress(usdc),
      eventSignature: 'Transfer(address,address,uint256)',
    })
    expect(made.status).toBe(201)
    const monitor = made.data!.eventMonitor
    expect(monitor).toMatchObject({
      blockchain,
      contractAddress: usdc,
      eventSignature: 'Transfer(address,address,uint256)',
      eventSignatureHash: keccak256(toBytes('Transfer(address,address,uint256)')),
      isEnabled: true,
    })
    // Known once the node tells its newest block and that is indexed, which a busy machine does later.
    await until(async () => {
      const [shown] = (await client.listEventMonitors({})).data!.eventMonitors as (typeof monitor & {
        lagBlocks?: number
        lagSeconds?: number
      })[]
      return shown!.lagBlocks === 0 && shown!.lagSeconds === 0
    }, 'it is not behind')
    const again = await client.createEventMonitor({
      blockchain,
      contractAddress: usdc,
      eventSignature: transfer,
    })
    expect([again.status, again.data!.eventMonitor.id]).toEqual([200, monitor.id])
    const { id } = await makeMonitor(world, other)
    const idsBy = async (filter: object) =>
      (await client.listEventMonitors(filter as never)).data!.eventMonitors.map((each) => each.id)
    expect(await idsBy({})).toEqual([id, monitor.id])
    expect(await idsBy({ contractAddress: getAddress(usdc) })).toEqual([monitor.id])
    expect(await idsBy({ blockchain: 'ETH-SEPOLIA' })).toEqual([])
    for (const eventSignature of [
      'Transfer(address,address,uint256)',
      transfer,
      'event Transfer(address indexed,address indexed,uint)',
      monitor.eventSignatureHash.toUpperCase().replace('0X', '0x'),
    ])
      expect(await idsBy({ eventSignature })).toEqual([monitor.id])
    expect(await idsBy({ pageSize: 1, pageAfter: id })).toEqual([monitor.id])

    const disabled = await client.updateEventMonitor({ id: monitor.id, isEnabled: false })
    expect(disabled.data!.eventMonitor).toMatchObject({ id: monitor.id, isEnabled: false })
    expect(disabled.data!.eventMonitor).not.toHaveProperty('lagBlocks')
    const deleted = await harness.http('DELETE', `${path}/${id}`)
    expect([deleted.status, deleted.text]).toEqual([200, ''])
    await client.deleteEventMonitor({ id: monitor.id })
    expect(await idsBy({})).toEqual([])
    const gone = client.updateEventMonitor({ id: monitor.id, isEnabled: true })
    await expect(gone).rejects.toMatchObject({ code: 175301, status: 404 })
    expect(refused(await harness.http('DELETE', `${path}/${monitor.id}`))).toEqual([404, 175301, 'id'])
    expect((await create({ contractAddress: usdc, eventSignature: transfer })).status).toBe(201)
  })

  it('have one monitor for each event, and refuse another history of it', async () => {
    const contractAddress = await makeEmitter(world)
    await harness.chain().mine()
    const made = await makeMonitor(world, contractAddress, { fromBlock: 0 })
    const same = await create({ contractAddress, eventSignature: declared, fromBlock: 0 })
    expect([same.status, same.body.data.eventMonitor.id]).toEqual([200, made.id])
    const plain = await create({ contractAddress, eventSignature: declared })
    expect([plain.status, plain.body.data.eventMonitor.history.fromBlock]).toEqual([200, 0])
    const different = await create({ contractAddress, eventSignature: movedSignature, fromBlock: 1 })
    expect(refused(different)).toEqual([409, 175302, 'fromBlock'])
    const all = await Promise.all(
      Array.from({ length: 6 }, () => create({ contractAddress, eventSignature: 'Other()' })),
    )
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 201])
    expect(new Set(all.map(({ body }) => body.data.eventMonitor.id)).size).toBe(1)
  })

  it('refuse contracts, events and blocks that cannot be monitored, at their fields', async () => {
    const eventSignature = movedSignature
    const contractAddress = await makeEmitter(world)
    const unknown = await placeContract(world)
    const empty = `0x${'e'.repeat(40)}`
    const archived = await makeEmitter(world)
    const [{ id }] = (await world.call('GET', '/v1/w3s/contracts?pageSize=1')).contracts
    await world.call('PATCH', `/v1/w3s/contracts/${id}`, { archived: true })
    const events = [
      ...parseAbi(['event Known(uint256 indexed count)']),
      { type: 'event', name: 'Hidden', anonymous: true, inputs: [] },
    ]
    const withAbi = await makeEmitter(world, 32, events)
    const usual = { contractAddress, eventSignature }
    const cases: [object, number, number, string][] = [
      [{ ...usual, contractAddress: unknown }, 404, 175001, 'contractAddress'],
      [{ ...usual, contractAddress: empty }, 400, 175005, 'contractAddress'],
      [{ ...usual, contractAddress: archived }, 400, 175006, 'contractAddress'],
      [{ ...usual, contractAddress: '0x12' }, 400, 175410, 'contractAddress'],
      [{ ...usual, contractAddress: withAbi }, 400, 175303, 'eventSignature'],
      [{ contractAddress: withAbi, eventSignature: 'Hidden()' }, 400, 175303, 'eventSignature'],
      [{ ...usual, blockchain: 'ETH-SEPOLIA' }, 400, 175407, 'blockchain'],
      [{ ...usual, blockchain: 'ETH' }, 400, 175404, 'blockchain'],
      [{ ...usual, blockchain: 'SOL-DEVNET' }, 400, 175402, 'blockchain'],
      [{ ...usual, fromBlock: 10_000_000 }, 400, 2, 'fromBlock'],
      [{ ...usual, fromBlock: -1 }, 400, 2, 'fromBlock'],
      [{ ...usual, fromBlock: 'latest' }, 400, 2, 'fromBlock'],
      [{ contractAddress }, 400, 2, 'eventSignature'],
    ]
    const malformed = [
      ...['', 'Moved', 'Moved(', 'Moved(uint257)', 'Moved(uint256))', 'Moved(uint256,)', '1(uint256)'],
      ...[
        'Moved(uint256) anonymous',
        'Moved(uint256 a b)',
        'Moved((uint256 indexed a))',
        'M(,)',
        'M(uint256[-1])',
      ],
      `Moved(${'(uint256,'.repeat(200)}`,
      `Moved(${Array(101).fill('uint256').join()})`,
      'Moved(uint256 indexed,uint256 indexed,uint256 indexed,uint256 indexed)',
    ]
    for (const [fields, ...expected] of cases)
      expect([fields, ...refused(await create(fields))]).toEqual([fields, ...expected])
    for (const text of malformed) {
      const answer = await create({ contractAddress, eventSignature: text })
      expect([text, ...refused(answer)]).toEqual([text, 400, 175303, 'eventSignature'])
    }
    const named = await create({ contractAddress: withAbi, eventSignature })
    expect(named.body.errors[0].message).toMatch(/has Known\(uint256\), Hidden\(\): correct it/)
    const filter = await harness.http('GET', `${path}?eventSignature=Moved(`)
    expect(refused(filter)).toEqual([400, 175303, 'eventSignature'])
    const body = monitorBody(world, contractAddress)
    expect((await harness.http('POST', path, { body })).status).toBe(201)
    const reused = { ...body, eventSignature: 'Other()' }
    expect((await harness.http('POST', path, { body: reused })).body.code).toBe(175403)
  })

  it('refuse a contract whose deployment no block contains yet, and one that was archived since', async () => {
    const chain = harness.chain()
    const { id: walletId, address } = await makeWallet(world)
    await harness.fundWallet(address, { native: '1' })
    await until(async () => {
      const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${walletId}/balances`)
      return tokenBalances.length > 0
    }, 'the wallet is funded')
    await chain.setAutomine(false)
    const code = emitterCode()
    const size = (code.length / 2 - 1).toString(16).padStart(4, '0')
    const { contractId } = await world.call('POST', '/v1/w3s/contracts/deploy', {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
      name: 'Emitter',
      walletId,
      blockchain,
      feeLevel: 'MEDIUM',
      abiJson: JSON.stringify(parseAbi(['event Moved(uint256 count)'])),
      bytecode: `0x61${size}600e60003961${size}6000f3${code.slice(2)}`,
    })
    let contractAddress = ''
    await until(async () => {
      const row = await harness.database.maybe<{ address: string }>(sql`select contract_address as address
        from transactions where contract_address is not null and wallet_id = ${walletId}`)
      contractAddress = row?.address ?? ''
      return row !== undefined
    }, 'the address of the contract is known')
    const usual = { contractAddress, eventSignature: movedSignature }
    expect(refused(await create(usual))).toEqual([400, 175009, 'contractAddress'])
    await chain.setAutomine(true)
    await chain.mine()
    const read = async () => (await world.call('GET', `/v1/w3s/contracts/${contractId}`)).contract
    await until(async () => (await read()).contractAddress !== undefined, 'the contract is deployed')
    const { id } = await makeMonitor(world, contractAddress)
    await emit(world, contractAddress, 2)
    await untilLogs(contractAddress, 2)
    await world.call('PATCH', `/v1/w3s/contracts/${contractId}`, { archived: true })
    const enabling = await harness.http('PUT', `${path}/${id}`, { body: { isEnabled: true } })
    expect(refused(enabling)).toEqual([400, 175006, 'contractAddress'])
  })
})

describe('event logs', () => {
  it('are those of the chain, decoded, by each filter of the published client', async () => {
    const usdc = await importUsdc()
    await create({ contractAddress: usdc, eventSignature: 'Transfer(address,address,uint256)' })
    const emitter = await makeEmitter(world)
    await makeMonitor(world, emitter, { eventSignature: declared })
    const undeclared = await makeEmitter(world)
    await makeMonitor(world, undeclared)
    const { address } = await world.wallet()
    const txHash = await harness.chain().send(address, 1_234_567n, 'USDC')
    await emit(world, emitter, 3)
    await emit(world, undeclared)
    await untilLogs(undeclared, 1)
    const listed = (await client.listEventLogs({ contractAddress: getAddress(usdc), blockchain })).data!
      .eventLogs
    const [receipt, block] = await Promise.all([
      harness
        .chain()
        .rpc<{ blockHash: string; blockNumber: string; logs: Log[] }>('eth_getTransactionReceipt', [txHash]),
      harness.chain().rpc<{ timestamp: string }>('eth_getBlockByHash', [listed[0]!.blockHash, false]),
    ])
    const [log] = receipt.logs
    expect(listed[0]).toMatchObject({
      txHash,
      blockchain,
      contractAddress: usdc,
      blockHash: receipt.blockHash,
      blockHeight: Number(receipt.blockNumber),
      logIndex: String(Number(log!.logIndex)),
      topics: log!.topics,
      data: log!.data,
      userOpHash: '',
      eventSignatureHash: log!.topics[0],
      eventName: 'Transfer',
      firstConfirmDate: new Date(Number(block.timestamp) * 1_000).toISOString(),
      values: [
        { name: 'from', type: 'address', indexed: true, value: harness.chain().outsider.toLowerCase() },
        { name: 'to', type: 'address', indexed: true, value: address },
        { name: 'value', type: 'uint256', indexed: false, value: '1234567' },
      ],
    })
    const moved = await logsOf(emitter)
    // The newest first, also within a block.
    expect(moved.map(({ values }: { values: object[] }) => values)).toEqual(
      ['1', '2', '3'].map((value) => [{ name: 'count', type: 'uint256', indexed: false, value }]),
    )
    const [raw] = await logsOf(undeclared)
    expect([raw.data, 'values' in raw]).toEqual([encodeAbiParameters([{ type: 'uint256' }], [1n]), false])
    expect((await client.listEventLogs({ blockchain: 'ETH-SEPOLIA' })).data!.eventLogs).toEqual([])
    const all = (await client.listEventLogs({ pageSize: 50 } as never)).data!.eventLogs
    expect(new Set(all.map(({ contractAddress }) => contractAddress)).size).toBeGreaterThanOrEqual(3)
    const other = await harness.newEntity()
    expect((await other.http('GET', '/v1/w3s/contracts/events')).body.data.eventLogs).toEqual([])
  })

  it('logs of a disabled monitor are not recorded, and recorded ones stay when the monitor is deleted', async () => {
    const emitter = await makeEmitter(world)
    const { id } = await makeMonitor(world, emitter)
    const control = await makeEmitter(world)
    await makeMonitor(world, control)
    await emit(world, emitter)
    await untilLogs(emitter, 1)
    await world.call('PUT', `${path}/${id}`, { isEnabled: false })
    await emit(world, emitter)
    await emit(world, control)
    await untilLogs(control, 1)
    await world.call('PUT', `${path}/${id}`, { isEnabled: true })
    await emit(world, emitter)
    await untilLogs(emitter, 2)
    await harness.http('DELETE', `${path}/${id}`)
    await emit(world, emitter)
    await emit(world, control)
    await untilLogs(control, 2)
    expect(
      (await logsOf(emitter)).map(({ eventSignature }: { eventSignature: string }) => eventSignature),
    ).toEqual([movedSignature, movedSignature])
  })

  it('logs that do not fit their event, or are too large to keep, stop nothing', async () => {
    const short = await makeEmitter(world, 5)
    await makeMonitor(world, short, { eventSignature: declared })
    const wrong = await makeEmitter(world)
    await makeMonitor(world, wrong, { eventSignature: 'Moved(uint256 indexed count)' })
    const large = await makeEmitter(world, 70_000)
    await makeMonitor(world, large, { eventSignature: declared })
    for (const emitter of [short, wrong, large]) await emit(world, emitter)
    for (const emitter of [short, wrong, large]) await untilLogs(emitter, 1)
    const [[first], [second], [third]] = await Promise.all([short, wrong, large].map((each) => logsOf(each)))
    expect([first.data, 'values' in first]).toEqual([`0x${'00'.repeat(5)}`, false])
    expect([second.topics, 'values' in second]).toEqual([[movedTopic], false])
    expect([third.data, third.dataBytes, 'values' in third]).toEqual(['0x', 70_000, false])
  })
})

type Log = { logIndex: string; topics: string[]; data: string }
