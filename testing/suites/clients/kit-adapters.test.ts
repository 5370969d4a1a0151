/**
 * The published kits move coins by further adapters, wallets of this server and ethers, and the kit of developers pays. The latter
 * crosses chains by contracts of the first version of the protocol, which are not on local chains.
 */
import { createCircleWalletsAdapter } from '@circle-fin/adapter-circle-wallets'
import { createEthersAdapterFromPrivateKey } from '@circle-fin/adapter-ethers-v6'
import { BridgeKit } from '@circle-fin/bridge-kit'
import { createUnifiedBalanceKitContext, deposit, spend } from '@circle-fin/unified-balance-kit'
import { createCircleClient } from '@circle-fin/usdckit'
import { BASE_SEPOLIA } from '@circle-fin/usdckit/chains'
import { JsonRpcProvider } from 'ethers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { devAccounts } from '#sandbox/constants'
import { unifiedBalances } from '#testing/builders/unified-balances'
import { freshAddress, makeWallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { redirectFetch } from '#testing/platform/kits'
import { until } from '#testing/platform/until'
import { openHttpsFront } from '#testing/servers/https-front'

let harness: Harness
let world: World
let front: Awaited<ReturnType<typeof openHttpsFront>> | undefined
let restoreFetch: (() => void) | undefined
const kit = new BridgeKit({ disableErrorReporting: true } as never)

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  world = worldOf(harness)
  front = await openHttpsFront(harness.url)
  restoreFetch = redirectFetch(
    harness.url,
    ['https://iris-api-sandbox.circle.com', 'https://gateway-api-testnet.circle.com'],
    {
      'https://sepolia.base.org': harness.chain('BASE-SEPOLIA').rpcUrl,
      'https://api.avax-test.network/ext/bc/C/rpc': harness.chain('AVAX-FUJI').rpcUrl,
    },
  )
})
afterAll(async () => {
  restoreFetch?.()
  front?.close()
  await harness?.close()
})

const usdcOn = (blockchain: string, address: string) => {
  const chain = harness.chain(blockchain as never)
  return chain.oracle.balanceOf(address, chain.tokens.USDC)
}

async function bridges(adapter: object, address: string, named: boolean): Promise<void> {
  const recipientAddress = freshAddress()
  const before = await usdcOn('BASE-SEPOLIA', address)
  const at = named ? { address } : {}
  const result = await kit.bridge({
    from: { adapter, chain: 'Base_Sepolia', ...at },
    to: { adapter, chain: 'Avalanche_Fuji', recipientAddress, ...at },
    amount: '10.5',
    config: { transferSpeed: 'SLOW' },
  } as never)
  expect([result.state, result.steps.map((s) => [s.name, s.state, s.errorMessage])]).toEqual([
    'success',
    expect.anything(),
  ])
  expect(before - (await usdcOn('BASE-SEPOLIA', address))).toBe(10_500_000n)
  expect(await usdcOn('AVAX-FUJI', recipientAddress)).toBe(10_500_000n)
}

/** A wallet on both chains, with coins. */
async function wealthyWallet(): Promise<string> {
  const { id, address } = await makeWallet(world)
  await world.call('PUT', `/v1/w3s/developer/wallets/${id}/blockchains/AVAX-FUJI`, {})
  await harness.fundWallet(address, { usdc: '100', native: '1', blockchain: 'BASE-SEPOLIA' })
  await harness.fundWallet(address, { native: '1', blockchain: 'AVAX-FUJI' })
  return address
}

/** The adapter refuses an address without https. */
const walletsAdapter = () => {
  const { apiKey, entitySecret } = harness
  return createCircleWalletsAdapter({ apiKey, entitySecret, baseUrl: front!.url })
}

it('bridges by the wallets of a developer', async () => {
  await bridges(walletsAdapter(), await wealthyWallet(), true)
})

it('spends the unified balance of a wallet of a developer', async () => {
  const [adapter, address, recipientAddress] = [walletsAdapter(), await wealthyWallet(), freshAddress()]
  const context = createUnifiedBalanceKitContext({
    disableErrorReporting: true,
    disableAnalytics: true,
  } as never)
  await deposit(context, { from: { adapter, chain: 'Base_Sepolia', address }, amount: '40' } as never)
  await unifiedBalances(harness).shows(harness.chain('BASE-SEPOLIA'), address, '40')
  await spend(context, {
    amount: '25',
    from: { adapter, address, allocations: { amount: '25', chain: 'Base_Sepolia' } },
    to: { adapter, address, chain: 'Avalanche_Fuji', recipientAddress },
  } as never)
  expect(await usdcOn('AVAX-FUJI', recipientAddress)).toBe(25_000_000n)
})

it('makes an account, pays and sweeps by the kit of developers', async () => {
  const { apiKey, entitySecret, url: baseUrl } = harness
  const client = createCircleClient({ apiKey, entitySecret, baseUrl, chain: BASE_SEPOLIA })
  const [payer, payee] = [await client.createAccount(), await client.createAccount()]
  const token = BASE_SEPOLIA.contracts.USDC
  await harness.fundWallet(payer.address, { usdc: '100', native: '1' })
  await harness.fundWallet(payee.address, { native: '1' })
  await client.transfer({ from: payer, to: payee, token, amount: '2.5' })
  await until(async () => (await usdcOn('BASE-SEPOLIA', payee.address)) === 2_500_000n, 'the payee is paid')
  const to = freshAddress() as `0x${string}`
  await client.sweep({ from: payee, to, token })
  await until(async () => (await usdcOn('BASE-SEPOLIA', to)) === 2_500_000n, 'the coins are swept')
  expect(await usdcOn('BASE-SEPOLIA', payer.address)).toBe(97_500_000n)
})

it('bridges by ethers', async () => {
  const { address, privateKey } = devAccounts[5]!
  await harness.chain('BASE-SEPOLIA').send(address, 100_000_000n, 'USDC')
  const adapter = createEthersAdapterFromPrivateKey({
    privateKey,
    getProvider: ({ chain }: { chain: { chainId: number } }) => {
      const known = harness.chains.find(({ chainId }) => chainId === chain.chainId) ?? harness.chain()
      return new JsonRpcProvider(known.rpcUrl, undefined, { pollingInterval: 100 })
    },
  } as never)
  // The client waits for a later block where it missed the one of its transaction.
  const mining = setInterval(() => {
    for (const name of ['BASE-SEPOLIA', 'AVAX-FUJI'] as const)
      harness
        .chain(name)
        .mine()
        .catch(() => undefined)
  }, 1_000)
  await bridges(adapter, address, false).finally(() => clearInterval(mining))
})
