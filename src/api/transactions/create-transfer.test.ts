import { randomUUID } from 'node:crypto'
import { initiateDeveloperControlledWalletsClient } from 'developer-controlled-wallets-10-8'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatAmount } from '#lib/amounts'
import {
  freshAddress,
  makeWallet,
  placeContract,
  type Wallet,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

const path = '/v1/w3s/developer/transactions/transfer'
let harness: Harness
let world: World
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallet = await world.fundedWallet()
})
afterAll(() => harness?.close())

const bodyOf = async (changes: Record<string, unknown> = {}) => ({
  idempotencyKey: randomUUID(),
  entitySecretCiphertext: await harness.sealSecret(),
  walletId: wallet.id,
  tokenId: world.usdcId,
  destinationAddress: freshAddress(),
  amounts: ['1.5'],
  feeLevel: 'MEDIUM',
  ...changes,
})

const send = async (changes: Record<string, unknown> = {}) =>
  harness.http('POST', path, { body: await bodyOf(changes) })

async function finished(id: string) {
  const read = async () => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
  await until(async () => ['COMPLETE', 'FAILED'].includes((await read()).state), `transaction ${id} ends`)
  return read()
}

describe('a transfer', () => {
  it('moves exactly its value on chain and records every state', async () => {
    const destinationAddress = freshAddress()
    const created = await send({ destinationAddress, refId: 'order 7' })
    expect(created.status).toBe(201)
    expect(created.body.data.state).toBe('INITIATED')
    const transaction = await finished(created.body.data.id)
    expect(transaction).toMatchObject({
      state: 'COMPLETE',
      amounts: ['1.5'],
      amountInUSD: '1.5',
      refId: 'order 7',
      nfts: null,
      feeLevel: 'MEDIUM',
    })
    // The price of its coin at that time is not known here.
    expect(transaction).not.toHaveProperty('networkFeeInUSD')
    const { USDC } = harness.chain().tokens
    await harness
      .chain()
      .oracle.checkMovedOnce([{ to: destinationAddress, token: USDC, amountAtomic: 1_500_000n }])
    const events = await harness.database.all<{ type: string }>({
      text: ['select type from events where resource_id = ', ' order by create_date, id'],
      values: [transaction.id],
    })
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set(
        ['initiated', 'cleared', 'queued', 'sent', 'confirmed', 'complete'].map(
          (state) => `transaction.${state}`,
        ),
      ),
    )
  })

  it('sends the native coin when no token is named', async () => {
    const destinationAddress = freshAddress()
    const created = await send({ tokenId: undefined, amounts: ['0.25'], destinationAddress })
    expect((await finished(created.body.data.id)).state).toBe('COMPLETE')
    expect(await harness.chain().oracle.balanceOf(destinationAddress)).toBe(250_000_000_000_000_000n)
  })

  it('shows dollars for USDC alone, paid and received', async () => {
    const payee = await makeWallet(world)
    await harness.chain().send(wallet.address, 3_000_000n, 'EURC')
    const eurc = () =>
      world.call('GET', `/v1/w3s/wallets/${wallet.id}/balances?tokenAddress=${harness.chain().tokens.EURC}`)
    await until(async () => (await eurc()).tokenBalances.length > 0, 'the EURC arrives')
    const eurcId = (await eurc()).tokenBalances[0].token.id
    const changes = [
      { amounts: ['0.75'] },
      { tokenId: eurcId, amounts: ['2'] },
      { tokenId: undefined, amounts: ['0.001'] },
    ]
    for (const change of changes) {
      const { body } = await send({ destinationAddress: payee.address, ...change })
      await finished(body.data.id)
    }
    const client = initiateDeveloperControlledWalletsClient({
      apiKey: harness.apiKey,
      entitySecret: harness.entitySecret,
      baseUrl: harness.url,
    })
    const received = async () =>
      (await client.listTransactions({ walletIds: [payee.id] })).data?.transactions ?? []
    await until(async () => (await received()).length === 3, 'the transfers are received')
    const shown = (await received()).map(({ amounts, amountInUSD }) => [amounts?.[0], amountInUSD])
    expect(shown.toSorted()).toEqual([
      ['0.001', undefined],
      ['0.75', '0.75'],
      ['2', undefined],
    ])
  })

  it('accepts every fee mode', async () => {
    const modes = [
      { feeLevel: 'LOW' },
      { feeLevel: 'HIGH', gasLimit: '90000' },
      { feeLevel: undefined, gasLimit: '90000', maxFee: '5.5', priorityFee: '1.25' },
    ]
    const sent = await Promise.all(modes.map(send))
    for (const [index, { body }] of sent.entries())
      expect((await finished(body.data.id)).state, JSON.stringify(modes[index])).toBe('COMPLETE')
  })

  it('fails with the reason when the chain reverts it, and releases the amount', async () => {
    const before = await availableUsdc()
    // A gas limit that is enough to be sent and too low to succeed.
    const created = await send({ gasLimit: '30000' })
    const transaction = await finished(created.body.data.id)
    expect(transaction).toMatchObject({ state: 'FAILED', errorReason: 'FAILED_ON_CHAIN' })
    expect(await availableUsdc()).toBe(before)
  })

  it('fails with the reason when the wallet cannot pay its gas', async () => {
    const poor = await makeWallet(world)
    await harness.fundWallet(poor.address, { usdc: '5' })
    await until(async () => {
      const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${poor.id}/balances`)
      return tokenBalances.length > 0
    }, 'the poor wallet shows its coins')
    const created = await send({ walletId: poor.id })
    expect(created.status).toBe(201)
    expect(await finished(created.body.data.id)).toMatchObject({
      state: 'FAILED',
      errorReason: 'INSUFFICIENT_NATIVE_TOKEN',
    })
  })

  it('counts coins that a test node added without a transfer', async () => {
    const rich = await makeWallet(world)
    await harness.chain().rpc('anvil_setBalance', [rich.address, '0xde0b6b3a7640000'])
    await harness.chain().mine(1)
    const created = await send({ walletId: rich.id, tokenId: undefined, amounts: ['0.5'] })
    expect(created.status, created.text).toBe(201)
    expect((await finished(created.body.data.id)).state).toBe('COMPLETE')
  })

  const payable = isDeep ? 20 : 6

  it(`lets exactly as many of ${2 * payable} transfers at once through as the wallet can pay`, async () => {
    const payer = await makeWallet(world)
    await harness.fundWallet(payer.address, { usdc: String(payable), native: '1' })
    await until(async () => {
      const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${payer.id}/balances`)
      return tokenBalances.length >= 2
    }, 'the payer shows its coins')
    const answers = await Promise.all(
      Array.from({ length: 2 * payable }, () => send({ walletId: payer.id, amounts: ['1'] })),
    )
    const accepted = answers.filter(({ status }) => status === 201)
    expect(accepted.length).toBe(payable)
    expect(answers.filter(({ body }) => body.code === 155201).length).toBe(payable)
    for (const { body } of accepted) expect((await finished(body.data.id)).state).toBe('COMPLETE')
    expect(await harness.chain().oracle.balanceOf(payer.address, harness.chain().tokens.USDC)).toBe(0n)
    await harness.chain().oracle.checkNonces(payer.address)
  })

  it('is sent again with the same bytes when its block is orphaned', async () => {
    const destinationAddress = freshAddress()
    const created = await send({ destinationAddress })
    const first = await finished(created.body.data.id)
    await harness.chain().reorg(3)
    await until(async () => {
      const { transaction } = await world.call('GET', `/v1/w3s/transactions/${first.id}`)
      return transaction.state === 'COMPLETE' && transaction.blockHash !== first.blockHash
        ? transaction
        : undefined
    }, 'the transfer is in another block')
    const { USDC } = harness.chain().tokens
    await harness
      .chain()
      .oracle.checkMovedOnce([{ to: destinationAddress, token: USDC, amountAtomic: 1_500_000n }])
  })

  it('is not refused for coins that just left: a block may be booked before its holds are resolved', async () => {
    const chain = harness.chain()
    const payer = await makeWallet(world)
    await harness.fundWallet(payer.address, { usdc: '1000', native: '1' })
    await until(async () => {
      const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${payer.id}/balances`)
      return tokenBalances.length === 2
    }, 'the funds have arrived')
    const leastAtomic = 1_000_000_000n >> BigInt(isDeep ? 24 : 6)
    for (let leftAtomic = 1_000_000_000n; leftAtomic > leastAtomic; ) {
      const half = leftAtomic / 2n
      const { status, text } = await send({ walletId: payer.id, amounts: [formatAmount(half, 6)] })
      expect(status, text).toBe(201)
      leftAtomic -= half
      const owned = () => chain.oracle.balanceOf(payer.address, chain.tokens.USDC)
      await until(async () => (await owned()) === leftAtomic, 'it has left')
    }
  })
})

async function availableUsdc(): Promise<string> {
  const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${wallet.id}/balances`)
  return tokenBalances.find((balance: { token: { symbol: string } }) => balance.token.symbol === 'USDC')
    .amount
}

/** The request fields, the documented code, and the field that the answer must name. */
const refusals: [string, Record<string, unknown>, number, string?][] = [
  ['an address that is too short', { destinationAddress: '0x1234' }, 155219, 'destinationAddress'],
  [
    'a wrong checksum',
    { destinationAddress: '0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266' },
    155219,
    'destinationAddress',
  ],
  ['the zero address', { destinationAddress: `0x${'0'.repeat(40)}` }, 155219, 'destinationAddress'],
  [
    'the token itself',
    { destinationAddress: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
    155219,
    'destinationAddress',
  ],
  [
    'the contract of another token',
    { destinationAddress: '0x808456652fdb597867f38412077A9182bf77359F' },
    155219,
    'destinationAddress',
  ],
  ['nothing', { amounts: ['0'] }, 155221, 'amounts[0]'],
  ['less than nothing', { amounts: ['-1'] }, 155224, 'amounts[0]'],
  ['an exponent', { amounts: ['1e3'] }, 155224, 'amounts[0]'],
  ['seven digits after the point', { amounts: ['1.0000001'] }, 155221, 'amounts[0]'],
  ['a number instead of text', { amounts: [1] }, 2, 'amounts[0]'],
  ['two amounts', { amounts: ['1', '1'] }, 155221, 'amounts'],
  ['more than there is', { amounts: ['1000000'] }, 155201, 'amounts[0]'],
  ['an unknown token', { tokenId: randomUUID() }, 156002],
  ['a token of another chain', { tokenId: '5797fbd6-3795-519d-84ca-ec4c5f80c3b1' }, 156002],
  ['an unlisted token', { tokenId: undefined, tokenAddress: `0x${'ab'.repeat(20)}` }, 156031, 'tokenAddress'],
  ['an unknown wallet', { walletId: randomUUID() }, 156001],
  ['a wallet id that is none', { walletId: 'x' }, 2, 'walletId'],
  ['two ways to name the wallet', { walletAddress: `0x${'ab'.repeat(20)}` }, 155244, 'walletAddress'],
  ['no fee at all', { feeLevel: undefined }, 155231, 'feeLevel'],
  ['a level and a price', { maxFee: '1' }, 155234, 'maxFee'],
  ['too little gas', { gasLimit: '20999' }, 155233, 'gasLimit'],
  ['too little gas for its call', { gasLimit: '21000' }, 155233, 'gasLimit'],
  ['a gas limit without prices', { feeLevel: undefined, gasLimit: '90000' }, 155235, 'maxFee'],
  [
    'a tip above the cap',
    { feeLevel: undefined, gasLimit: '90000', maxFee: '1', priorityFee: '2' },
    155237,
    'priorityFee',
  ],
  [
    'a fee of nothing',
    { feeLevel: undefined, gasLimit: '90000', maxFee: '0', priorityFee: '0' },
    155236,
    'maxFee',
  ],
  [
    'a fee above one coin',
    { feeLevel: undefined, gasLimit: '90000000', maxFee: '100', priorityFee: '1' },
    155211,
    'maxFee',
  ],
  ['NFTs', { nftTokenIds: ['1'] }, 2, 'nftTokenIds'],
]

describe('a transfer is refused, and nothing changes, when it names', () => {
  it.each(refusals)('%s', async (_, changes, code, location) => {
    const count = async () =>
      (
        await harness.database.one<{ n: number }>({
          text: ['select count(*) as n from transactions'],
          values: [],
        })
      ).n
    const before = await count()
    const { status, body } = await send(changes)
    expect([body.code, status >= 400 && status < 500], JSON.stringify(body)).toEqual([code, true])
    if (location) expect(body.errors[0].location).toBe(location)
    expect(await count()).toBe(before)
  })
})

describe('fees', () => {
  it('are estimated at three levels for any sender', async () => {
    const zero = `0x${'0'.repeat(40)}`
    const blockchain = 'BASE-SEPOLIA'
    const asked = { amounts: ['0'], sourceAddress: zero, destinationAddress: zero, blockchain }
    const { low, medium, high } = await world.call('POST', '/v1/w3s/transactions/transfer/estimateFee', asked)
    expect(low.gasLimit).toBe('21000')
    expect(
      [low, medium, high].every(
        (tier) => Number(tier.networkFeeRaw) > 0 && Number(tier.networkFee) >= Number(tier.networkFeeRaw),
      ),
    ).toBe(true)
    expect(Number(high.priorityFee)).toBeGreaterThanOrEqual(Number(low.priorityFee))
    const parameters = await world.call(
      'GET',
      `/v1/w3s/developer/transactions/feeParameters?blockchain=${blockchain}`,
    )
    expect(parameters.medium.gasLimit).toBeUndefined()
  })

  it('name that for data on the parent chain, where its oracle answers', async () => {
    const sourceAddress = `0x${'0'.repeat(40)}`
    const asked = { sourceAddress, blockchain: 'BASE-SEPOLIA', destinationAddress: sourceAddress }
    const feesOf = async (fields: object, path = 'transfer'): Promise<(string | undefined)[]> => {
      const tiers = await world.call('POST', `/v1/w3s/transactions/${path}/estimateFee`, fields)
      return ['low', 'medium', 'high'].map((tier) => tiers[tier].l1Fee)
    }
    const transfer = { ...asked, amounts: ['0'] }
    const none = [undefined, undefined, undefined]
    const become = (code: string) =>
      harness.chain().rpc('anvil_setCode', ['0x420000000000000000000000000000000000000f', code])
    expect(await feesOf(transfer)).toEqual(none)
    // A gwei for each byte of the call to the oracle.
    await become('0x36633b9aca000260005260206000f3')
    const bytes = (fees: (string | undefined)[]) => fees.map((fee) => Math.round(Number(fee) * 1e9))
    const [low, ...others] = bytes(await feesOf(transfer))
    expect(low).toBeGreaterThan(100)
    expect(others).toEqual([low, low])
    const { destinationAddress: _, ...from } = asked
    const call = { ...from, contractAddress: await placeContract(world), callData: `0x${'ab'.repeat(640)}` }
    const [longer] = bytes(await feesOf(call, 'contractExecution'))
    expect(longer! - low!).toBeGreaterThanOrEqual(640)
    expect(longer! - low!).toBeLessThan(700)
    await become('0x60006000fd')
    expect(await feesOf(transfer)).toEqual(none)
    await become('0x')
  })
})
