import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { issuerAccount } from '#sandbox/constants'
import { internalPayerAbi, internalPayerBytecode } from '#testing/artifacts/internal-payer'
import { freshAddress, makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

const path = '/v1/w3s/developer/transactions/contractExecution'
const estimatePath = '/v1/w3s/transactions/contractExecution/estimateFee'
let harness: Harness
let world: World
let wallet: Wallet
let payer: string
let usdc: string
let client: ReturnType<typeof initiateDeveloperControlledWalletsClient>

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallet = await world.fundedWallet()
  usdc = harness.chain().tokens.USDC.toLowerCase()
  payer = await deploy(internalPayerBytecode)
  const { apiKey, entitySecret, url } = harness
  client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl: url })
})
afterAll(() => harness?.close())

async function deploy(data: string): Promise<string> {
  const { rpc, outsider } = harness.chain()
  const hash = await rpc('eth_sendTransaction', [{ from: outsider, data, gas: '0x2dc6c0' }])
  let address: string | undefined
  await until(async () => {
    const receipt = await rpc<{ contractAddress: string } | null>('eth_getTransactionReceipt', [hash])
    address = receipt?.contractAddress
    return address !== undefined
  }, 'the contract is there')
  return address!
}

const send = async (changes: Record<string, unknown>) =>
  harness.http('POST', path, {
    body: {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
      walletId: wallet.id,
      contractAddress: usdc,
      feeLevel: 'MEDIUM',
      ...changes,
    },
  })

const estimate = (body: Record<string, unknown>) =>
  harness.http('POST', estimatePath, { body: { walletId: wallet.id, contractAddress: usdc, ...body } })

async function accepted(changes: Record<string, unknown>): Promise<string> {
  const { status, text, body } = await send(changes)
  expect(status, text).toBe(201)
  return body.data.id
}

const read = async (id: string) => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction

async function ended(id: string) {
  const isOver = async () => {
    const { state, errorDetails } = await read(id)
    return state === 'COMPLETE' || (state === 'FAILED' && errorDetails !== undefined)
  }
  await until(isOver, `transaction ${id} ends`)
  return read(id)
}

const transferOf = (to: string, amount: unknown) => ({
  abiFunctionSignature: 'transfer(address,uint256)',
  abiParameters: [to, amount],
})

/** Sends a call as the issuer of the stablecoin. */
async function asIssuer(data: string, priority = false): Promise<void> {
  const { rpc } = harness.chain()
  await rpc('anvil_setBalance', [issuerAccount.address, '0xde0b6b3a7640000'])
  await rpc('anvil_impersonateAccount', [issuerAccount.address])
  const fees = priority ? { maxFeePerGas: '0x2540be400', maxPriorityFeePerGas: '0x2540be400' } : {}
  await rpc('eth_sendTransaction', [{ from: issuerAccount.address, to: usdc, gas: '0x30d40', data, ...fees }])
  await rpc('anvil_stopImpersonatingAccount', [issuerAccount.address])
}
const pause = '0x8456cb59'
const unpause = '0x3f4ba83a'
const blocklist = (selector: string, address: string) => `${selector}${address.slice(2).padStart(64, '0')}`

