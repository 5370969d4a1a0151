/** The published kit of unified balances spends through this server and real chains, with its hosts rewritten. */
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import {
  addDelegate,
  createUnifiedBalanceKitContext,
  deposit,
  depositFor,
  estimateSpend,
  getBalances,
  getDelegateStatus,
  initiateRemoveFund,
  removeFund,
  spend,
} from '@circle-fin/unified-balance-kit'
import { toAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { devAccounts } from '#sandbox/constants'
import { type UnifiedBalances, unifiedBalances } from '#testing/builders/unified-balances'
import { type Harness, openHarness } from '#testing/platform/harness'
import { kitAdapter, kitAdapterOfAccount, redirectFetch } from '#testing/platform/kits'
import { until } from '#testing/platform/until'

let harness: Harness
let unified: UnifiedBalances
let restoreFetch: (() => void) | undefined
const context = createUnifiedBalanceKitContext({
  disableErrorReporting: true,
  disableAnalytics: true,
} as never)

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI', 'OP-SEPOLIA'] })
  unified = unifiedBalances(harness)
  restoreFetch = redirectFetch(harness.url, ['https://gateway-api-testnet.circle.com'])
})
afterAll(async () => {
  restoreFetch?.()
  await harness?.close()
})

const [owner, delegate] = [devAccounts[3]!, devAccounts[4]!]

const adapterOf = (account: { privateKey: `0x${string}` }) => kitAdapter(harness.chains, account)

const chains = { base: 'Base_Sepolia', avax: 'Avalanche_Fuji', op: 'Optimism_Sepolia' } as const
const pay = (blockchain: string, address: string) =>
  harness.chain(blockchain).send(address, 100_000_000n, 'USDC')

it('deposits, shows balances, and spends from two sources on a third chain', async () => {
  const adapter = adapterOf(owner)
  await pay('BASE-SEPOLIA', owner.address)
  await pay('AVAX-FUJI', owner.address)
  await deposit(context, { from: { adapter, chain: chains.base }, amount: '40' } as never)
  await deposit(context, {
    from: { adapter, chain: chains.avax },
    amount: '30',
    allowanceStrategy: 'approve',
  } as never)
  await depositFor(context, {
    from: { adapter, chain: chains.avax },
    amount: '5',
    depositAccount: delegate.address,
  } as never)
  await unified.shows(harness.chain('BASE-SEPOLIA'), owner.address, '40')
  await unified.shows(harness.chain('AVAX-FUJI'), owner.address, '30')
  await unified.shows(harness.chain('AVAX-FUJI'), delegate.address, '5')
  const balances = await getBalances(context, {
    sources: { adapter },
    networkType: 'testnet',
    includePending: true,
  } as never)
  expect(balances).toMatchObject({ totalConfirmedBalance: expect.stringMatching(/^70(\.0+)?$/) })
  const request = {
    amount: '25',
    from: {
      adapter,
      allocations: [
        { amount: '15', chain: chains.base },
        { amount: '10', chain: chains.avax },
      ],
    },
    to: { adapter, chain: chains.op },
  } as never
  const estimate = await estimateSpend(context, request)
  expect(JSON.stringify(estimate)).toContain('0.0')
  const before = await unified.tokens(harness.chain('OP-SEPOLIA'), owner.address)
  const result = await spend(context, request)
  expect((result as { txHash: string }).txHash).toMatch(/^0x/)
  expect((await unified.tokens(harness.chain('OP-SEPOLIA'), owner.address)) - before).toBe(25_000_000n)
})

it('deposits by a permit, and lets the forwarder mint', async () => {
  const adapter = adapterOf(owner)
  await deposit(context, {
    from: { adapter, chain: chains.base },
    amount: '1',
    allowanceStrategy: 'permit',
  } as never)
  const before = await unified.tokens(harness.chain('OP-SEPOLIA'), delegate.address)
  await spend(context, {
    amount: '2',
    from: { adapter, allocations: { amount: '2', chain: chains.avax } },
    to: { chain: chains.op, recipientAddress: delegate.address, useForwarder: true },
  } as never)
  expect((await unified.tokens(harness.chain('OP-SEPOLIA'), delegate.address)) - before).toBe(2_000_000n)
})

it('reports a balance that does not suffice as such', async () => {
  const adapter = adapterOf(owner)
  const spending = spend(context, {
    amount: '900',
    from: { adapter, allocations: { amount: '900', chain: chains.base } },
    to: { adapter, chain: chains.op },
  } as never)
  await expect(spending).rejects.toThrow(/insufficient/i)
})

