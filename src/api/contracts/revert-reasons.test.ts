import { randomUUID } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeErrorResult, getAddress, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { heldMaxMs } from '#engines/webhooks/index'
import { sql } from '#runtime/db/db'
import { catalogueAbi, catalogueBytecode } from '#testing/artifacts/catalogue'
import {
  freshAddress,
  makeTransfer,
  placeContract,
  type Wallet,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { openWebhookReceiver, type WebhookReceiver } from '#testing/servers/webhook-receiver'

const blockchain = 'BASE-SEPOLIA'
const estimatePath = '/v1/w3s/transactions/contractExecution/estimateFee'
const errors = parseAbi(['error Refused(address who, uint256 most)', 'error Loud(string said)'])
const contractSourcesDir = join(tmpdir(), `sources-${randomUUID()}`)
const abiJson = JSON.stringify(errors.map((each) => ({ ...each, type: 'error' })))
const someone = getAddress(freshAddress())
const refused = encodeErrorResult({ abi: errors, errorName: 'Refused', args: [someone, 7n] })
const named = `Refused(${someone}, 7)`

let harness: Harness
let world: World
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness({ config: { contractSourcesDir } })
  world = worldOf(harness)
  wallet = await world.fundedWallet()
})
afterAll(async () => {
  await rm(contractSourcesDir, { recursive: true, force: true })
  await harness?.close()
})

/** Code that reverts with these bytes: it copies them from behind itself. */
const reverting = (data: string) => {
  const length = (data.length / 2 - 1).toString(16).padStart(4, '0')
  return `0x61${length}80600c6000396000fd${data.slice(2)}`
}

async function importAt(address: string, changes: Record<string, unknown> = {}) {
  const body = { idempotencyKey: randomUUID(), name: 'A contract', address, blockchain, abiJson, ...changes }
  return world.call('POST', '/v1/w3s/contracts/import', body)
}

const placeCode = async (code: string, address = freshAddress()) => {
  await harness.chain().rpc('anvil_setCode', [address, code])
  return address
}

async function execute(contractAddress: string, fields: Record<string, unknown> = {}) {
  const { id } = await world.call('POST', '/v1/w3s/developer/transactions/contractExecution', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await harness.sealSecret(),
    walletId: wallet.id,
    contractAddress,
    abiFunctionSignature: 'try()',
    feeLevel: 'MEDIUM',
    ...fields,
  })
  return id as string
}

const transactionOf = async (id: string) =>
  (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction

async function failed(id: string) {
  await until(async () => (await transactionOf(id)).errorDetails, 'its reason is known')
  return transactionOf(id)
}

/** Executes a call that is accepted until it is sent, and reverts in its block. */
async function revertAt(contractAddress: string): Promise<string> {
  const chain = harness.chain()
  await chain.setAutomine(false)
  const id = await execute(contractAddress)
  await until(async () => (await transactionOf(id)).state === 'SENT', 'it is sent')
  await placeCode(reverting(refused), contractAddress)
  await chain.setAutomine(true)
  await chain.mine()
  return id
}

const estimate = (contractAddress: string, http = harness.http) =>
  http('POST', estimatePath, {
    body: { contractAddress, sourceAddress: wallet.address, blockchain, abiFunctionSignature: 'try()' },
  })

describe('a revert is explained with the errors', () => {
  it('errors of an imported contract explain a revert: in an estimate, and by a transaction that is never sent', async () => {
    const address = await placeCode(reverting(refused))
    expect((await estimate(address)).body.message).toContain('custom error 0x')
    await importAt(address)
    const { status, body } = await estimate(address)
    expect([status, body.code]).toEqual([400, 155208])
    expect(body.message).toContain(named)
    expect(await failed(await execute(address))).toMatchObject({
      state: 'FAILED',
      errorReason: 'ESTIMATION_ERROR',
      errorDetails: `the call reverts: ${named}`,
    })
  })

  it('errors of the implementation behind a proxy explain a revert', async () => {
    const implementation = await placeCode(reverting(refused))
    const proxy = await placeCode(
      `0x363d3d373d3d3d363d73${implementation.slice(2)}5af43d82803e903d91602b57fd5bf3`,
    )
    const folder = join(contractSourcesDir, '84532', implementation)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'metadata.json'), `{"output":{"abi":${abiJson}}}`)
    await importAt(proxy, { abiJson: undefined })
    expect((await estimate(proxy)).body.message).toContain(named)
  })

  it('errors of a deployed contract explain a revert: by its constructor, and by a call that reverts in its block', async () => {
    const limited = [wallet.address, [13, 'late'], [1, 2]]
    const catalogue = { abiJson: JSON.stringify(catalogueAbi), bytecode: catalogueBytecode }
    const deploy = async (constructorParameters: unknown[], code = catalogue) =>
      world.call('POST', '/v1/w3s/contracts/deploy', {
        idempotencyKey: randomUUID(),
        entitySecretCiphertext: await harness.sealSecret(),
        name: 'A contract',
        walletId: wallet.id,
        blockchain,
        feeLevel: 'MEDIUM',
        constructorParameters,
        ...code,
      })
    expect(await failed((await deploy(limited)).transactionId)).toMatchObject({
      errorReason: 'ESTIMATION_ERROR',
      errorDetails: expect.stringContaining('ItemMissing(13, {"limit":"13","label":"late"})'),
    })
    // Code that accepts every call, until it is replaced by code that refuses.
    const made = await deploy([], { abiJson, bytecode: '0x6001600c60003960016000f300' })
    const contract = async () => (await world.call('GET', `/v1/w3s/contracts/${made.contractId}`)).contract
    await until(async () => (await contract()).status === 'COMPLETE', 'it is deployed')
    const { contractAddress } = await contract()
    expect(await failed(await revertAt(contractAddress))).toMatchObject({
      state: 'FAILED',
      errorReason: 'FAILED_ON_CHAIN',
      errorDetails: `the call reverts: ${named}`,
    })
  })
})