describe('a contract execution', () => {
  it('by signature and parameters executes the call, through the published client', async () => {
    const { oracle, tokens } = harness.chain()
    const to = freshAddress()
    const created = await client.createContractExecutionTransaction({
      walletId: wallet.id,
      contractAddress: usdc,
      ...transferOf(to, '2500000'),
      fee: { type: 'level', config: { feeLevel: 'MEDIUM' } },
      refId: 'call 1',
    })
    expect([created.status, created.data?.state]).toEqual([201, 'INITIATED'])
    const { data } = await client.getTransaction({
      id: created.data!.id,
      waitForState: 'COMPLETE',
      pollingInterval: 50,
    })
    expect(data?.transaction).toMatchObject({
      operation: 'CONTRACT_EXECUTION',
      contractAddress: usdc,
      abiFunctionSignature: 'transfer(address,uint256)',
      abiParameters: [to, '2500000'],
      sourceAddress: wallet.address,
      refId: 'call 1',
      state: 'COMPLETE',
    })
    expect(data?.transaction).not.toHaveProperty('tokenId')
    expect(data?.transaction).not.toHaveProperty('destinationAddress')
    await oracle.checkMovedOnce([{ to: to as `0x${string}`, token: tokens.USDC, amountAtomic: 2_500_000n }])
    const { transactions } = await world.call('GET', '/v1/w3s/transactions?operation=CONTRACT_EXECUTION')
    expect(transactions.map(({ id }: { id: string }) => id)).toContain(created.data!.id)
  })

  it('by data sends native coins, which are held until then', async () => {
    const payee = freshAddress()
    const callData = encodeFunctionData({
      abi: internalPayerAbi,
      functionName: 'pay',
      args: [payee as `0x${string}`],
    })
    const { walletAddress, blockchain } = { walletAddress: wallet.address, blockchain: wallet.blockchain }
    const id = await accepted({
      walletId: undefined,
      walletAddress,
      blockchain,
      contractAddress: payer,
      callData,
      amount: '0.125',
    })
    const transaction = await ended(id)
    expect(transaction).toMatchObject({ state: 'COMPLETE', amounts: ['0.125'], contractAddress: payer })
    expect(transaction).not.toHaveProperty('abiFunctionSignature')
    expect(transaction.abiParameters).toBeNull()
    const owned = await harness.chain().rpc<string>('eth_getBalance', [payee, 'latest'])
    expect(BigInt(owned)).toBe(125_000_000_000_000_000n)
  })

  it('answers 200 when repeated with its idempotency key', async () => {
    const body = { idempotencyKey: randomUUID(), ...transferOf(freshAddress(), 1) }
    const first = await send(body)
    const again = await send(body)
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body.data.id).toBe(first.body.data.id)
    expect((await send({ ...body, ...transferOf(freshAddress(), 1) })).body.code).toBe(156020)
  })

  it('waits for earlier requests: an approval and the call that needs it', async () => {
    const { oracle, tokens } = harness.chain()
    const to = freshAddress()
    await harness.stopEngines()
    const approval = await accepted({
      abiFunctionSignature: 'approve(address,uint256)',
      abiParameters: [wallet.address, '70'],
    })
    const use = await accepted({
      abiFunctionSignature: 'transferFrom(address,address,uint256)',
      abiParameters: [wallet.address, to, '70'],
    })
    harness.startEngines()
    expect([(await ended(approval)).state, (await ended(use)).state]).toEqual(['COMPLETE', 'COMPLETE'])
    await oracle.checkMovedOnce([{ to: to as `0x${string}`, token: tokens.USDC, amountAtomic: 70n }])
  })
})

describe('a call that reverts while an earlier one is pending', () => {
  it('does not fail before the earlier one is mined', async () => {
    const { setAutomine, mine, intercept } = harness.chain()
    // A node that answers only from mined blocks, as most do.
    intercept(async ({ body }) => {
      const asked = JSON.parse(body.toString())
      if (asked.method !== 'eth_estimateGas' || !asked.params[0].data.startsWith('0x23b872dd'))
        return 'forward'
      return {
        body: JSON.stringify({ jsonrpc: '2.0', id: asked.id, error: { code: 3, message: 'reverted' } }),
      }
    })
    await setAutomine(false)
    try {
      const earlier = await accepted(transferOf(freshAddress(), '1'))
      await until(async () => (await read(earlier)).state === 'SENT', 'the earlier one is sent')
      const later = await accepted({
        abiFunctionSignature: 'transferFrom(address,address,uint256)',
        abiParameters: [wallet.address, freshAddress(), '1'],
      })
      await until(async () => (await read(later)).state === 'CLEARED', 'the later one waits')
      await sleep(1_500)
      expect((await read(later)).state).toBe('CLEARED')
      await mine()
      expect((await ended(earlier)).state).toBe('COMPLETE')
      expect(await ended(later)).toMatchObject({ state: 'FAILED', errorReason: 'ESTIMATION_ERROR' })
    } finally {
      intercept(undefined)
      await setAutomine(true)
    }
  })
})

