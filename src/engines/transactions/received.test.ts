import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unfreeze } from '#custody/freezes/index'
import { proveMoney } from '#engines/treasury/reconciliation/index'
import { actorOn, deployLyingToken } from '#testing/builders/any-tokens'
import { payFrom } from '#testing/builders/screened-sender'
import { tokenActions } from '#testing/builders/token-actions'
import { transferActions } from '#testing/builders/transfers'
import {
  freshAddress,
  makePaymentIntent,
  makeWallet,
  type Wallet,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { screenedAddress } from '#testing/requests/review-requests'

let harness: Harness
let world: World
let client: ReturnType<typeof initiateDeveloperControlledWalletsClient>
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  client = initiateDeveloperControlledWalletsClient({
    apiKey: harness.apiKey,
    entitySecret: harness.entitySecret,
    baseUrl: harness.url,
  })
})
afterAll(() => harness?.close())

const pay = (from: string, to: string, amountAtomic = 1_000_000n) =>
  payFrom(harness.chain(), from, to, amountAtomic)

/** What the wallet received in this transaction, once it is listed. */
async function received(wallet: Wallet, txHash: string) {
  const find = async () =>
    (await tokenActions(world).received(wallet.id)).find((each) => each.txHash === txHash)
  await until(async () => (await find()) !== undefined, 'the transfer is listed')
  return find()
}

const stateOf = async ({ id }: Wallet) => (await world.call('GET', `/v1/w3s/wallets/${id}`)).wallet.state
const decide = async (id: string, verdict: 'approve' | 'deny') =>
  (await harness.http('POST', `/operator/reviews/${id}/${verdict}`, { body: { reason: 'asked the sender' } }))
    .body
const reviewOf = async (id: string) =>
  ((await world.call('GET', '/operator/reviews')) as { id: string; state: string }[]).find(
    (review) => review.id === id,
  )

/** Whether the wallet may send this amount of what it has. */
async function maySend(wallet: Wallet, amount: string): Promise<boolean> {
  const answer = await harness.http('POST', '/v1/w3s/developer/transactions/transfer', {
    body: {
      idempotencyKey: crypto.randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
      walletId: wallet.id,
      tokenId: world.usdcId,
      destinationAddress: freshAddress(),
      amounts: [amount],
      feeLevel: 'MEDIUM',
    },
  })
  if (answer.status !== 201) expect(answer.body.code).toBe(155201)
  return answer.status === 201
}

