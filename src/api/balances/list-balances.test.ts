import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { quantity } from '#testing/platform/json-rpc'
import { until } from '#testing/platform/until'

const [usdc, eurc] = ['USDC', 'EURC'].map(
  (symbol) => baseSepolia.tokens.find((token) => token.symbol === symbol)!,
)
const native = baseSepolia.nativeToken
const monitored = '/v1/w3s/config/entity/monitoredTokens'
let harness: Harness
let world: World
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallet = await makeWallet(world)
  await harness.fundWallet(wallet.address, { native: '1.5', usdc: '12.345678' })
  await until(async () => (await shown()).length === 2, 'the funds are shown')
})
beforeEach(() => harness.http('PUT', `${monitored}/scope`, { body: { scope: 'MONITOR_ALL' } }))
afterAll(() => harness?.close())

type Shown = { token: { id: string; name: string }; amount: string; updateDate: string }
const get = (query: Record<string, string> = {}, id = wallet.id) =>
  harness.http('GET', `/v1/w3s/wallets/${id}/balances`, { query })
const shown = async (query: Record<string, string> = {}, id = wallet.id): Promise<Shown[]> =>
  (await get(query, id)).body.data.tokenBalances
const names = async (query: Record<string, string> = {}) =>
  (await shown(query)).map(({ token }) => token.name).sort()

describe('balances of a wallet', () => {
  it('are shown in whole tokens, with the token', async () => {
    const balances = await shown()
    const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(balances.find(({ token }) => token.id === usdc!.id)).toEqual({
      token: {
        id: usdc!.id,
        blockchain: 'BASE-SEPOLIA',
        name: 'USDC',
        symbol: 'USDC',
        decimals: 6,
        isNative: false,
        standard: 'ERC20',
        tokenAddress: usdc!.address.toLowerCase(),
        updateDate: date,
        createDate: date,
      },
      amount: '12.345678',
      updateDate: date,
    })
    const coins = balances.find(({ token }) => token.id === native.id)!
    expect(coins.amount).toBe('1.5')
    expect(Object.keys(coins.token)).not.toContain('tokenAddress')
    expect(Object.keys(coins.token)).not.toContain('standard')
  })

  it('include changes on the chain that no transfer event shows', async () => {
    const other = await makeWallet(world)
    expect(await shown({}, other.id)).toEqual([])
    await harness.chain().rpc('anvil_setBalance', [other.address, quantity(25n * 10n ** 17n)])
    expect(await shown({}, other.id)).toMatchObject([{ token: { id: native.id }, amount: '2.5' }])
    const before = (await shown({}, other.id))[0]!.updateDate
    harness.clock.moveMs(1_000)
    await harness.chain().rpc('anvil_setBalance', [other.address, '0x0'])
    const [emptied] = await shown({}, other.id)
    expect(emptied).toMatchObject({ token: { id: native.id }, amount: '0' })
    expect(emptied!.updateDate > before).toBe(true)
  })

  it('show the booked amounts while the node is unreachable', async () => {
    harness.chain().intercept(async () => 'drop')
    try {
      expect(await names()).toEqual(['Base Ethereum-Sepolia', 'USDC'])
    } finally {
      harness.chain().intercept(undefined)
    }
  })

  it('are filtered by name, by addresses in any case and by standard', async () => {
    expect(await names({ name: 'USDC' })).toEqual(['USDC'])
    expect(await names({ name: 'USD Coin' })).toEqual([])
    expect(await names({ tokenAddress: usdc!.address })).toEqual(['USDC'])
    expect(
      await names({ tokenAddress: `${eurc!.address.toUpperCase()}, ${usdc!.address.toLowerCase()}` }),
    ).toEqual(['USDC'])
    expect(await names({ tokenAddress: eurc!.address })).toEqual([])
    expect(await names({ tokenAddress: '' })).toEqual(['Base Ethereum-Sepolia', 'USDC'])
    expect(await names({ standard: 'ERC20' })).toEqual(['USDC'])
    expect(await names({ standard: 'ERC721' })).toEqual([])
    const refused = await get({ standard: 'erc20' })
    expect(refused).toMatchObject({ status: 400, body: { code: 2, errors: [{ location: 'standard' }] } })
  })

  it('omit unmonitored tokens unless includeAll is set', async () => {
    await harness.http('PUT', monitored, { body: { tokenIds: [usdc!.id] } })
    expect(await names()).toEqual(['USDC'])
    expect(await names({ includeAll: 'false' })).toEqual(['USDC'])
    expect(await names({ includeAll: 'true' })).toEqual(['Base Ethereum-Sepolia', 'USDC'])
    await harness.http('PUT', monitored, { body: { tokenIds: [] } })
    expect(await names()).toEqual([])
  })

  it('are paged with the token id as cursor', async () => {
    const [first, second] = await shown()
    expect(await shown({ pageSize: '1' })).toMatchObject([{ token: { id: first!.token.id } }])
    const next = await get({ pageSize: '1', pageAfter: first!.token.id })
    expect(next.body.data.tokenBalances).toMatchObject([{ token: { id: second!.token.id } }])
    expect(next.headers.get('link')).toContain('rel="prev"')
    const unknown = await get({ pageAfter: randomUUID() })
    expect(unknown).toMatchObject({ status: 404, body: { code: 156012 } })
  })

  it('answer 404 for an unknown wallet', async () => {
    expect(await get({}, randomUUID())).toMatchObject({ status: 404, body: { code: 156001 } })
    expect((await get({}, 'nonsense')).status).toBe(400)
  })
})

describe('GET /v1/w3s/wallets/{id}/nfts', () => {
  it('is an empty list for a wallet, and 404 without one', async () => {
    const answer = await harness.http('GET', `/v1/w3s/wallets/${wallet.id}/nfts`)
    expect(answer).toMatchObject({ status: 200, body: { data: { nfts: [] } } })
    const absent = await harness.http('GET', `/v1/w3s/wallets/${randomUUID()}/nfts`)
    expect(absent).toMatchObject({ status: 404, body: { code: 156001 } })
  })
})

describe('GET /v1/w3s/tokens/{id}', () => {
  it('returns the token of an id', async () => {
    const { token } = await world.call('GET', `/v1/w3s/tokens/${usdc!.id}`)
    expect(token).toMatchObject({ id: usdc!.id, symbol: 'USDC', isNative: false })
    const { token: coin } = await world.call('GET', `/v1/w3s/tokens/${native.id}`)
    expect(coin).toMatchObject({ id: native.id, symbol: native.symbol, isNative: true })
  })

  it('answers 156002 for an unlisted token', async () => {
    const answer = await harness.http('GET', `/v1/w3s/tokens/${randomUUID()}`)
    expect(answer).toMatchObject({ status: 404, body: { code: 156002 } })
  })
})
