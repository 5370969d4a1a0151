import { randomUUID } from 'node:crypto'
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import type { Endpoint } from '#runtime/http/endpoint'
import { makeUserWallet } from '#testing/builders/user-wallets'
import { makeUser, tokenOf } from '#testing/builders/users'
import { freshAddress, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { HttpOptions } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { addressOf } from '#testing/requests/sample-request'

type Holder = { userId: string; token: string; wallet: Wallet; transactionId: string }

const scoped = endpoints
  // A transfer with a token is another operation: a challenge.
  .filter(({ userToken, operationId }) => userToken === 'optional' && operationId !== 'createTransferInScope')
  .map((endpoint) => ({ endpoint, name: `${endpoint.method} ${endpoint.path}` }))

let harness: Harness
let world: World
let ours: Holder
let theirs: Holder
let developers: { wallet: Wallet; transactionId: string }

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  ours = await makeHolder()
  theirs = await makeHolder()
  developers = { wallet: await world.fundedWallet(), transactionId: (await world.transfer()).id }
})
afterAll(() => harness?.close())

/** A user with a wallet that received USDC. */
async function makeHolder(): Promise<Holder> {
  const { id: userId } = await makeUser(world)
  const wallet = await makeUserWallet(world, userId)
  await harness.chain().send(wallet.address, 2_000_000n, 'USDC')
  let transactionId: string | undefined
  await until(async () => {
    const { transactions } = await world.call('GET', `/v1/w3s/transactions?walletIds=${wallet.id}`)
    transactionId = transactions[0]?.id
    return transactionId !== undefined
  }, 'the transfer to the user is listed')
  return { userId, token: await tokenOf(world, userId), wallet, transactionId: transactionId! }
}

type Named = { wallet: Wallet; transactionId: string }

/** A request about a wallet and a transaction, for each operation that takes a user token. */
const requests: Record<string, (named: Named) => HttpOptions & { id?: string }> = {
  'GET /v1/w3s/wallets': () => ({}),
  'GET /v1/w3s/wallets/{id}': ({ wallet }) => ({ id: wallet.id }),
  'PUT /v1/w3s/wallets/{id}': ({ wallet }) => ({ id: wallet.id, body: { refId: 'mine' } }),
  'GET /v1/w3s/wallets/{id}/balances': ({ wallet }) => ({ id: wallet.id }),
  'GET /v1/w3s/wallets/{id}/nfts': ({ wallet }) => ({ id: wallet.id }),
  'GET /v1/w3s/transactions': ({ wallet }) => ({ query: { walletIds: wallet.id } }),
  'GET /v1/w3s/transactions/{id}': ({ transactionId }) => ({ id: transactionId }),
  'GET /v1/w3s/transactions/lowestNonceTransaction': ({ wallet }) => ({ query: { walletId: wallet.id } }),
  'POST /v1/w3s/transactions/transfer/estimateFee': ({ wallet }) => ({
    body: { walletId: wallet.id, destinationAddress: freshAddress(), amounts: ['0'] },
  }),
  'POST /v1/w3s/transactions/contractExecution/estimateFee': ({ wallet }) => ({
    body: { walletId: wallet.id, contractAddress: freshAddress() },
  }),
}

const ask = (
  { method, path }: Endpoint<never>,
  named: Named,
  token: string | undefined,
  tenant = world.tenant,
) => {
  const { id, ...options } = requests[`${method} ${path}`]!(named)
  return tenant.http(method, addressOf(path, { id: id ?? '' }), {
    ...options,
    headers: { 'X-User-Token': token },
  })
}

it('has a request for every operation that takes a user token', () => {
  expect(scoped.map(({ name }) => name).sort()).toEqual(Object.keys(requests).sort())
})

