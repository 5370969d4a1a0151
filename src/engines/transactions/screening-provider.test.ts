import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseScreenedAddress } from '#chains/screening-chains'
import { addEntry } from '#engines/compliance/lists/index'
import { alarmCounts } from '#runtime/log/alarms'
import { freshAddress, makeTransfer, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { drawn } from '#testing/runner/drawn'
import { type Behaviour, openReceiver, type Receiver } from '#testing/servers/receiver'

let harness: Harness
let world: World
let provider: Receiver
beforeAll(async () => {
  provider = await openReceiver(async () => undefined)
  provider.behave(answering({}))
  harness = await openHarness({ config: { screeningUrl: provider.url, screeningToken: 'a secret' } })
  world = worldOf(harness)
  await world.fundedWallet()
})
afterAll(async () => {
  await harness?.close()
  await provider?.close()
})
beforeEach(() => provider.behave(answering({})))

type Answer = Record<string, unknown>

/** Answers with APPROVE for the address that is asked about, unless `changes` say otherwise. */
const answering =
  (changes: Answer | ((asked: Answer) => Answer)): Behaviour =>
  ({ body }, response) => {
    const asked = JSON.parse(body) as Answer
    const own = typeof changes === 'function' ? changes(asked) : changes
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ ...asked, actions: ['APPROVE'], ...own }))
  }

const read = async (id: string) => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
async function reaches(id: string, state: string) {
  await until(async () => (await read(id)).state === state, `${id} is ${state}`)
  return read(id)
}
const askedAbout = (address: string) =>
  provider.received.filter(({ body }) => (JSON.parse(body) as Answer)['address'] === address)
const reviewOf = async (id: string) =>
  ((await world.call('GET', '/operator/reviews')) as { id: string; state: string }[]).find(
    (review) => review.id === id,
  )
const transferTo = (address: string) => makeTransfer(world, '0.01', address)

