import { randomUUID } from 'node:crypto'
import { createWalletClient, encodeFunctionData, type Hex, http, parseAbi, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { devAccounts } from '#sandbox/constants'
import { lyingTokenAbi, lyingTokenBytecode } from '#testing/artifacts/lying-token'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { viemChain } from '#testing/platform/viem-chain'
import { isDeep } from '#testing/runner/size'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness.close())

const erc20 = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])
const transferData = (to: Hex, amountAtomic: bigint) =>
  encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [to, amountAtomic] })
const unit = 1_000_000n
const deposits = isDeep ? 20 : 4

/** An outside payer with a separate key, that signs elsewhere and keeps the bytes. */
const payer = () =>
  createWalletClient({
    account: privateKeyToAccount(devAccounts[3]!.privateKey),
    chain: viemChain,
    transport: http(harness.chain().rpcUrl),
  }).extend(publicActions)

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

const open = async (changes: object = {}): Promise<{ id: string; address: Hex }> => {
  const body = {
    idempotencyKey: randomUUID(),
    currency: 'USD',
    settlementCurrency: 'USD',
    type: 'continuous',
    paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
    ...changes,
  }
  const { data } = (await harness.http('POST', '/v1/paymentIntents', { body })).body
  return { id: data.id, address: data.paymentMethods[0].address }
}
const openTransient = (amount: string, expiresOn = '') =>
  open({ type: 'transient', amount: { amount, currency: 'USD' }, expiresOn })
const intentOf = async (id: string): Promise<Shown> =>
  (await harness.http('GET', `/v1/paymentIntents/${id}`)).body.data
const paymentsOf = async (paymentIntentId: string): Promise<Shown[]> =>
  (await harness.http('GET', '/v1/payments', { query: { paymentIntentId } })).body.data
const paymentAt = async (address: string): Promise<Shown> => {
  const { data } = (await harness.http('GET', '/v1/payments')).body
  return data.find((payment: Shown) => payment.depositAddress.address === address)
}
const settled = async (address: string, status = 'paid'): Promise<Shown> => {
  let payment: Shown
  await until(async () => (payment = await paymentAt(address))?.status === status, `a payment is ${status}`)
  return payment
}
const eventsOf = async (id: string) =>
  (
    await harness.database.all<{ type: string }>(
      sql`select type from events where resource_id = ${id} order by id`,
    )
  ).map(({ type }) => type)
/** Waits until the treasury has followed the whole chain. */
const followed = async () => {
  const height = await harness.chain().height()
  await until(async () => {
    const row = await harness.database.maybe<{ behind: boolean }>(sql`select
      (select coalesce(max(step), 0) from block_steps) > c.step or
      (select max(number) from blocks where canonical) < ${height} as behind
      from step_cursors c where engine = 'treasury'`)
    return row?.behind === false
  }, 'the treasury has followed the chain')
}
const send = (address: Hex, amountAtomic: bigint, token: 'USDC' | 'EURC' = 'USDC') =>
  harness.chain().send(address, amountAtomic, token)

