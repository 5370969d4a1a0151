/** Faults of screening by a plan: the platform asks the rules as it asks a provider, and decides by their answers. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet, type World } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
let world: World
let on: ReturnType<typeof transferActions>
let wallet: Wallet
beforeAll(async () => {
  harness = await openHarness({ lab: true })
  on = transferActions(harness)
  world = on.world
  wallet = await on.fundedWallet()
})
afterEach(() => lab('DELETE', '/sandbox/faults'))
afterAll(() => harness?.close())

async function lab(method: string, path: string, body?: string, url = harness.url) {
  const response = await fetch(url + path, { method, ...(body !== undefined && { body }) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
const planOf = (rules: string) => `apiVersion: bezant/v1\nseed: 7\nrules:\n${rules}`
async function apply(rules: string) {
  const { status, body } = await lab('PUT', '/sandbox/faults', planOf(rules))
  expect([status, body.message]).toEqual([200, undefined])
}
const met = async () => (await lab('GET', '/sandbox/faults/met')).body.data
const sendTo = (destinationAddress: string) => on.transfer(wallet, { destinationAddress })

it('property 187: deny whom the rule names, and nobody once the plan is gone; what was denied moved nothing', async () => {
  const to = freshAddress()
  await apply(
    `- { name: sanctioned, on: screening, match: { address: "*${to.slice(-8)}", blockchain: BASE-SEPOLIA }, do: { verdict: DENIED, reason: OFAC_SDN } }`,
  )
  const [denied, passed] = [await sendTo(to), await sendTo(freshAddress())]
  await on.reaches(denied, 'DENIED')
  await on.reaches(passed, 'COMPLETE')
  expect(await met()).toMatchObject([
    { rule: 'sanctioned', on: 'screening', match: 1, hit: 1, about: { blockchain: 'BASE-SEPOLIA' } },
  ])
  const { transaction } = await world.call('GET', `/v1/w3s/transactions/${denied}`)
  expect(transaction.transactionScreeningEvaluation).toMatchObject({
    ruleName: 'OFAC_SDN',
    actions: ['DENY'],
  })
  const causes = async (id: string) => (await world.call('GET', `/operator/movements/${id}/timeline`)).causes
  expect(await causes(denied)).toMatchObject([{ fault: 'sanctioned', hit: 1, on: 'screening' }])
  expect(await causes(passed)).toEqual([])
  // The answer is kept: the same address is not asked about again.
  await on.reaches(await sendTo(to), 'DENIED')
  expect(await met()).toHaveLength(1)

  await lab('DELETE', '/sandbox/faults')
  await on.reaches(await sendTo(to), 'COMPLETE')
  await apply('- { name: everybody, on: screening, do: { verdict: FREEZE } }')
  await on.reaches(await sendTo(to), 'DENIED')
  const { wallet: frozen } = await world.call('GET', `/v1/w3s/wallets/${wallet.id}`)
  expect(frozen.state).toBe('FROZEN')
  await world.call('PUT', `/v1/w3s/wallets/${wallet.id}`, { state: 'LIVE' }).catch(() => undefined)
  const moved = await harness.chain().oracle.transfers({ to, token: harness.chain().tokens.USDC })
  expect(moved.map(({ amountAtomic }) => amountAtomic)).toEqual([500_000n])
})

it('let value wait while the provider is away, and go when it answers', async () => {
  wallet = await on.fundedWallet()
  await apply('- { name: away, on: screening, when: { times: 2 }, do: { unavailable: true, delay: 20ms } }')
  const id = await sendTo(freshAddress())
  await on.reaches(id, 'COMPLETE')
  expect((await met()).map(({ hit }: { hit: number }) => hit)).toEqual([1, 2])
})

it('ask the provider that the operator has set about what no rule decides', async () => {
  const [to, other] = [freshAddress(), freshAddress()]
  const provider = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const asked = JSON.parse(Buffer.concat(chunks).toString())
    expect(request.headers.authorization).toBe('Bearer token-of-the-operator')
    const isDenied = [to, other].some((each) => each.toLowerCase() === asked.address.toLowerCase())
    const actions = [isDenied ? 'DENY' : 'APPROVE']
    response.end(JSON.stringify({ ...asked, actions, ruleName: 'Their Own' }))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', () => resolve()))
  const screeningUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/`
  const own = await openHarness({
    lab: true,
    config: { screeningUrl, screeningToken: 'token-of-the-operator' },
  })
  try {
    const theirs = transferActions(own)
    const from = await theirs.fundedWallet()
    const rules = `- { name: fine, on: screening, match: { address: "${to}" }, do: { verdict: APPROVED } }`
    expect((await lab('PUT', '/sandbox/faults', planOf(rules), own.url)).status).toBe(200)
    await theirs.reaches(await theirs.transfer(from, { destinationAddress: to }), 'COMPLETE')
    const denied = await theirs.transfer(from, { destinationAddress: other })
    await theirs.reaches(denied, 'DENIED')
    await lab('DELETE', '/sandbox/faults', undefined, own.url)
    await theirs.reaches(await theirs.transfer(from, { destinationAddress: to }), 'DENIED')
  } finally {
    await own.close()
    provider.close()
  }
})
