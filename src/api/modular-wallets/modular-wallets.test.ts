/** Transfers and operations of modular wallets, as servers read them back and as webhooks tell of them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  addressOwner,
  executeOperation,
  makeModularWallet,
  openModularAccount,
  usdcPayment,
} from '#testing/builders/modular-accounts'
import { freshAddress, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { quantity } from '#testing/platform/json-rpc'
import { until } from '#testing/platform/until'
import { openWebhookReceiver } from '#testing/servers/webhook-receiver'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness?.close())

const payment = (to: string) => usdcPayment(harness, to)
const accountOf = (owner: unknown) => openModularAccount(harness, harness, owner)
const byAddress = addressOwner
const executed = executeOperation

const under = {
  '/v1/w3s/buidl': {
    transfers: '/v1/w3s/buidl/transfers',
    transfer: (id: string) => `/v1/w3s/buidl/transfers/${id}`,
    userOps: '/v1/w3s/buidl/userOps',
    userOp: (id: string) => `/v1/w3s/buidl/userOps/${id}`,
    balances: (id: string) => `/v1/w3s/buidl/wallets/${id}/balances`,
    balancesAt: (address: string) => `/v1/w3s/buidl/wallets/BASE-SEPOLIA/${address}/balances`,
    nfts: (id: string) => `/v1/w3s/buidl/wallets/${id}/nfts`,
    nftsAt: (address: string) => `/v1/w3s/buidl/wallets/BASE-SEPOLIA/${address}/nfts`,
  },
  '/v1/w3s/modular': {
    transfers: '/v1/w3s/modular/transfers',
    transfer: (id: string) => `/v1/w3s/modular/transfers/${id}`,
    userOps: '/v1/w3s/modular/userOps',
    userOp: (id: string) => `/v1/w3s/modular/userOps/${id}`,
    balances: (id: string) => `/v1/w3s/modular/wallets/${id}/balances`,
    balancesAt: (address: string) => `/v1/w3s/modular/wallets/BASE-SEPOLIA/${address}/balances`,
    nfts: (id: string) => `/v1/w3s/modular/wallets/${id}/nfts`,
    nftsAt: (address: string) => `/v1/w3s/modular/wallets/BASE-SEPOLIA/${address}/nfts`,
  },
  'the name of the specification': {
    transfers: '/modular/transfers',
    transfer: (id: string) => `/modular/transfers/${id}`,
    userOps: '/modular/userOps',
    userOp: (id: string) => `/modular/userOps/${id}`,
    balances: (walletId: string) => `/v1/w3s/modular/wallets/balances?walletId=${walletId}`,
    balancesAt: (address: string) => `/modular/wallets/balances?blockchain=BASE-SEPOLIA&address=${address}`,
    nfts: (walletId: string) => `/v1/w3s/modular/wallets/nfts?walletId=${walletId}`,
    nftsAt: (address: string) => `/modular/wallets/nfts?blockchain=BASE-SEPOLIA&address=${address}`,
  },
}

describe('what wallets did', () => {
  const get = async (path: string) => {
    const { status, body } = await harness.http('GET', path)
    expect(status).toBe(200)
    return body.data
  }

  it.each(Object.keys(under) as (keyof typeof under)[])('is read back under %s', async (prefix) => {
    const paths = under[prefix]
    const owner = byAddress()
    // Known before it is paid: what came earlier shows in its balances alone.
    await makeModularWallet(worldOf(harness), owner.address)
    const { bundler, account } = await accountOf(owner)
    const address = account.address.toLowerCase()
    const to = freshAddress()
    const { userOpHash, receipt } = await executed(bundler, [payment(to)])
    const block = { txHash: receipt.transactionHash, blockHash: receipt.blockHash }
    const [first] = (await get(`${paths.userOps}?senders=${address}`)).userOperations
    await until(
      async () => (await get(paths.userOp(first.id))).userOperation.state === 'COMPLETE',
      'the operation is complete',
    )
    const { userOperation } = await get(paths.userOp(first.id))
    expect(userOperation).toMatchObject({
      ...block,
      userOpHash,
      blockchain: 'BASE-SEPOLIA',
      userOperation: { sender: address, factory: expect.stringMatching(/^0x/), paymaster: expect.anything() },
      actualGasUsed: expect.stringMatching(/^[1-9]\d+$/),
    })
    expect((await get(`${paths.userOps}?userOpHash=${userOpHash}&state=COMPLETE`)).userOperations).toEqual([
      userOperation,
    ])
    expect((await get(`${paths.userOps}?senders=${freshAddress()}`)).userOperations).toEqual([])
    const { transfers } = await get(`${paths.transfers}?walletAddresses=${account.address}`)
    expect(transfers).toMatchObject([
      {
        transferType: 'OUTBOUND_TRANSFER',
        amount: '1',
        from: address,
        to,
        userOpHash,
        ...block,
        tokenAddress: harness.chain().tokens.USDC.toLowerCase(),
      },
      { transferType: 'INBOUND_TRANSFER', amount: '1000', to: address },
    ])
    expect(transfers[1].userOpHash).toBeUndefined()
    const { transfer } = await get(paths.transfer(transfers[0].id))
    expect(transfer).toMatchObject({ id: transfers[0].id, walletId: transfers[0].walletId })
    const { walletId } = transfer
    for (const path of [paths.balances(walletId), paths.balancesAt(account.address)])
      expect((await get(path)).tokenBalances).toMatchObject([{ amount: '999', token: { symbol: 'USDC' } }])
    await harness.chain().rpc('anvil_setBalance', [address, quantity(10n ** 18n)])
    for (const path of [paths.balances(walletId), paths.balancesAt(account.address)]) {
      const symbolsOf = async (standard: string) =>
        (await get(`${path}${path.includes('?') ? '&' : '?'}standard=${standard}`)).tokenBalances.map(
          (balance: { token: { symbol: string } }) => balance.token.symbol,
        )
      expect([await symbolsOf(''), await symbolsOf('ERC20')]).toEqual([['ETH-SEPOLIA'], ['USDC']])
    }
    for (const path of [paths.nfts(walletId), paths.nftsAt(account.address)])
      expect((await get(path)).nfts).toEqual([])
  })

  it('is refused for wallets that are unknown, or not named', async () => {
    const status = async (path: string) => (await harness.http('GET', path)).status
    expect(await status('/v1/w3s/modular/wallets/balances')).toBe(400)
    expect(
      await status(`/v1/w3s/modular/wallets/nfts?blockchain=BASE-SEPOLIA&address=${freshAddress()}`),
    ).toBe(404)
    expect(await status('/v1/w3s/buidl/transfers')).toBe(400)
    expect(await status(`/v1/w3s/buidl/userOps/${crypto.randomUUID()}`)).toBe(404)
    expect(await status(`/v1/w3s/buidl/transfers/${crypto.randomUUID()}`)).toBe(404)
  })

  it('is unknown to another entity', async () => {
    const { bundler, account } = await accountOf(byAddress())
    await executed(bundler, [payment(freshAddress())])
    const transfers = async () =>
      (await get(`/v1/w3s/buidl/transfers?walletAddresses=${account.address}`)).transfers
    await until(async () => (await transfers()).length > 0, 'its transfer is listed')
    const [transfer] = await transfers()
    const [operation] = (await get(`/v1/w3s/buidl/userOps?senders=${account.address}`)).userOperations
    const { http } = await harness.newEntity()
    const read = async (path: string) => (await http('GET', `/v1/w3s/buidl/${path}`)).body
    expect((await read('userOps')).data).toEqual({ userOperations: [] })
    expect((await read(`transfers?walletAddresses=${operation.sender}`)).data).toEqual({ transfers: [] })
    for (const path of [`userOps/${operation.id}`, `transfers/${transfer.id}`])
      expect((await http('GET', `/v1/w3s/buidl/${path}`)).status).toBe(404)
  })

  it('fails with an orphaned block, and is confirmed again with another one', async () => {
    const { bundler, account } = await accountOf(byAddress())
    const { receipt } = await executed(bundler, [payment(freshAddress())])
    const outbound = async () =>
      (await get(`/v1/w3s/buidl/transfers?walletAddresses=${account.address}&transferType=OUTBOUND_TRANSFER`))
        .transfers
    await until(async () => (await outbound())[0]?.blockHash === receipt.blockHash, 'it is listed')
    await harness.chain().reorgFrom(Number(receipt.blockNumber))
    await until(async () => {
      const found = await outbound()
      return found.length === 1 && found[0].blockHash !== receipt.blockHash && found[0].state === 'COMPLETE'
    }, 'it is in another block')
  })
})

it('property 20: notifies of operations and transfers, each state once, and again after a reorg', async () => {
  const world = worldOf(harness, await harness.newEntity())
  const receiver = await openWebhookReceiver(world.tenant.http)
  try {
    const subscription = { endpoint: receiver.url, notificationTypes: ['modularWallet.*'] }
    await world.call('POST', '/v2/notifications/subscriptions', subscription)
    const { address } = await makeModularWallet(world)
    await harness.fundWallet(address, { usdc: '5' })
    const owner = addressOwner()
    // Known before it is paid: otherwise it depends on the pace of the indexer whether that payment is told.
    await makeModularWallet(world, owner.address)
    const { bundler, account } = await openModularAccount(harness, world.tenant, owner)
    const { userOpHash, receipt } = await executed(bundler, [payment(freshAddress())])
    const told = () =>
      receiver
        .webhooks()
        .toSorted((one, other) => one.order - other.order)
        .map(({ notificationType, notification: { state, walletAddress, userOpHash: hash } }) =>
          [notificationType.split('.')[1], state, walletAddress ?? hash].join(' '),
        )
    const sender = account.address.toLowerCase()
    const expected = [
      ...[address, sender].flatMap((wallet) =>
        ['CONFIRMED', 'COMPLETE'].map((state) => `inboundTransfer ${state} ${wallet}`),
      ),
      ...['SENT', 'CONFIRMED', 'COMPLETE'].map((state) => `userOperation ${state} ${userOpHash}`),
      ...['CONFIRMED', 'COMPLETE'].map((state) => `outboundTransfer ${state} ${sender}`),
    ]
    await until(() => expected.every((each) => told().includes(each)), 'all states are told')
    expect(told().toSorted()).toEqual(expected.toSorted())
    await harness.chain().reorgFrom(Number(receipt.blockNumber))
    await until(() => told().length >= expected.length + 6, 'the reorg is told')
    const since = told().slice(expected.length)
    expect(since.filter((each) => each.startsWith('outboundTransfer'))).toEqual(
      ['FAILED', 'CONFIRMED', 'COMPLETE'].map((state) => `outboundTransfer ${state} ${sender}`),
    )
    expect(since.filter((each) => each.startsWith('userOperation'))).toEqual(
      ['SENT', 'CONFIRMED', 'COMPLETE'].map((state) => `userOperation ${state} ${userOpHash}`),
    )
  } finally {
    await receiver.close()
  }
})