describe('a transfer to a wallet', () => {
  it.each([
    ['9999', "Circle's Sanctions Blocklist", ['REVIEW', 'FREEZE_WALLET'], 'BLOCKLIST', 'SANCTIONS'],
    ['8888', 'Frozen User Wallet', ['REVIEW'], 'BLOCKLIST', 'FROZEN'],
    ['7777', 'Your blocklist', ['REVIEW'], 'BLOCKLIST', 'UNSUPPORTED'],
    ['8999', 'Severe Sanctions Risk (Owner)', ['REVIEW', 'FREEZE_WALLET'], 'SEVERE', 'SANCTIONS'],
    [
      '8899',
      'Severe Terrorist Financing Risk (Owner)',
      ['REVIEW', 'FREEZE_WALLET'],
      'SEVERE',
      'TERRORIST_FINANCING',
    ],
    ['8889', 'Severe CSAM Risk (Owner)', ['REVIEW', 'FREEZE_WALLET'], 'SEVERE', 'CSAM'],
    [
      '7779',
      'Severe Illicit Behavior Risk (Owner)',
      ['REVIEW', 'FREEZE_WALLET'],
      'SEVERE',
      'ILLICIT_BEHAVIOR',
    ],
    ['7666', 'High Illicit Behavior Risk (Owner)', ['REVIEW'], 'HIGH', 'ILLICIT_BEHAVIOR'],
    ['7766', 'High Gambling Risk (Owner)', ['REVIEW'], 'HIGH', 'GAMBLING'],
  ])('from …%s shows %s without DENY', async (digits, ruleName, actions, riskScore, category) => {
    const wallet = await makeWallet(world)
    const sender = screenedAddress(digits)
    const shown = await received(wallet, await pay(sender, wallet.address))
    const { transaction } = (await client.getTransaction({ id: shown.id })).data!
    expect(transaction!.transactionScreeningEvaluation).toMatchObject({
      ruleName,
      actions,
      reasons: [{ sourceValue: sender, riskScore, riskCategories: [category], type: 'OWNERSHIP' }],
    })
    expect(await reviewOf(shown.id)).toMatchObject({ resource: 'transaction', state: 'pending', ruleName })
    const wanted = actions.includes('FREEZE_WALLET') ? 'FROZEN' : 'LIVE'
    await until(async () => (await stateOf(wallet)) === wanted, `the wallet is ${wanted}`)
  })

  it('freezes the wallet once, and not again after an operator unfroze it', async () => {
    const wallet = await makeWallet(world)
    await received(wallet, await pay(screenedAddress('9999'), wallet.address))
    await until(async () => (await stateOf(wallet)) === 'FROZEN', 'the wallet is frozen')
    const scope = { db: harness.database, clock: harness.ctx.clock, actor: 'operator' }
    await unfreeze(scope, { entityId: harness.entityId, walletId: wallet.id })
    await received(wallet, await harness.chain().send(wallet.address, 1n, 'USDC'))
    expect(await stateOf(wallet)).toBe('LIVE')
  })

  it('property 74: under review cannot be spent, while other money of the wallet can', async () => {
    const wallet = await transferActions(harness).fundedWallet()
    const { id } = await received(wallet, await pay(screenedAddress('7666'), wallet.address, 5_000_000n))
    const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${wallet.id}/balances`)
    const own = tokenBalances.find((each: { token: { symbol: string } }) => each.token.symbol === 'USDC')
    const free = (Number(own.amount) - 5).toString()
    expect(await maySend(wallet, (Number(free) + 0.000001).toFixed(6))).toBe(false)
    expect((await decide(id, 'deny')).data.state).toBe('denied')
    expect(await maySend(wallet, (Number(free) + 0.000001).toFixed(6))).toBe(false)
    expect((await decide(id, 'deny')).code).toBe(280004)
    expect((await decide(id, 'approve')).data.state).toBe('approved')
    expect(await maySend(wallet, (Number(free) + 0.000001).toFixed(6))).toBe(true)
    expect((await decide(id, 'deny')).code).toBe(280004)
  })

  it('a received transfer that a reorg removes is reviewed no longer and holds nothing', async () => {
    const wallet = await makeWallet(world)
    const { id, blockHeight } = await received(wallet, await pay(screenedAddress('7666'), wallet.address))
    await harness.chain().reorg((await harness.chain().height()) - blockHeight + 1)
    await until(async () => (await reviewOf(id))?.state === 'withdrawn', 'the review is withdrawn')
    expect((await decide(id, 'approve')).code).toBe(280004)
    expect(await transferActions(harness).held(wallet)).toBe(0n)
  })

  it('property 74: whose sender anyone can name is not screened', async () => {
    const wallet = await makeWallet(world)
    const lying = await deployLyingToken(harness.chain())
    const forged = [screenedAddress('9999'), wallet.address] as const
    await lying.call('transferFrom', [...forged, 5n])
    const nothing = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transferFrom',
      args: [...(forged as readonly [Hex, Hex]), 0n],
    })
    await actorOn(harness.chain())({ to: harness.chain().tokens.USDC as Hex, data: nothing })
    await tokenActions(world).indexed()
    const shown = await tokenActions(world).received(wallet.id, { includeAll: 'true' })
    expect(shown.map((each) => each.transactionScreeningEvaluation)).toEqual([undefined, undefined])
    expect(await stateOf(wallet)).toBe('LIVE')
  })
})

describe('a deposit', () => {
  const balance = async () => {
    const { available } = await world.call('GET', '/v1/businessAccount/balances')
    return available.find((each: { currency: string }) => each.currency === 'USD')?.amount ?? '0.00'
  }
  const gaps = async () => (await proveMoney(harness.database)).gaps

  it('property 74: under review is credited once an operator approves it, also after a denial', async () => {
    const { id: intentId, depositAddress } = await makePaymentIntent(world)
    const before = Number(await balance())
    const hashes = await Promise.all([
      pay(screenedAddress('7666'), depositAddress),
      pay(screenedAddress('9999'), depositAddress, 2_000_000n),
    ])
    const find = async () =>
      (await world.call('GET', `/v1/payments?paymentIntentId=${intentId}`)) as {
        id: string
        transactionHash: string
      }[]
    await until(async () => (await find()).length === 2, 'the payments are listed')
    const [small, large] = await Promise.all(
      hashes.map(async (hash) => (await find()).find(({ transactionHash }) => transactionHash === hash)!.id),
    )
    const read = (id: string | undefined) => world.call('GET', `/v1/payments/${id}`)
    await harness.chain().mine(20)
    expect(await read(small)).toMatchObject({
      status: 'pending',
      riskEvaluation: { decision: 'review', reason: null },
    })
    expect(await reviewOf(small!)).toMatchObject({ resource: 'payment', state: 'pending' })
    expect(await gaps()).toEqual([])

    expect((await decide(small!, 'approve')).data.state).toBe('approved')
    expect(await read(small)).toMatchObject({
      status: 'paid',
      riskEvaluation: { decision: 'approved', reason: '1000' },
    })
    expect(Number(await balance())).toBe(before + 1)

    expect((await decide(large!, 'deny')).data.state).toBe('denied')
    expect(await read(large)).toMatchObject({
      status: 'failed',
      riskEvaluation: { decision: 'denied', reason: '3000' },
    })
    expect([Number(await balance()), await gaps()]).toEqual([before + 1, []])

    expect((await decide(large!, 'approve')).data.state).toBe('approved')
    expect((await read(large)).status).toBe('paid')
    expect([Number(await balance()), await gaps()]).toEqual([before + 3, []])
  })

  it('to an address of the account is reviewed as a transfer', async () => {
    const { address } = await world.call('POST', '/v1/businessAccount/wallets/addresses/deposit', {
      idempotencyKey: crypto.randomUUID(),
      currency: 'USD',
      chain: 'BASE',
    })
    const hash = await pay(screenedAddress('7766'), address)
    const find = async () =>
      (
        (await world.call('GET', '/v1/businessAccount/transfers')) as {
          id: string
          transactionHash: string
        }[]
      ).find(({ transactionHash }) => transactionHash === hash)
    await until(async () => (await find()) !== undefined, 'the transfer is listed')
    await harness.chain().mine(20)
    const waiting = (await find())!
    expect(waiting).toMatchObject({
      status: 'running',
      riskEvaluation: { decision: 'review', reason: null },
    })
    await decide(waiting.id, 'deny')
    expect(await find()).toMatchObject({
      status: 'failed',
      errorCode: 'transfer_denied',
      riskEvaluation: { decision: 'denied', reason: '3000' },
    })
    await decide(waiting.id, 'approve')
    expect(await find()).toMatchObject({ status: 'complete', riskEvaluation: { decision: 'approved' } })
    expect(await gaps()).toEqual([])
  })
})