describe.each(scoped)('property 86: $name', ({ endpoint, name }) => {
  it('reaches the rows of its user', async () => {
    const { status, text } = await ask(endpoint, ours, ours.token)
    expect([200, 204], text).toContain(status)
  })

  it('does not reach the rows of another user, of the developer, or of another entity', async () => {
    const unknown = { wallet: { ...ours.wallet, id: randomUUID() }, transactionId: randomUUID() }
    const shown = async (named: Named) => {
      const { status, text } = await ask(endpoint, named, ours.token)
      const asked = text.replaceAll(named.wallet.id, '<id>').replaceAll(named.transactionId, '<id>')
      return [status, asked.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<date>')]
    }
    const expected = await shown(unknown)
    if (name !== 'GET /v1/w3s/wallets') {
      expect(await shown(theirs)).toEqual(expected)
      expect(await shown(developers)).toEqual(expected)
      if (name !== 'GET /v1/w3s/transactions') expect(expected[0]).toBe(404)
    }
    for (const { userId, wallet, transactionId } of [theirs, { userId: 'none', ...developers }])
      for (const secret of [userId, wallet.id, wallet.address, transactionId])
        expect(String((await ask(endpoint, ours, ours.token)).text)).not.toContain(secret)
  })

  it('refuses garbage, foreign and expired tokens, and acts for the entity without one', async () => {
    const other = await harness.newEntity()
    const foreign = worldOf(harness, other)
    const foreignToken = await tokenOf(foreign, (await makeUser(foreign, ours.userId)).id)
    const answered = async (token: string, tenant = world.tenant) => {
      const { status, body } = await ask(endpoint, ours, token, tenant)
      return [status, body.code]
    }
    for (const token of ['', 'x', foreignToken, `${ours.token}x`])
      expect(await answered(token)).toEqual([403, 155105])
    expect(await answered(ours.token, other)).toEqual([403, 155105])
    harness.clock.moveMs(3_601_000)
    expect(await answered(ours.token)).toEqual([403, 155104])
    harness.clock.moveMs(-3_601_000)
    for (const named of [ours, theirs, developers])
      expect([200, 204]).toContain((await ask(endpoint, named, undefined)).status)
  })
})

describe('the wallets and transactions of a user', () => {
  it('are listed for the user alone, by the published client too', async () => {
    const client = initiateUserControlledWalletsClient({ apiKey: harness.apiKey, baseUrl: harness.url })
    // Given a userId, the client asks for a token by itself.
    const { userId, wallet, transactionId } = ours
    const { wallets } = (await client.listWallets({ userId })).data!
    expect(wallets).toEqual([expect.objectContaining({ id: wallet.id, custodyType: 'ENDUSER', userId })])
    const { transactions } = (await client.listTransactions({ userId })).data!
    expect(transactions).toEqual([
      expect.objectContaining({ id: transactionId, custodyType: 'ENDUSER', userId, amounts: ['2'] }),
    ])
    const { tokenBalances } = (await client.getWalletTokenBalance({ userId, walletId: wallet.id })).data!
    expect(tokenBalances!.map(({ amount }) => amount)).toEqual(['2'])
    const named = await client.updateWallet({ userId, id: wallet.id, name: 'Savings' })
    expect(named.data!.wallet!.name).toBe('Savings')
    const theirCursor = await harness.http('GET', '/v1/w3s/wallets', {
      query: { pageAfter: theirs.wallet.id },
      headers: { 'X-User-Token': ours.token },
    })
    expect([theirCursor.status, theirCursor.body.code]).toEqual([404, 156012])
  })

  it('are shown to the entity with those of all others, and by userId', async () => {
    const ids = (await world.call('GET', '/v1/w3s/wallets')).wallets.map(({ id }: Wallet) => id)
    expect(ids).toEqual(expect.arrayContaining([ours, theirs, developers].map(({ wallet }) => wallet.id)))
    const { transactions } = await world.call('GET', `/v1/w3s/transactions?userId=${theirs.userId}`)
    expect(transactions.map(({ id }: { id: string }) => id)).toEqual([theirs.transactionId])
  })

  it('are out of reach of the keys of the developer', async () => {
    const body = { idempotencyKey: randomUUID(), walletId: ours.wallet.id }
    const transfer = {
      ...body,
      destinationAddress: freshAddress(),
      amounts: ['1'],
      feeLevel: 'LOW',
      tokenId: world.usdcId,
    }
    const tries: [string, string, object][] = [
      ['POST', '/v1/w3s/developer/transactions/transfer', transfer],
      [
        'POST',
        '/v1/w3s/developer/transactions/walletUpgrade',
        { ...body, newScaCore: 'circle_6900_singleowner_v2', feeLevel: 'LOW' },
      ],
      ['POST', '/v1/w3s/developer/sign/message', { ...body, message: 'I agree.' }],
      ['POST', `/v1/w3s/developer/transactions/${ours.transactionId}/cancel`, body],
      ['PUT', `/v1/w3s/developer/wallets/${ours.wallet.id}/blockchains/ETH-SEPOLIA`, {}],
    ]
    for (const [method, path, sent] of tries) {
      const entitySecretCiphertext = await harness.sealSecret()
      const { status } = await harness.http(method, path, { body: { ...sent, entitySecretCiphertext } })
      expect([path, status]).toEqual([path, 404])
    }
  })
})