describe('a call that reverts', () => {
  const reverts: [string, () => Record<string, unknown>, RegExp][] = [
    ['a reason', () => transferOf(freshAddress(), '9000000000'), /"ERC20: transfer amount exceeds balance"/],
    [
      'a panic',
      () => ({ contractAddress: payer, abiFunctionSignature: 'payMany(address[])', abiParameters: [[]] }),
      /panic 0x12, division by zero/,
    ],
    [
      'an error of its own',
      () => ({
        contractAddress: payer,
        abiFunctionSignature: 'payThenFail(address)',
        abiParameters: [freshAddress()],
      }),
      /custom error 0x[0-9a-f]{8}, with 32 bytes/,
    ],
    ['nothing', () => ({ callData: '0xdeadbeef' }), /no reason is given/],
  ]

  it.each(reverts)(
    'with %s fails before it is signed, and an estimate says the same',
    async (_, fields, said) => {
      const asked = fields()
      const estimated = await estimate(asked)
      expect([estimated.status, estimated.body.code]).toEqual([400, 155208])
      expect(estimated.body.message).toMatch(said)
      const fees = [{}, { feeLevel: 'HIGH', gasLimit: '200000' }]
      const ids = await Promise.all(fees.map((fee) => accepted({ ...asked, ...fee })))
      for (const id of ids) {
        const transaction = await ended(id)
        expect(transaction).toMatchObject({ state: 'FAILED', errorReason: 'ESTIMATION_ERROR' })
        expect(transaction.errorDetails).toMatch(said)
        expect(transaction).not.toHaveProperty('txHash')
      }
    },
  )

  it('because of the issuer reports a stable reason', async () => {
    await asIssuer(blocklist('0xf9f92be4', wallet.address))
    const transaction = await ended(await accepted(transferOf(freshAddress(), '1')))
    await asIssuer(blocklist('0x1a895266', wallet.address))
    expect(transaction.errorDetails).toMatch(/the token has blocklisted an account of this call/)
    await asIssuer(pause)
    const paused = await ended(await accepted(transferOf(freshAddress(), '1')))
    await asIssuer(unpause)
    expect(paused.errorDetails).toMatch(/the token is paused/)
  })

  it('in its block reports the reason from a repeated node call', async () => {
    const { setAutomine, mine } = harness.chain()
    await setAutomine(false)
    try {
      const id = await accepted(transferOf(freshAddress(), '1'))
      await until(async () => (await read(id)).state === 'SENT', 'it is sent')
      await asIssuer(pause, true)
      await mine()
      const transaction = await ended(id)
      expect(transaction).toMatchObject({ state: 'FAILED', errorReason: 'FAILED_ON_CHAIN' })
      expect(transaction.errorDetails).toMatch(/the token is paused/)
      expect(transaction.blockHash).toMatch(/^0x/)
    } finally {
      await setAutomine(true)
      await asIssuer(unpause)
    }
    const starved = await ended(await accepted({ ...transferOf(freshAddress(), '1'), gasLimit: '30000' }))
    expect(starved).toMatchObject({ state: 'FAILED', errorReason: 'FAILED_ON_CHAIN' })
    expect(starved.errorDetails).toMatch(/runs out of gas/)
  })
})

describe('a backlog of calls', () => {
  it('is simulated one by one: only reverting calls fail', async () => {
    await harness.stopEngines()
    const ids: string[] = []
    const backlog = isDeep ? 24 : 8
    for (let count = 0; count < backlog; count++) ids.push(await accepted(transferOf(freshAddress(), '1')))
    const bad = await accepted(transferOf(freshAddress(), '9000000000'))
    const hungry = await accepted({
      contractAddress: payer,
      abiFunctionSignature: 'payMany(address[])',
      abiParameters: [Array.from({ length: 40 }, freshAddress)],
      amount: '0.0004',
    })
    harness.startEngines()
    for (const id of [...ids, hungry]) expect((await ended(id)).state).toBe('COMPLETE')
    expect(await ended(bad)).toMatchObject({ state: 'FAILED', errorReason: 'ESTIMATION_ERROR' })
  })
})