describe('an outside provider', () => {
  it('is asked once about an address while its answer counts, with the secret', async () => {
    const destination = freshAddress()
    await reaches((await transferTo(destination)).id, 'COMPLETE')
    await reaches((await transferTo(destination)).id, 'COMPLETE')
    const [asked, ...again] = askedAbout(destination)
    expect(again).toEqual([])
    expect(asked!.headers.authorization).toBe('Bearer a secret')
    expect(JSON.parse(asked!.body)).toEqual({ chain: harness.chain().blockchain, address: destination })
  })

  it('is asked in batches about calls with many recipients, and leaves none of them to an operator', async () => {
    const abi = parseAbi([
      'function transfer(address to, uint256 amount)',
      'struct Call { address target; bytes data; }',
      'function aggregate(Call[] calls)',
    ])
    const target = harness.chain().tokens.USDC as Hex
    const callOf = async (recipients: readonly string[]) => {
      const calls = recipients.map((to) => ({
        target,
        data: encodeFunctionData({ abi, functionName: 'transfer', args: [to as Hex, 1n] }),
      }))
      return world.call('POST', '/v1/w3s/developer/transactions/contractExecution', {
        idempotencyKey: crypto.randomUUID(),
        entitySecretCiphertext: await harness.sealSecret(),
        walletId: (await world.fundedWallet()).id,
        contractAddress: target,
        callData: encodeFunctionData({ abi, functionName: 'aggregate', args: [calls] }),
        feeLevel: 'MEDIUM',
      })
    }
    const recipients = Array.from({ length: 100 }, freshAddress)
    await harness.stopEngines()
    const made = [await callOf(recipients.slice(0, 50)), await callOf(recipients.slice(50))]
    harness.startEngines()
    for (const { id } of made) {
      // The token has no such function: the transaction is cleared, and fails.
      await reaches(id, 'FAILED')
      expect(await reviewOf(id)).toBeUndefined()
    }
    expect(recipients.map((address) => askedAbout(address).length)).toEqual(recipients.map(() => 1))
  })

  it('denies with its own rule, score and category, and outranks a rule that only asks for a review', async () => {
    const destination = `${freshAddress().slice(0, 30)}999999997666`
    provider.behave(
      answering(({ address }) =>
        address === destination
          ? {
              actions: ['DENY', 'REVIEW'],
              ruleName: 'Stolen funds',
              riskScore: 'SEVERE',
              riskCategory: 'HACKING',
            }
          : {},
      ),
    )
    expect(await reaches((await transferTo(destination)).id, 'DENIED')).toMatchObject({
      transactionScreeningEvaluation: {
        ruleName: 'Stolen funds',
        actions: ['REVIEW', 'DENY'],
        reasons: [{ riskScore: 'SEVERE', riskCategories: ['HACKING'] }, { riskScore: 'HIGH' }],
      },
    })
  })

  it('leaves a transaction to an operator where it asks for a review', async () => {
    const destination = freshAddress()
    provider.behave(answering(({ address }) => (address === destination ? { actions: ['REVIEW'] } : {})))
    const { id } = await transferTo(destination)
    await until(async () => (await reviewOf(id))?.state === 'pending', 'an operator has to decide')
    expect((await read(id)).transactionScreeningEvaluation).toMatchObject({ actions: ['REVIEW'] })
  })

  const faults: [string, Behaviour][] = [
    ['answers with a page', (_, response) => response.writeHead(200).end('<html>busy</html>')],
    ['answers with an error', (_, response) => response.writeHead(500).end('{}')],
    ['answers for another address', answering({ address: freshAddress() })],
    ['answers for another chain', answering({ chain: 'ETH' })],
    ['answers without a decision', answering({ actions: [] })],
    ['answers with an unknown action', answering({ actions: ['ALLOW'] })],
    ['ends the connection', (_, response) => response.destroy()],
    ['does not answer in time', () => undefined],
  ]
  it.each(drawn(faults, 2))(
    'property 75: that %s clears nothing and denies nothing, until it answers',
    async (_, fault) => {
      const known = freshAddress()
      await reaches((await transferTo(known)).id, 'COMPLETE')
      const alarms = alarmCounts().get('screening-provider-away')!
      provider.behave(fault)
      const { id } = await transferTo(freshAddress())
      await until(async () => (await reviewOf(id))?.state === 'pending', 'an operator may decide')
      expect(await read(id)).toMatchObject({
        state: 'INITIATED',
        errorDetails: expect.stringContaining('the provider of screening'),
      })
      // What it answered before still counts.
      await reaches((await transferTo(known)).id, 'COMPLETE')
      expect(alarmCounts().get('screening-provider-away')!).toBeGreaterThanOrEqual(alarms)
      provider.behave(answering({}))
      expect((await reaches(id, 'COMPLETE')).errorDetails).toBeUndefined()
      expect(await reviewOf(id)).toMatchObject({ state: 'withdrawn' })
    },
  )

  it('a provider that is away is replaced by an operator, and by a list that denies', async () => {
    provider.behave((_, response) => response.destroy())
    const listed = freshAddress()
    await addEntry(
      { database: harness.database, clock: harness.ctx.clock, actor: 'operator' },
      { list: 'block', entry: parseScreenedAddress('BASE-SEPOLIA', listed)! },
    )
    const [approved, denied, onList] = [
      await transferTo(freshAddress()),
      await transferTo(freshAddress()),
      await transferTo(listed),
    ]
    await reaches(onList.id, 'DENIED')
    for (const [{ id }, verdict] of [
      [approved, 'approve'],
      [denied, 'deny'],
    ] as const) {
      await until(async () => (await reviewOf(id))?.state === 'pending', 'an operator may decide')
      await harness.http('POST', `/operator/reviews/${id}/${verdict}`, { body: { reason: 'known' } })
    }
    await reaches(approved.id, 'COMPLETE')
    await reaches(denied.id, 'DENIED')
  })
})