it('adds a delegate and sees when that counts, and takes funds out', async () => {
  const adapter = adapterOf(owner)
  const from = { adapter, chain: chains.base }
  await addDelegate(context, { from, delegateAddress: delegate.address } as never)
  await until(
    async () =>
      (await getDelegateStatus(context, { from, delegateAddress: delegate.address } as never)) === 'ready',
    'the delegate is ready',
  )
  await initiateRemoveFund(context, { from, amount: '5' } as never)
  await harness.chain('BASE-SEPOLIA').mine(25)
  const before = await unified.tokens(harness.chain('BASE-SEPOLIA'), owner.address)
  await removeFund(context, { from } as never)
  expect((await unified.tokens(harness.chain('BASE-SEPOLIA'), owner.address)) - before).toBe(5_000_000n)
})

it('spends as the delegate of another account, on the chain that has this delegate', async () => {
  const spending = (chain: string) =>
    spend(context, {
      amount: '3',
      from: {
        adapter: adapterOf(delegate),
        sourceAccount: owner.address,
        allocations: { amount: '3', chain },
      },
      to: { adapter: adapterOf(delegate), chain: chains.op },
    } as never)
  const balanceOnOp = () => unified.tokens(harness.chain('OP-SEPOLIA'), delegate.address)
  const before = await balanceOnOp()
  await spending(chains.base)
  expect((await balanceOnOp()) - before).toBe(3_000_000n)
  await expect(spending(chains.avax)).rejects.toThrow(/sourceSigner is not authorized/)
})

it('property 246: spends the balance of a smart account, which signs by its contract', async () => {
  const { apiKey, entitySecret, url: baseUrl } = harness
  const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl })
  const { data: made } = await client.createWalletSet({ name: 'Accounts' })
  const { data } = await client.createWallets({
    walletSetId: made!.walletSet.id,
    blockchains: ['BASE-SEPOLIA'],
    accountType: 'SCA',
    count: 1,
  })
  const { id: walletId, address } = data!.wallets[0]!
  const base = harness.chain('BASE-SEPOLIA')
  const hasCode = async () => (await base.rpc('eth_getCode', [address, 'latest'])) !== '0x'
  // Its first operation deploys it.
  await client.createContractExecutionTransaction({
    walletId,
    contractAddress: base.tokens.USDC,
    abiFunctionSignature: 'approve(address,uint256)',
    abiParameters: [owner.address, '1'],
    fee: { type: 'level', config: { feeLevel: 'MEDIUM' } },
  })
  await until(hasCode, 'the account is deployed')
  const account = toAccount({
    address: address as `0x${string}`,
    signMessage: () => Promise.reject(new Error('it signs typed data')),
    signTransaction: () => Promise.reject(new Error('it signs typed data')),
    signTypedData: async (typed) => {
      const json = JSON.stringify(typed, (_, value) => (typeof value === 'bigint' ? String(value) : value))
      const { data: signed } = await client.signTypedData({ walletId, data: withDomainType(json) })
      return signed!.signature as `0x${string}`
    },
  })
  await pay('BASE-SEPOLIA', owner.address)
  await depositFor(context, {
    from: { adapter: adapterOf(owner), chain: chains.base },
    amount: '9',
    depositAccount: address,
  } as never)
  await unified.shows(base, address, '9')
  const received = () => unified.tokens(harness.chain('OP-SEPOLIA'), delegate.address)
  const [before, supply] = [await received(), await unified.supply(base)]
  await spend(context, {
    amount: '4',
    from: {
      adapter: kitAdapterOfAccount(harness.chains, account),
      allocations: { amount: '4', chain: chains.base },
    },
    to: { adapter: adapterOf(owner), chain: chains.op, recipientAddress: delegate.address },
  } as never)
  expect((await received()) - before).toBe(4_000_000n)
  await until(async () => (await unified.supply(base)) === supply - 4_000_000n, 'the value is burned')
})

/** The typed data with the type of its domain, which the interface of wallets needs. */
function withDomainType(json: string): string {
  const { types, ...others } = JSON.parse(json)
  const EIP712Domain = ['name', 'version'].map((name) => ({ name, type: 'string' }))
  return JSON.stringify({ ...others, types: { EIP712Domain, ...types } })
}
