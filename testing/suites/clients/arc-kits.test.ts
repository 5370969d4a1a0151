/** The published kits on a chain whose native coin is USDC: messages, unified balances and payments by x402. */
import { BridgeKit } from '@circle-fin/bridge-kit'
import { createUnifiedBalanceKitContext, deposit, spend } from '@circle-fin/unified-balance-kit'
import { HTTPFacilitatorClient } from '@x402/core/http'
import type { PaymentRequirements } from '@x402/core/types'
import { toClientEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { createWalletClient, http, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { arcTestnet } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reconcile } from '#engines/indexer/reconciliation/index'
import { devAccounts } from '#sandbox/constants'
import { freshAddress, makeWallet, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { kitAdapter, redirectFetch } from '#testing/platform/kits'
import { until } from '#testing/platform/until'

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

  it('settle a payment by x402, whose payer has no gas to pay', async () => {
    const { url, apiKey } = harness
    const headers = { authorization: `Bearer ${apiKey}` }
    const facilitator = new HTTPFacilitatorClient({
      url: `${url}/v1/facilitator/x402`,
      createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
    })
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