describe('a deposit', () => {
  it('a deposit of any sender becomes a payment, is paid after its confirmations, and is credited to its intent', async () => {
    const { id, address } = await open()
    const hash = await send(address, 2n * unit)
    const payment = await settled(address)
    expect(payment).toEqual({
      id: payment.id,
      type: 'payment',
      status: 'paid',
      amount: { amount: '2.00', currency: 'USD' },
      merchantId: harness.entityId,
      merchantWalletId: expect.stringMatching(/^1000\d{12}$/),
      paymentIntentId: id,
      settlementAmount: { amount: '2.00', currency: 'USD' },
      fees: { amount: '0.00', currency: 'USD' },
      networkFees: { amount: '0.00', currency: 'USD' },
      fromAddresses: { chain: 'BASE', addresses: [harness.chain().outsider.toLowerCase()] },
      depositAddress: { chain: 'BASE', address },
      transactionHash: hash,
      createDate: payment.createDate,
      updateDate: payment.updateDate,
    })
    expect(payment.updateDate).toMatch(/\.\d{3}Z$/)
    expect((await harness.http('GET', `/v1/payments/${payment.id}`)).body.data).toEqual(payment)
    expect(await eventsOf(payment.id)).toEqual(['payment.pending', 'payment.confirmed', 'payment.paid'])
    const intent = await intentOf(id)
    expect(intent.amountPaid).toEqual({ amount: '2.00', currency: 'USD' })
    expect(intent.timeline[0].status).toBe('active')
    expect(intent.fees.map(({ type }: Shown) => type)).toEqual(['blockchainLeaseFee', 'totalPaymentFees'])
  })

  it('is booked to the deposit address, to the base unit', async () => {
    const { address } = await open()
    await send(address, 1_234_567n)
    await settled(address)
    const booked = await harness.database.one<{ posted: bigint }>(
      sql`select posted from accounts where kind = 'address' and address = ${address}`,
    )
    expect(booked.posted).toBe(1_234_567n)
  })

  it('can be repeated: each transfer is a payment, and the intent has the sum', async () => {
    const { id, address } = await open()
    const sum = `0.${String((deposits * (deposits + 1)) / 2)
      .padStart(6, '0')
      .replace(/0+$/, '')}`
    for (let count = 1; count <= deposits; count++) await send(address, BigInt(count))
    await until(async () => (await intentOf(id)).amountPaid.amount === sum, 'all are paid')
    const payments = await paymentsOf(id)
    expect(payments).toHaveLength(deposits)
    expect(new Set(payments.map(({ status }) => status))).toEqual(new Set(['paid']))
  })

  it('in another currency is credited, but matches no intent', async () => {
    const { id, address } = await open()
    await send(address, 5n * unit, 'EURC')
    const payment = await settled(address)
    expect(payment.amount).toEqual({ amount: '5.00', currency: 'EUR' })
    expect(payment).not.toHaveProperty('paymentIntentId')
    expect(await paymentsOf(id)).toEqual([])
    expect((await intentOf(id)).amountPaid.amount).toBe('0.00')
  })

  it('a deposit of EURC pays an intent in EUR', async () => {
    const { id, address } = await open({ currency: 'EUR', settlementCurrency: 'EUR' })
    await send(address, 7n * unit, 'EURC')
    await settled(address)
    expect((await intentOf(id)).amountPaid).toEqual({ amount: '7.00', currency: 'EUR' })
  })

  it('is credited although the engines stop while it arrives', async () => {
    const { id, address } = await open()
    await harness.stopEngines()
    await send(address, unit)
    await harness.chain().mine(isDeep ? 30 : 4)
    harness.startEngines()
    expect((await settled(address)).paymentIntentId).toBe(id)
  })
})

describe('no deposit is', () => {
  const nothingAt = async (address: string) => {
    await followed()
    expect(await paymentAt(address)).toBeUndefined()
  }

  it('a transfer of native coins or of nothing', async () => {
    const { address } = await open()
    await harness.chain().send(address, 10n ** 18n)
    await send(address, 0n)
    await nothingAt(address)
  })

  it('a transfer event of another contract, whatever its symbol', async () => {
    const { address } = await open()
    const client = payer()
    const deployed = await client.deployContract({ abi: lyingTokenAbi, bytecode: lyingTokenBytecode })
    const { contractAddress } = await client.waitForTransactionReceipt({ hash: deployed })
    const forged = [client.account.address, address, 1_000_000n * unit, 3n] as const
    const hash = await client.writeContract({
      address: contractAddress!,
      abi: lyingTokenAbi,
      functionName: 'forge',
      args: forged,
    })
    const receipt = await client.waitForTransactionReceipt({ hash })
    expect(receipt.logs).toHaveLength(3)
    await nothingAt(address)
  })

  it('a transaction that failed', async () => {
    const { address } = await open()
    const client = payer()
    const hash = await client.writeContract({
      address: harness.chain().tokens.USDC as Hex,
      abi: erc20,
      functionName: 'transfer',
      args: [address, 10n ** 30n],
      gas: 200_000n,
    })
    expect((await client.waitForTransactionReceipt({ hash })).status).toBe('reverted')
    await nothingAt(address)
  })
})

describe('a transient intent', () => {
  const contexts = (intent: Shown) => intent.timeline.map(({ status, context }: Shown) => [status, context])

  it('is complete when it is paid in full, and shows an overpayment', async () => {
    const { id, address } = await openTransient('3.00')
    await send(address, unit)
    await settled(address)
    expect((await intentOf(id)).timeline[0].status).toBe('pending')
    await send(address, 2n * unit)
    await until(async () => (await intentOf(id)).timeline[0].status === 'complete', 'it is complete')
    expect((await intentOf(id)).timeline[0].context).toBe('paid')
    await send(address, 1n)
    await until(async () => (await intentOf(id)).timeline[0].context === 'overpaid', 'it is overpaid')
    const intent = await intentOf(id)
    expect(contexts(intent)).toEqual([
      ['complete', 'overpaid'],
      ['complete', 'paid'],
      ['pending', undefined],
      ['created', undefined],
    ])
    expect(intent.amountPaid.amount).toBe('3.000001')
    expect(intent.paymentIds).toHaveLength(3)
    expect(new Set(intent.paymentIds)).toEqual(new Set((await paymentsOf(id)).map((payment) => payment.id)))
    const listed = await harness.http('GET', '/v1/paymentIntents', { query: { context: 'overpaid' } })
    expect(listed.body.data.map((item: Shown) => item.id)).toEqual([id])
  })

  it('closes at its expiry, as expired or as complete with a payment; late money matches no intent', async () => {
    const [empty, part] = [await openTransient('3.00'), await openTransient('3.00')]
    await send(part.address, unit)
    await settled(part.address)
    harness.clock.moveMs(9 * 3_600_000)
    await until(async () => (await intentOf(empty.id)).timeline[0].status === 'expired', 'it is expired')
    await until(async () => (await intentOf(part.id)).timeline[0].status === 'complete', 'it is complete')
    expect((await intentOf(empty.id)).timeline[0].context).toBe('underpaid')
    expect((await intentOf(part.id)).timeline[0].context).toBe('underpaid')
    await send(empty.address, 3n * unit)
    const late = await settled(empty.address)
    expect(late).not.toHaveProperty('paymentIntentId')
    expect(await intentOf(empty.id)).toMatchObject({ amountPaid: { amount: '0.00' }, paymentIds: [] })
    expect(await eventsOf(empty.id)).toEqual([
      'paymentIntent.created',
      'paymentIntent.pending',
      'paymentIntent.expired',
    ])
  })
})

