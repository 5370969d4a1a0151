/** Triggers of modular wallets, whose operations are signed by their owner, paid by the treasury and in a block of the chain. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
beforeAll(async () => {
  // Modular wallets exist on the second chain alone.
  harness = await openHarness({ lab: true, blockchains: ['ETH-SEPOLIA', 'BASE-SEPOLIA'] })
  await harness.http('POST', '/sandbox/catcher/modular/subscriptions', { body: { line: 'v2' } })
})
afterAll(() => harness?.close())

const trigger = (event: string, set: Record<string, string> = {}, { of = harness, seed = 'any' } = {}) =>
  of.http('POST', '/sandbox/triggers', { body: { event, set, seed } })
const get = async (path: string) => (await harness.http('GET', path)).body.data

type Made = { kind: string; id: string }[]
const idOf = (made: Made, kind: string) => made.find((each) => each.kind === kind)!.id

/** The states that the messages about a resource reported; each message has a signature of the platform. */
async function statesOf(topic: string, resourceId: string): Promise<string[]> {
  const caught = await get(`/sandbox/catcher/modular/messages?resourceId=${resourceId}&pageSize=50`)
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into messages of every shape
  return caught.map((message: any) => {
    expect([message.topic, message.signature.state]).toEqual([topic, 'valid'])
    return JSON.parse(message.body).notification.state
  })
}

/** Runs the event with this amount; returns the operation that it sent, and the transfers before and by it. */
async function payOut(event: string, amount: string, seed: string) {
  const { status, body } = await trigger(event, { 'amounts.0': amount }, { seed })
  expect([status, body.message]).toEqual([201, undefined])
  const made: Made = body.data.made
  const transfers = made.filter(({ kind }) => kind === 'modularTransfer')
  const [received, sent] = await Promise.all(
    transfers.map(async ({ id }) => (await get(`/v1/w3s/modular/transfers/${id}`)).transfer),
  )
  const { userOperation } = await get(`/v1/w3s/modular/userOps/${idOf(made, 'userOperation')}`)
  const { wallet } = await get(`/v1/w3s/wallets/${idOf(made, 'wallet')}`)
  return { received, sent, userOperation, owner: wallet.address as string }
}

describe('property 189: the operation of a modular wallet that a trigger sends is a real one', () => {
  const events = ['modularWallet.userOperation', 'modularWallet.outboundTransfer']

  it.each(events)('%s is reported, signed, and on the chain', async (event) => {
    const { sent, received, userOperation } = await payOut(event, '0.25', event)
    const isTold = (topic: string, id: string, ...states: string[]) =>
      until(async () => {
        const told = await statesOf(topic, id)
        return states.every((state) => told.includes(state))
      }, `${topic} is reported`)
    await isTold('modularWallet.inboundTransfer', received.id, 'CONFIRMED', 'COMPLETE')
    await isTold('modularWallet.userOperation', userOperation.id, 'SENT', 'CONFIRMED', 'COMPLETE')
    await isTold('modularWallet.outboundTransfer', sent.id, 'CONFIRMED', 'COMPLETE')
    expect(sent).toMatchObject({ amount: '0.25', userOpHash: userOperation.userOpHash })
    const { oracle, tokens } = harness.chain('BASE-SEPOLIA')
    expect(await oracle.balanceOf(sent.to, tokens.USDC)).toBe(250_000n)
    expect(await oracle.balanceOf(sent.from, tokens.USDC)).toBe(0n)
  })

  it('has an owner and an account without coins for gas: the treasury pays', async () => {
    const { sent, owner } = await payOut(events[0]!, '1', 'paid')
    const { rpc } = harness.chain('BASE-SEPOLIA')
    for (const address of [sent.from, owner])
      expect(await rpc('eth_getBalance', [address, 'latest'])).toBe('0x0')
    expect(await rpc('eth_getTransactionCount', [owner, 'latest'])).toBe('0x0')
    expect(await rpc('eth_getCode', [sent.from, 'latest'])).toMatch(/^0x[0-9a-f]{100,}$/)
  })

  it('is of another wallet each time, and pays the address that the seed draws', async () => {
    const [first, second] = [
      await payOut(events[1]!, '0.5', 'again'),
      await payOut(events[1]!, '0.5', 'again'),
    ]
    expect(first.sent.from).not.toBe(second.sent.from)
    expect(first.sent.to).toBe(second.sent.to)
    const { oracle, tokens } = harness.chain('BASE-SEPOLIA')
    expect(await oracle.balanceOf(first.sent.to, tokens.USDC)).toBe(1_000_000n)
  })
})

describe('chains', () => {
  it('are those that have modular wallets, unless one is named', async () => {
    const { events } = await get('/sandbox/triggers')
    const chainOf = (name: string) =>
      events.find(({ event }: { event: string }) => event === name).values.blockchain
    expect(chainOf('modularWallet.userOperation')).toBe('BASE-SEPOLIA')
    expect(chainOf('transaction.complete')).toBe('ETH-SEPOLIA')
  })

  it.each([
    ['modularWallet.userOperation', 'ETH-SEPOLIA', 'has no modular wallets: choose from BASE-SEPOLIA.'],
    ['modularWallet.inboundTransfer', 'ETH-SEPOLIA', 'has no modular wallets: choose from BASE-SEPOLIA.'],
    [
      'modularWallet.outboundTransfer',
      'ARB-SEPOLIA',
      'is no chain of this sandbox: choose from BASE-SEPOLIA.',
    ],
    ['modularWallet.outboundTransfer', 'BASE', 'is no chain of this sandbox: choose from BASE-SEPOLIA.'],
    ['transaction.complete', 'BASE', 'is no chain of this sandbox: choose from ETH-SEPOLIA, BASE-SEPOLIA.'],
  ])('%s on %s is refused', async (event, blockchain, problem) => {
    const wallets = async () => (await get('/v1/w3s/wallets?pageSize=50')).wallets.length
    const before = await wallets()
    const { status, body } = await trigger(event, { blockchain })
    expect([status, body.message]).toEqual([400, `API parameter invalid. set.blockchain ${problem}`])
    expect(await wallets()).toBe(before)
  })

  it('without modular wallets have a remedy', async () => {
    const alone = await openHarness({ lab: true, blockchains: ['ETH-SEPOLIA'] })
    try {
      const { status, body } = await trigger('modularWallet.userOperation', {}, { of: alone })
      expect([status, body.message]).toEqual([
        400,
        'API parameter invalid. set.blockchain has no modular wallets: no chain of this sandbox has modular wallets, so start it with BASE-SEPOLIA too.',
      ])
    } finally {
      await alone.close()
    }
  })

  it('refuses to pay nothing', async () => {
    const { status, body } = await trigger('modularWallet.userOperation', { 'amounts.0': '0' })
    const problem = 'API parameter invalid. set.amounts.0 must be an amount above 0, such as 1.25.'
    expect([status, body.message]).toEqual([400, problem])
  })
})