describe('its amount', () => {
  it('is refused above the available balance, which excludes pending amounts', async () => {
    const poor = await makeWallet(world)
    await harness.fundWallet(poor.address, { native: '1' })
    const pay = { walletId: poor.id, contractAddress: payer, callData: '0x' }
    await until(async () => (await send({ ...pay, amount: '0.6' })).status === 201, 'the coins are there')
    const more = await send({ ...pay, amount: '0.6' })
    expect([more.status, more.body.code, more.body.errors[0].location]).toEqual([400, 155201, 'amount'])
  })
})

describe('a fee estimate', () => {
  it('is given for any sender, through the published client', async () => {
    const { data } = await client.estimateContractExecutionFee({
      source: { sourceAddress: harness.chain().outsider, blockchain: 'BASE-SEPOLIA' },
      contractAddress: usdc,
      ...transferOf(freshAddress(), '0'),
    })
    expect(Number(data?.medium?.gasLimit)).toBeGreaterThan(21_000)
    expect(Number(data?.high?.networkFee)).toBeGreaterThan(0)
  })

  it('requires neither signature nor data', async () => {
    const { status, body } = await estimate({ contractAddress: freshAddress(), amount: '0.1' })
    expect([status, body.data.low.gasLimit]).toEqual([200, '21000'])
    expect((await estimate({ abiParameters: [1] })).body.code).toBe(155230)
    expect((await estimate({ contractAddress: payer, amount: '11', callData: '0x' })).body.code).toBe(155204)
  })
})

/** The request fields, the documented code, and the field that the answer must name. */
const refusals: [string, () => Record<string, unknown>, number, string][] = [
  ['no call', () => ({}), 155230, 'abiFunctionSignature'],
  ['parameters alone', () => ({ abiParameters: [] }), 155230, 'abiFunctionSignature'],
  ['both ways', () => ({ ...transferOf(freshAddress(), 1), callData: '0x' }), 155247, 'callData'],
  ['parameters and data', () => ({ abiParameters: [], callData: '0x' }), 155247, 'callData'],
  ['odd data', () => ({ callData: '0x123' }), 2, 'callData'],
  ['too much data', () => ({ callData: `0x${'00'.repeat(131_072)}` }), 2, 'callData'],
  ['a wrong count', () => ({ abiFunctionSignature: 'a(uint8)' }), 155209, 'abiParameters'],
  ['a wrong value', () => transferOf('0x12', 1), 155209, 'abiParameters[0]'],
  ['no signature', () => ({ abiFunctionSignature: 'pause' }), 155209, 'abiFunctionSignature'],
  [
    'the zero address',
    () => ({ callData: '0x', contractAddress: `0x${'0'.repeat(40)}` }),
    2,
    'contractAddress',
  ],
  ['no address', () => ({ callData: '0x', contractAddress: 'usdc.eth' }), 2, 'contractAddress'],
  ['an amount in words', () => ({ callData: '0x', amount: 'one' }), 155245, 'amount'],
  ['too many digits', () => ({ callData: '0x', amount: '0.0000000000000000001' }), 155245, 'amount'],
  ['a negative amount', () => ({ callData: '0x', amount: '-1' }), 155245, 'amount'],
  ['more than it has', () => ({ callData: '0x', amount: '10000' }), 155201, 'amount'],
  ['no fee', () => ({ callData: '0x', feeLevel: undefined }), 155231, 'feeLevel'],
]

describe('refused, with nothing written:', () => {
  it.each(refusals)('%s', async (_, fields, code, location) => {
    const count = sql`select count(*) as n from transactions where operation = 'CONTRACT_EXECUTION'`
    const before = await harness.database.one<{ n: number }>(count)
    const { status, body } = await send(fields())
    expect([status, body.code, body.errors?.[0]?.location]).toEqual([400, code, location])
    expect(before.n).toBeGreaterThan(0)
    expect(await harness.database.one<{ n: number }>(count)).toEqual(before)
  })

  it('a wallet of a virtual blockchain', async () => {
    const { id } = (
      await world.call('PUT', `/v1/w3s/developer/wallets/${wallet.id}/blockchains/EVM-TESTNET`, {})
    ).wallet
    const { status, body } = await send({ walletId: id, callData: '0x' })
    expect([status, body.code]).toEqual([400, 155510])
  })
})