describe('the webhook of a revert', () => {
  let receiver: WebhookReceiver
  beforeAll(async () => {
    receiver = await openWebhookReceiver(harness.http)
    const body = { endpoint: receiver.url, notificationTypes: ['transactions.outbound'] }
    await world.call('POST', '/v2/notifications/subscriptions', body)
  })
  afterAll(async () => {
    harness.chain().intercept(undefined)
    await receiver?.close()
  })

  const acceptingContract = async () => {
    const address = await placeCode('0x00')
    await importAt(address)
    return address
  }
  const about = (id: string) => receiver.webhooks().filter(({ notification }) => notification.id === id)
  const statesOf = (id: string) => about(id).map(({ notification }) => notification.state)
  const failures = (id: string) => about(id).filter(({ notification }) => notification.state === 'FAILED')

  /** A call that reverted in its block, while no node explains it. */
  async function unexplained(): Promise<string> {
    const address = await acceptingContract()
    let blockHash = 'none'
    harness.chain().intercept(async ({ body }) => {
      const asked = [JSON.parse(body.toString())].flat()
      const isAsked = asked.some(({ method }) =>
        method === 'eth_call' ? body.includes(address.slice(2)) : body.includes(blockHash),
      )
      if (!isAsked) return 'forward'
      const error = { code: -32000, message: 'busy' }
      return { body: JSON.stringify(asked.map(({ id }) => ({ jsonrpc: '2.0', id, error }))) }
    })
    const id = await revertAt(address)
    await until(async () => (await transactionOf(id)).state === 'FAILED', 'it has failed')
    blockHash = (await transactionOf(id)).blockHash
    return id
  }

  it('has the reason that is read after the block was applied', async () => {
    const id = await revertAt(await acceptingContract())
    await until(async () => failures(id).length === 1, 'the failure is reported')
    expect(about(id).at(-1)!.notification).toEqual(await transactionOf(id))
    expect(failures(id)[0]!.notification.errorDetails).toBe(`the call reverts: ${named}`)
  })

  it('precedes that of a reorg when no node has explained it', async () => {
    const id = await unexplained()
    await harness.chain().reorg(2)
    await until(async () => statesOf(id).filter((state) => state === 'SENT').length === 2, 'it is sent again')
    const states = statesOf(id)
    expect(states.slice(states.indexOf('FAILED') - 1).slice(0, 3)).toEqual(['SENT', 'FAILED', 'SENT'])
    expect(failures(id)[0]!.notification).not.toHaveProperty('errorDetails')
  })

  it('property 64: waits for a node for a bounded time, and delays no other meanwhile', async () => {
    const id = await unexplained()
    const { id: later } = await makeTransfer(world)
    await until(async () => statesOf(later).includes('COMPLETE'), 'a later transaction is reported')
    expect(failures(id)).toEqual([])
    harness.clock.moveMs(heldMaxMs)
    await harness.database.run(sql`select pg_notify('queued_events', '')`)
    await until(async () => failures(id).length === 1, 'the failure is reported')
    expect(failures(id)[0]!.notification).not.toHaveProperty('errorDetails')
    harness.chain().intercept(undefined)
    expect((await failed(id)).errorDetails).toBe(`the call reverts: ${named}`)
    expect(failures(id)).toHaveLength(1)
  })
})

describe('a revert is explained without them', () => {
  it('to another entity, which did not import the contract', async () => {
    const address = await placeCode(reverting(refused))
    await importAt(address)
    const other = await harness.newEntity()
    expect((await estimate(address, other.http)).body.message).toContain('custom error 0x')
  })

  it('in one line of bearable length, whatever a contract and its ABI declare', async () => {
    const loud = encodeErrorResult({ abi: errors, errorName: 'Loud', args: ['\u202eA\n'.repeat(4_000)] })
    const address = await placeCode(reverting(loud.slice(0, 2 + 2 * 12_000)))
    await importAt(address)
    const { body } = await estimate(address)
    expect(body.message.length).toBeLessThan(500)
    expect(body.message).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    const short = await placeContract(world)
    await importAt(short, { abiJson: JSON.stringify([{ type: 'error', name: 'Loud', inputs: [] }]) })
    expect((await estimate(short)).status).toBe(200)
  })
})
