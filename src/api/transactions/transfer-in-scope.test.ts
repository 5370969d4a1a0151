import { randomUUID } from 'node:crypto'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshAddress, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const prefixed = '/v1/w3s/transactions/transfer'
const short = '/transactions/transfer'
const developers = '/v1/w3s/developer/transactions/transfer'

let harness: Harness
let world: World
let wallet: Wallet
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallet = await world.fundedWallet()
})
afterAll(() => harness?.close())

const requested = (changes: object = {}) => ({
  idempotencyKey: randomUUID(),
  walletId: wallet.id,
  tokenId: world.usdcId,
  destinationAddress: freshAddress(),
  amounts: ['0.25'],
  feeLevel: 'MEDIUM',
  ...changes,
})
const send = async (path: string, body: object, headers: Record<string, string> = {}) =>
  harness.http('POST', path, {
    body: { ...body, entitySecretCiphertext: await harness.sealSecret() },
    headers,
  })
const stateOf = async (id: string) =>
  (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction.state

/** Checks on the chain that it is paid once, when this transfer and a later one are complete. */
async function isPaidOnce(id: string, to: string) {
  await until(async () => (await stateOf(id)) === 'COMPLETE', 'the transfer is complete')
  const chain = harness.chain()
  await chain.oracle.checkMovedOnce([{ to, token: chain.tokens.USDC, amountAtomic: 250_000n }])
}

describe('POST /transactions/transfer', () => {
  it.each([prefixed, short])('%s pays and shows the result', async (path) => {
    const body = requested()
    const { status, body: answer } = await send(path, body)
    expect([status, answer.data.state]).toEqual([201, 'INITIATED'])
    await isPaidOnce(answer.data.id, body.destinationAddress)
  })

  it("pays once for a request of the developer's path that is retried here", async () => {
    const client = initiateDeveloperControlledWalletsClient({
      apiKey: harness.apiKey,
      entitySecret: harness.entitySecret,
      baseUrl: harness.url,
    })
    const { walletId, tokenId, destinationAddress, amounts: amount, idempotencyKey } = requested()
    const fee = { type: 'level' as const, config: { feeLevel: 'MEDIUM' as const } }
    const made = await client.createTransaction({
      walletId,
      tokenId,
      destinationAddress,
      amount,
      idempotencyKey,
      fee,
    })
    const { id } = made.data!
    const body = requested({ idempotencyKey, destinationAddress })
    for (const path of [prefixed, short, developers]) {
      const { status, body: answer } = await send(path, body)
      expect([status, answer.data.id]).toEqual([200, id])
    }
    const other = await send(prefixed, { ...body, amounts: ['0.26'] })
    expect([other.status, other.body.code]).toEqual([403, 156020])
    await isPaidOnce(id, destinationAddress)
  })

  it('pays once for concurrent requests at every path', async () => {
    const body = requested()
    const answers = await Promise.all(
      [prefixed, developers, short, prefixed, developers].map((path) => send(path, body)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201])
    const ids = new Set(answers.map(({ body }) => body.data.id))
    expect(ids.size).toBe(1)
    await isPaidOnce([...ids][0], body.destinationAddress)
  })

  it.each(['eyJhbGciOiJSUzI1NiJ9.e30.c2ln', 'x', ''])(
    'refuses the user token "%s" before it looks at the body',
    async (token) => {
      const body = requested()
      for (const refused of [body, {}]) {
        const { status, body: answer } = await send(prefixed, refused, { 'X-User-Token': token })
        expect([status, answer.code]).toEqual([403, 155105])
      }
      // The idempotency key is still unused, and the developer's own operation ignores the user token.
      const { status } = await send(developers, body, { 'X-User-Token': token })
      expect(status).toBe(201)
    },
  )
})
