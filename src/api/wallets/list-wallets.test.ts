import { randomUUID } from 'node:crypto'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { type Harness, openHarness } from '#testing/platform/harness'
import { quantity } from '#testing/platform/json-rpc'
import { until } from '#testing/platform/until'

type Shown = { id: string; address: string; blockchain: string; tokenBalances: Balance[] }
type Balance = { token: { id: string; isNative: boolean; symbol: string }; amount: string }

const usdc = baseSepolia.tokens.find((token) => token.symbol === 'USDC')!
let harness: Harness
let client: ReturnType<typeof initiateDeveloperControlledWalletsClient>
let [one, two]: { id: string; wallets: Shown[] }[] = []

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  const { apiKey, entitySecret, url } = harness
  client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl: url })
  const make = async (refId: string) => {
    const { id } = (await client.createWalletSet({ name: refId })).data!.walletSet!
    const metadata = [{ refId }, { refId: `${refId} second` }]
    const { data } = await client.createWallets({
      walletSetId: id,
      blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'],
      count: 2,
      metadata,
    })
    return { id, wallets: data!.wallets! as unknown as Shown[] }
  }
  one = await make('a&b=c ü')
  two = await make('other')
})
afterAll(() => harness?.close())

const on = (wallets: Shown[], blockchain: string) =>
  wallets.filter((wallet) => wallet.blockchain === blockchain)
const idsOf = (wallets: { id: string }[]) => wallets.map((wallet) => wallet.id).sort()
const list = async (query: Record<string, string>): Promise<Shown[]> =>
  (await harness.http('GET', '/v1/w3s/wallets', { query: { pageSize: '50', ...query } })).body.data.wallets

describe('GET /v1/w3s/wallets', () => {
  it('filters by each filter, and by several at once', async () => {
    const [first] = one!.wallets
    const both = one!.wallets.filter((wallet) => wallet.address === first!.address)
    expect(idsOf(await list({ walletSetId: one!.id }))).toEqual(idsOf(one!.wallets))
    expect(idsOf(await list({ address: first!.address }))).toEqual(idsOf(both))
    expect(idsOf(await list({ address: getAddress(first!.address) }))).toEqual(idsOf(both))
    expect(idsOf(await list({ blockchain: 'ETH-SEPOLIA' }))).toEqual(
      idsOf([...on(one!.wallets, 'ETH-SEPOLIA'), ...on(two!.wallets, 'ETH-SEPOLIA')]),
    )
    expect(idsOf(await list({ refId: 'a&b=c ü' }))).toEqual(idsOf(both))
    expect(idsOf(await list({ refId: 'a' }))).toEqual([])
    expect(await list({ scaCore: 'circle_6900_singleowner_v3' })).toEqual([])
    expect(idsOf(await list({ address: first!.address, blockchain: 'BASE-SEPOLIA' }))).toEqual([first!.id])
    expect(await list({ address: first!.address, walletSetId: two!.id })).toEqual([])
    expect(await list({ walletSetId: randomUUID() })).toEqual([])
    expect(await list({ address: 'nonsense' })).toEqual([])
  })

  it.each([
    ['blockchain', 'DOGE'],
    ['scaCore', 'v4'],
    ['walletSetId', 'x'],
    ['refId', 'x'.repeat(257)],
    ['order', 'UP'],
  ])('names %s when it is %j', async (location, value) => {
    const refused = await harness.http('GET', '/v1/w3s/wallets', { query: { [location]: value } })
    expect(refused).toMatchObject({ status: 400, body: { code: 2, errors: [{ location }] } })
  })

  it('the list of wallets excludes those of other tenants', async () => {
    const other = await harness.newEntity()
    const answer = await other.http('GET', '/v1/w3s/wallets', { query: { walletSetId: one!.id } })
    expect(answer.body.data.wallets).toEqual([])
  })
})

describe('GET /v1/w3s/developer/wallets/balances', () => {
  const path = '/v1/w3s/developer/wallets/balances'
  const get = (query: Record<string, string>) =>
    harness.http('GET', path, { query: { blockchain: 'BASE-SEPOLIA', ...query } })
  const shown = async (query: Record<string, string>): Promise<Shown[]> =>
    (await get(query)).body.data.wallets
  const amounts = ({ tokenBalances }: Shown) =>
    tokenBalances.map(({ token, amount }) => [token.isNative ? 'native' : token.symbol, amount])
  let rich: Shown
  let poor: Shown

  beforeAll(async () => {
    ;[rich, poor] = on(one!.wallets, 'BASE-SEPOLIA') as [Shown, Shown]
    await harness.fundWallet(rich.address, { usdc: '12.5', native: '2' })
    await harness.fundWallet(poor.address, { usdc: '0.5' })
    const both = async () => (await shown({ tokenAddress: usdc.address, amount__gte: '0.5' })).length === 2
    await until(both, 'the funds are shown')
  })

  it('always shows the native coin and the named token', async () => {
    const bare = await shown({ walletSetId: one!.id })
    expect(new Map(bare.map((wallet) => [wallet.id, amounts(wallet)]))).toEqual(
      new Map([
        [rich.id, [['native', '2']]],
        [poor.id, [['native', '0']]],
      ]),
    )
    const named = await shown({ address: getAddress(rich.address), tokenAddress: usdc.address })
    expect(named.map(amounts)).toEqual([
      [
        ['native', '2'],
        ['USDC', '12.5'],
      ],
    ])
  })

  it('compares amount__gte with the named token, else with the native coin', async () => {
    const usdcOf = (amount__gte: string) => shown({ amount__gte, tokenAddress: usdc.address })
    expect(idsOf(await usdcOf('0.5'))).toEqual(idsOf([rich, poor]))
    expect(idsOf(await usdcOf('0.500001'))).toEqual([rich.id])
    expect(await usdcOf('12.500001')).toEqual([])
    expect(idsOf(await shown({ amount__gte: '2' }))).toEqual([rich.id])
    expect((await usdcOf('0')).length).toBe(4)
  })

  it('ignores an empty tokenAddress, and compares a single address with its chain', async () => {
    await harness.chain('BASE-SEPOLIA').rpc('anvil_setBalance', [poor.address, quantity(3n * 10n ** 18n)])
    const [seen] = await shown({ address: poor.address, tokenAddress: '' })
    expect(amounts(seen!)).toEqual([['native', '3']])
  })

  it('pages like every list, through the published client', async () => {
    const first = await client.getWalletsWithBalances({ blockchain: 'BASE-SEPOLIA', pageSize: 3 })
    const last = first.data!.wallets!.at(-1)!
    expect(first.headers.link).toContain('rel="next"')
    const rest = await client.getWalletsWithBalances({
      blockchain: 'BASE-SEPOLIA',
      pageSize: 3,
      pageAfter: last.id,
    })
    expect([first.data!.wallets!.length, rest.data!.wallets!.length]).toEqual([3, 1])
  })

  it.each([
    [2, 'blockchain', { blockchain: '' }],
    [156031, 'tokenAddress', { tokenAddress: `0x${'11'.repeat(20)}` }],
    [156031, 'tokenAddress', { tokenAddress: 'USDC' }],
    [2, 'amount__gte', { amount__gte: '-1' }],
    [2, 'amount__gte', { amount__gte: '1e3' }],
    [2, 'amount__gte', { amount__gte: '0.1234567', tokenAddress: usdc.address }],
  ])('answers %i and names %s for %j', async (code, location, query) => {
    expect(await get(query)).toMatchObject({ status: 400, body: { code, errors: [{ location }] } })
  })
})