describe('a reorg', () => {
  /** A transfer by another payer that comes first in its block, because its tip is higher. */
  const outbid = (amountAtomic: bigint) => {
    const { outsider, tokens, rpc } = harness.chain()
    const fee = '0x174876e800'
    const data = transferData(payer().account.address, amountAtomic)
    const fees = { gas: '0x30d40', maxFeePerGas: fee, maxPriorityFeePerGas: fee }
    return rpc('eth_sendTransaction', [{ from: outsider, to: tokens.USDC, data, ...fees }])
  }

  /** Signs a payment elsewhere, so that the same bytes can be sent again. */
  const signed = async (address: Hex, amountAtomic: bigint) => {
    const client = payer()
    await send(client.account.address, amountAtomic)
    const request = await client.prepareTransactionRequest({
      to: harness.chain().tokens.USDC as Hex,
      data: transferData(address, amountAtomic),
      gas: 200_000n,
      maxPriorityFeePerGas: 1n,
    })
    const serializedTransaction = await client.signTransaction(request)
    return () => client.sendRawTransaction({ serializedTransaction })
  }

  it('reverts a settled payment, and the same bytes in a later block settle the same payment', async () => {
    const { id, address } = await openTransient('4.00')
    const broadcast = await signed(address, 4n * unit)
    await broadcast()
    const before = await settled(address)
    await until(async () => (await intentOf(id)).timeline[0].status === 'complete', 'it is complete')
    await harness.chain().reorg(1)
    await settled(address, 'pending')
    const waiting = await intentOf(id)
    expect([waiting.amountPaid.amount, waiting.timeline[0].status]).toEqual(['0.00', 'pending'])
    await harness.chain().mine(2)
    // Another transfer goes first, so that the log has another position in its block.
    await harness.chain().setAutomine(false)
    await outbid(1n)
    const hash = await broadcast()
    await harness.chain().mine()
    await harness.chain().setAutomine(true)
    expect((await payer().getTransactionReceipt({ hash })).logs[0]!.logIndex).toBe(1)
    const after = await settled(address)
    expect(after.id).toBe(before.id)
    expect((await paymentsOf(id)).map((payment) => payment.id)).toEqual([before.id])
    await until(async () => (await intentOf(id)).amountPaid.amount === '4.00', 'the intent is paid again')
    expect(await eventsOf(before.id)).toEqual([
      'payment.pending',
      'payment.confirmed',
      'payment.paid',
      'payment.orphaned',
      'payment.pending',
      'payment.confirmed',
      'payment.paid',
    ])
  })

  it('fails a payment that no later block includes, and revives it if one does after all', async () => {
    const { id, address } = await open()
    const broadcast = await signed(address, unit)
    await broadcast()
    const before = await settled(address)
    await harness.chain().reorg(1)
    await settled(address, 'pending')
    await harness.chain().mine(15)
    const failed = await settled(address, 'failed')
    expect(failed).not.toHaveProperty('settlementAmount')
    expect((await intentOf(id)).amountPaid.amount).toBe('0.00')
    await broadcast()
    expect((await settled(address)).id).toBe(before.id)
    expect((await intentOf(id)).amountPaid.amount).toBe('1.00')
  })

  it('property 20: of many blocks leaves payments equal to those of the winning chain', async () => {
    const intents = await Promise.all(Array.from({ length: 4 }, () => open()))
    for (const { address } of intents) await send(address, unit)
    for (const { address } of intents) await settled(address)
    await harness.chain().reorg(2)
    await harness.chain().mine(15)
    for (const { address } of intents.slice(2)) await settled(address, 'failed')
    for (const { id, address } of intents) {
      const onChain = await harness.chain().oracle.transfers({ to: address })
      const sum = onChain.reduce((total, transfer) => total + transfer.amountAtomic, 0n)
      expect((await intentOf(id)).amountPaid.amount).toBe(sum === 0n ? '0.00' : '1.00')
    }
  })
})
