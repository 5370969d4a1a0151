/** The published kits on a chain whose native coin is USDC: messages, unified balances and payments by x402. */
import { BridgeKit } from '@circle-fin/bridge-kit'
import { createUnifiedBalanceKitContext, deposit, spend } from '@circle-fin/unified-balance-kit'
import { BatchEvmScheme, GatewayClient } from '@circle-fin/x402-batching/client'
import type { PaymentRequirements } from '@x402/core/types'
import { toClientEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { createWalletClient, http, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { arcTestnet } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reconcile } from '#engines/indexer/reconciliation/index'
import { devAccounts } from '#sandbox/constants'
import { executeOperation, openModularAccount, usdcPayment } from '#testing/builders/modular-accounts'
import { batchedTerms, unifiedBalances } from '#testing/builders/unified-balances'
import { freshAddress, makeWallet, worldOf } from '#testing/builders/world'
import { facilitatorOf } from '#testing/builders/x402-facilitator'
import { type Harness, openHarness } from '#testing/platform/harness'
import { kitAdapter, redirectFetch } from '#testing/platform/kits'
import { until } from '#testing/platform/until'
import { newAgent, openTools } from '#testing/processes/tool-client'
import { openSeller } from '#testing/servers/x402-seller'

const arc = 'ARC-TESTNET'
const fuji = 'AVAX-FUJI'
type Name = typeof arc | typeof fuji
const contract = '0x3600000000000000000000000000000000000000'
const names: Record<Name, string> = { [arc]: 'Arc_Testnet', [fuji]: 'Avalanche_Fuji' }
const owner = devAccounts[5]!

let harness: Harness
let restoreFetch: (() => void) | undefined

beforeAll(async () => {
  harness = await openHarness({ blockchains: [arc, fuji] })
  restoreFetch = redirectFetch(harness.url, [
    'https://iris-api-sandbox.circle.com',
    'https://gateway-api-testnet.circle.com',
  ])
})
afterAll(async () => {
  restoreFetch?.()
  await harness?.close()
})

/** The balance in the smallest unit of the token, as the chain has it. */
const usdcOf = async (blockchain: string, address: string): Promise<bigint> => {
  const { rpc, tokens } = harness.chain(blockchain)
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`
  return BigInt(await rpc<string>('eth_call', [{ to: tokens.USDC, data }, 'latest']))
}
/** Waits until the movements to an address are these. */
async function expectMovements(address: string, expected: readonly string[]) {
  type Shown = { kind: string; amounts: string[]; to: { address: string } }
  const told = async () => {
    const all: Shown[] = await worldOf(harness).call('GET', `/operator/movements?address=${address}`)
    return all.map(({ kind, amounts }) => `${kind} ${amounts[0]}`).sort()
  }
  await until(async () => (await told()).length >= expected.length, `${address} has its movements`)
  expect(await told()).toEqual(expected)
}
const gaps = async () =>
  (await Promise.all(harness.ctx.chains.list().map((chain) => reconcile(harness.ctx, chain)))).flatMap(
    (each) => each.gaps,
  )

describe('property 251: the kits on a chain whose native coin is USDC', () => {
  it.each<[Name, Name, 'FAST' | 'SLOW', boolean, bigint]>([
    [arc, fuji, 'SLOW', false, 0n],
    [fuji, arc, 'SLOW', false, 0n],
    [arc, fuji, 'FAST', true, 201_050n],
    [fuji, arc, 'FAST', true, 201_050n],
  ])('bridge dollars from %s to %s, %s', async (from, to, transferSpeed, useForwarder, fee) => {
    const kit = new BridgeKit({ disableErrorReporting: true } as never)
    const adapter = kitAdapter(harness.chains, owner)
    const { address: recipientAddress } = await makeWallet(worldOf(harness), undefined, to)
    await harness.fundWallet(owner.address, { usdc: '20', blockchain: from })
    const before = await usdcOf(from, owner.address)
    const result = await kit.bridge({
      from: { adapter, chain: names[from] },
      to: { adapter, chain: names[to], recipientAddress, ...(useForwarder && { useForwarder }) },
      amount: '10.5',
      config: { transferSpeed },
    } as never)
    expect(result.state).toBe('success')
    expect(await usdcOf(to, recipientAddress)).toBe(10_500_000n - fee)
    await expectMovements(recipientAddress, [
      'message 10.5',
      `transaction ${fee === 0n ? '10.5' : '10.29895'}`,
    ])
    const spent = before - (await usdcOf(from, owner.address))
    // Gas is paid with the same coin there.
    if (from === arc) expect([spent > 10_500_000n, spent < 10_600_000n]).toEqual([true, true])
    else expect(spent).toBe(10_500_000n)
  })

  it('quote the fees of a burn in its coin', async () => {
    const body = { amount: '10500000', feeToken: contract, requests: [{ type: 'FORWARD' }] }
    const quoted = await harness.http('POST', '/v2/quote/burn/usdc/26/1', {
      body,
      headers: { authorization: undefined },
    })
    expect([quoted.status, quoted.body.feeToken]).toEqual([200, contract])
  })

  it.each<[Name, Name]>([
    [arc, fuji],
    [fuji, arc],
  ])('spend a unified balance of %s on %s', async (from, to) => {
    const context = createUnifiedBalanceKitContext({
      disableErrorReporting: true,
      disableAnalytics: true,
    } as never)
    const adapter = kitAdapter(harness.chains, owner)
    await harness.fundWallet(owner.address, { usdc: '30', blockchain: from })
    await deposit(context, { from: { adapter, chain: names[from] }, amount: '20' } as never)
    const sources = [{ domain: from === arc ? 26 : 1, depositor: owner.address }]
    await until(async () => {
      const { body } = await harness.http('POST', '/v1/balances', { body: { token: 'USDC', sources } })
      return Number(body.balances[0].balance) >= 20
    }, 'the deposit counts')
    const world = worldOf(harness)
    const { address } = to === arc ? await makeWallet(world) : { address: freshAddress() }
    await spend(context, {
      amount: '7.25',
      from: { adapter, allocations: { amount: '7.25', chain: names[from] } },
      to: { adapter, chain: names[to], recipientAddress: address },
    } as never)
    expect(await usdcOf(to, address)).toBe(7_250_000n)
    if (to === arc) await expectMovements(address, ['transaction 7.25', 'unifiedTransfer 7.25'])
    expect(await gaps()).toEqual([])
  })

  it('send operations of a modular wallet in both forms, whose gas the treasury pays', async () => {
    const { account, bundler } = await openModularAccount(harness, harness)
    const payee = freshAddress() as `0x${string}`
    const receipt = await executeOperation(bundler, [
      usdcPayment(harness, payee, 1_250_000n),
      { to: payee, value: 250_000_000_000_000_000n },
    ])
    expect(receipt.success).toBe(true)
    expect(await usdcOf(arc, payee)).toBe(1_500_000n)
    expect(await usdcOf(arc, account.address)).toBe(998_500_000n)
    expect(await gaps()).toEqual([])
  })

  it('buy once by a tool of an agent, whose wallet pays no gas', async () => {
    const { env } = await newAgent(harness)
    const tools = await openTools(env, ['--allow-acts', '--local-sellers'])
    harness.atClose(tools.close)
    const wallet = await makeWallet(worldOf(harness))
    await harness.fundWallet(wallet.address, { usdc: '1', blockchain: arc })
    const payTo = freshAddress()
    const { url } = await openSeller(harness, { payTo })
    const asked = { url, walletId: wallet.id, maxAmount: '0.10', idempotencyKey: 'forecast-1' }
    for (const answer of [
      await tools.call('fetch_with_payment', asked),
      await tools.call('fetch_with_payment', asked),
    ])
      expect(answer).toMatchObject({
        paid: 'yes',
        status: 200,
        price: '0.1 USDC',
        receipt: { success: true },
      })
    expect([await usdcOf(arc, payTo), await usdcOf(arc, wallet.address)]).toEqual([100_000n, 900_000n])
    expect(await gaps()).toEqual([])
  })

  it('settle small payments of a unified balance in a batch', async () => {
    const unified = unifiedBalances(harness)
    const [buyer, seller] = [devAccounts[6]!, devAccounts[7]!].map(
      ({ privateKey }) =>
        new GatewayClient({ chain: 'arcTestnet', privateKey, rpcUrl: harness.chain(arc).rpcUrl }),
    ) as [GatewayClient, GatewayClient]
    await harness.fundWallet(buyer.address, { usdc: '5', blockchain: arc })
    await buyer.deposit('2')
    await unified.shows(harness.chain(arc), buyer.address, '2')
    const required = batchedTerms(harness.chain(arc), seller.address, '250000')
    const payer = privateKeyToAccount(devAccounts[6]!.privateKey)
    const made = await new BatchEvmScheme(payer).createPaymentPayload(2, required as never)
    const body = { paymentPayload: { ...made, accepted: required }, paymentRequirements: required }
    const settled = (await unified.http('POST', '/v1/x402/settle', { body })).body
    expect(settled).toMatchObject({ success: true })
    await until(async () => {
      await harness.chain(arc).mine()
      const { body: shown } = await unified.http('GET', `/v1/x402/transfers/${settled.transaction}`)
      return shown.status === 'completed'
    }, 'the payment is completed')
    expect((await seller.getBalances()).gateway.available).toBe(250_000n)
    expect((await buyer.getBalances()).gateway.available).toBe(1_750_000n)
    expect(await gaps()).toEqual([])
  })

  it('settle a payment by x402, whose payer has no gas to pay', async () => {
    const { url, apiKey } = harness
    const facilitator = facilitatorOf(url, apiKey)
    const network = 'eip155:5042002' as const
    expect((await facilitator.getSupported()).kinds).toContainEqual({
      x402Version: 2,
      scheme: 'exact',
      network,
    })
    const payer = privateKeyToAccount(generatePrivateKey())
    await harness.fundWallet(payer.address, { usdc: '1', blockchain: arc })
    const { address: payTo } = await makeWallet(worldOf(harness))
    const required: PaymentRequirements = {
      scheme: 'exact',
      network,
      payTo,
      amount: '250000',
      maxTimeoutSeconds: 120,
      asset: contract,
      extra: { name: 'USDC', version: '2' },
    }
    const { rpcUrl } = harness.chain(arc)
    const client = createWalletClient({ account: payer, chain: arcTestnet, transport: http(rpcUrl) }).extend(
      publicActions,
    )
    const scheme = new ExactEvmScheme(toClientEvmSigner(payer, client as never))
    const payment = { ...(await scheme.createPaymentPayload(2, required)), accepted: required }
    expect(await facilitator.verify(payment, required)).toMatchObject({ isValid: true })
    expect(await facilitator.settle(payment, required)).toMatchObject({ success: true })
    expect(await usdcOf(arc, payTo)).toBe(250_000n)
    expect(await usdcOf(arc, payer.address)).toBe(750_000n)
    expect(await gaps()).toEqual([])
  })
})
