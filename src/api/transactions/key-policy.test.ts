/** The budget of an agent: a policy of its API key, which bounds what leaves at the request of the key, whatever it asks for at once. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertApiKey } from '#runtime/auth/store'
import type { keyScopes } from '#runtime/scope'
import { freshAddress, makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { type Http, httpAs, untilAdmitted } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World
let wallets: Wallet[]
let agent: { id: string; http: Http }

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallets = [await makeWallet(world), await makeWallet(world)]
  for (const { address } of wallets) await harness.fundWallet(address, { usdc: '100', native: '1' })
  await until(async () => {
    const balances = wallets.map(({ id }) => world.call('GET', `/v1/w3s/wallets/${id}/balances`))
    return (await Promise.all(balances)).every(({ tokenBalances }) => tokenBalances.length >= 2)
  }, 'the wallets have their coins')
  agent = await newKey()
})
afterAll(() => harness?.close())

async function newKey(scopes: readonly (typeof keyScopes)[number][] = ['api']) {
  const own = { entityId: harness.entityId, environment: 'TEST', nowMs: Date.now(), scopes } as const
  const { id, text } = await insertApiKey(harness.database, own)
  return { id, http: httpAs(harness.url, text) }
}

const coin = 1_000_000n
const usdc = () => `BASE-SEPOLIA:${harness.chain().tokens.USDC.toLowerCase()}`
const budget = (coins: bigint, each = coins) => ({
  mode: 'rules',
  operations: ['transfer', 'signTypedData'],
  destinations: 'any',
  tokens: [usdc()],
  typedData: [{ contract: usdc(), primaryTypes: ['TransferWithAuthorization'] }],
  permissions: ['transferAuthorization'],
  limits: [
    {
      tokens: [usdc()],
      perTransactionAtomic: String(each * coin),
      windows: [{ seconds: 86_400, amountAtomic: String(coins * coin) }],
    },
  ],
})

const setBudget = (subjectId: string, rules: object, http = harness.http) =>
  http('POST', '/operator/policies', { body: { subjectId, rules } })

async function pay(http: Http, wallet: Wallet, amount = '1') {
  return untilAdmitted(async () =>
    http('POST', '/v1/w3s/developer/transactions/transfer', {
      body: {
        idempotencyKey: randomUUID(),
        entitySecretCiphertext: await harness.sealSecret(),
        walletId: wallet.id,
        tokenAddress: harness.chain().tokens.USDC,
        destinationAddress: freshAddress(),
        amounts: [amount],
        feeLevel: 'MEDIUM',
      },
    }),
  )
}

const fields = ['address from', 'address to', 'uint256 value', 'uint256 validAfter', 'uint256 validBefore']

async function authorize(http: Http, wallet: Wallet) {
  const data = {
    domain: {
      name: 'USDC',
      version: '2',
      chainId: 84_532,
      verifyingContract: harness.chain().tokens.USDC,
    },
    primaryType: 'TransferWithAuthorization',
    types: {
      TransferWithAuthorization: [...fields, 'bytes32 nonce'].map((text) => {
        const [type, name] = text.split(' ')
        return { type, name }
      }),
    },
    message: {
      from: wallet.address,
      to: freshAddress(),
      value: String(coin),
      validAfter: '0',
      validBefore: '9999999999',
      nonce: `0x${randomUUID().replaceAll('-', '').padStart(64, '0')}`,
    },
  }
  return untilAdmitted(async () =>
    http('POST', '/v1/w3s/developer/sign/typedData', {
      body: {
        entitySecretCiphertext: await harness.sealSecret(),
        walletId: wallet.id,
        data: JSON.stringify(data),
      },
    }),
  )
}

describe('property 248: the policy of an API key', () => {
  it('bounds what the key lets leave, by twenty requests at once over wallets and routes', async () => {
    expect((await setBudget(agent.id, budget(5n, 2n))).body.data).toMatchObject({
      scope: 'apiKey',
      subjectId: agent.id,
      version: 1,
      inForce: true,
    })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 3 === 2 ? authorize : pay)(agent.http, wallets[n % 2]!)),
    )
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(5)
    for (const { status, body } of answers.filter(({ status }) => status >= 300)) {
      expect([status, body.code]).toEqual([403, 155900])
      expect(body.message).toContain(`the policy of the API key ${agent.id} (version 1)`)
      expect(body.message).toContain('limits[0] allows 5000000 in 86400 s, of which 5000000 are taken')
    }
    const { data } = (await harness.http('GET', `/operator/policyDecisions?pageSize=5`)).body
    for (const { versions } of data)
      expect(versions.map(({ scope }: { scope: string }) => scope)).toEqual(['entity', 'apiKey'])
  })

  it('leaves other keys alone, and frees what came to nothing', async () => {
    expect((await pay(harness.http, wallets[0]!)).status).toBe(201)
    const other = await newKey()
    expect((await setBudget(other.id, budget(1n))).status).toBe(201)
    // A transfer of more coins than the wallet has is refused after its policy was asked, and takes nothing.
    expect((await setBudget(other.id, budget(1_000n))).status).toBe(201)
    expect((await pay(other.http, wallets[0]!, '999')).status).toBe(400)
    expect((await setBudget(other.id, budget(1n))).status).toBe(201)
    expect((await pay(other.http, wallets[0]!)).status).toBe(201)
    expect((await pay(other.http, wallets[1]!)).status).toBe(403)
  })

  it('bounds each request, and every other operation', async () => {
    const key = await newKey()
    await setBudget(key.id, budget(50n, 2n))
    expect((await pay(key.http, wallets[0]!, '2.000001')).body.message).toContain(
      'limits[0].perTransactionAtomic is 2000000, this is 2000001',
    )
    const message = await key.http('POST', '/v1/w3s/developer/sign/message', {
      body: {
        entitySecretCiphertext: await harness.sealSecret(),
        walletId: wallets[0]!.id,
        message: 'anything',
      },
    })
    expect(message.body.message).toContain('operations does not list signMessage')
  })

  it('keeps the key from the money of the business account, which leaves when no key asks', async () => {
    await world.money()
    const { id: intentId } = await world.paidIntent()
    const destination = { type: 'verified_blockchain', addressId: (await world.ownAddress()).id }
    const amount = { amount: '1.00', currency: 'USD' }
    const asked: [string, object][] = [
      ['/v1/businessAccount/transfers', { destination, amount }],
      ['/v1/payouts', await payoutOf()],
      [
        `/v1/paymentIntents/${intentId}/refund`,
        { destination: { address: freshAddress(), chain: 'BASE' }, amount, toAmount: amount },
      ],
    ]
    for (const [path, body] of asked) {
      const sent = { idempotencyKey: randomUUID(), ...body }
      const answer = await agent.http('POST', path, { body: sent })
      expect([path, answer.status, answer.body.message]).toEqual([
        path,
        403,
        expect.stringContaining('has a policy of its own'),
      ])
    }
  })

  it('is set by operators alone, and never for a key that could change it', async () => {
    const self = await setBudget(agent.id, { mode: 'permissive' }, agent.http)
    expect(self.status).toBe(403)
    const operator = await newKey(['api', 'operator:write'])
    const refused = await setBudget(operator.id, budget(1n))
    expect([refused.status, refused.body.errors[0].message]).toEqual([
      400,
      expect.stringContaining('could change its own policy'),
    ])
    const foreign = await harness.newEntity()
    expect((await setBudget(agent.id, budget(1n), foreign.http)).status).not.toBe(201)
  })

  it('is tried before it is set', async () => {
    const tried = await harness.http('POST', '/operator/policies/dryRun', {
      body: {
        subjectId: agent.id,
        rules: budget(3n),
        transfer: {
          walletId: wallets[0]!.id,
          destinationAddress: freshAddress(),
          amounts: ['1'],
          tokenAddress: harness.chain().tokens.USDC,
        },
      },
    })
    // Five coins left at the request of the key.
    expect(tried.body.data.transfer).toMatchObject({ allowed: false, policy: { scope: 'apiKey' } })
    expect(tried.body.data.past.judged).toBe(5)
  })
})

async function payoutOf() {
  const { id } = await world.payee()
  return {
    source: {
      type: 'wallet',
      id: (await harness.http('GET', '/v1/configuration')).body.data.payments.masterWalletId,
    },
    destination: { type: 'address_book', id },
    amount: { amount: '1.00', currency: 'USD' },
    toAmount: { currency: 'USD' },
  }
}
