/** Faults by a plan, through the API of a sandbox, its nodes and its webhooks. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { faultActions } from '#testing/builders/faults'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, makeWalletSet, type World } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { openWebhookReceiver } from '#testing/servers/webhook-receiver'

let harness: Harness
let world: World
let on: ReturnType<typeof transferActions>
let faults: ReturnType<typeof faultActions>

beforeAll(async () => {
  harness = await openHarness({ lab: true })
  on = transferActions(harness)
  faults = faultActions(harness)
  world = on.world
})
afterEach(() => lab('DELETE', '/sandbox/faults'))
afterAll(() => harness?.close())

const lab = (...args: Parameters<typeof faults.lab>) => faults.lab(...args)
const apply = (...args: Parameters<typeof faults.apply>) => faults.apply(...args)
const met = () => faults.met()
const list = () => harness.http('GET', '/v1/w3s/walletSets')

describe('requests', () => {
  it('are refused as often and as the plan says, and tell by which rule', async () => {
    await apply(
      '- { name: limited, on: request, match: { route: "GET /v1/w3s/walletSets" }, when: { after: 1, times: 2 }, do: { status: 429, retryAfter: 2s } }',
    )
    const answers = [await list(), await list(), await list(), await list()]
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 429, 200])
    expect([answers[1]!.headers.get('retry-after'), answers[1]!.headers.get('x-bezant-fault')]).toEqual([
      '2',
      'limited#1',
    ])
    expect(answers[0]!.headers.get('x-bezant-fault')).toBeNull()
    expect(await met()).toMatchObject([
      { rule: 'limited', on: 'request', match: 2, hit: 1, about: { route: 'GET /v1/w3s/walletSets' } },
      { rule: 'limited', match: 3, hit: 2 },
    ])
    expect((await lab('GET', '/sandbox/faults')).body.data.hits).toEqual({ limited: 2 })
  })

  it('property 172: whose answer is lost were done once, and are answered when they are sent again', async () => {
    await apply(
      '- { name: lost, on: request, match: { route: "POST /v1/w3s/developer/walletSets" }, when: { times: 2 }, do: { lose: answer } }',
    )
    const body = {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
      name: 'Once',
    }
    const ask = async () =>
      harness.http('POST', '/v1/w3s/developer/walletSets', {
        body: { ...body, entitySecretCiphertext: await harness.sealSecret() },
      })
    await expect(ask()).rejects.toThrow()
    await expect(ask()).rejects.toThrow()
    const { status, body: answer } = await ask()
    expect(status).toBe(200)
    const sets = await world.call('GET', '/v1/w3s/walletSets?pageSize=50')
    const named = sets.walletSets.filter(({ name }: { name: string }) => name === 'Once')
    expect(named.map(({ id }: { id: string }) => id)).toEqual([answer.data.walletSet.id])
  })

  it('are causes of what they made, also where only the second answer arrives', async () => {
    const path = '/v1/w3s/developer/transactions/transfer'
    const wallet = await on.fundedWallet()
    await apply(
      `- { name: lost, on: request, match: { route: "POST ${path}" }, when: { times: 1 }, do: { lose: answer } }`,
    )
    const idempotencyKey = randomUUID()
    const destinationAddress = freshAddress()
    const ask = () => on.transfer(wallet, { idempotencyKey, destinationAddress })
    await expect(ask()).rejects.toThrow()
    const id = await ask()
    await on.reaches(id, 'COMPLETE')
    const { causes } = await world.call('GET', `/operator/movements/${id}/timeline`)
    expect(causes).toMatchObject([{ fault: 'lost', hit: 1, on: 'request' }])
  })

  it('are done, and answered with half of the body', async () => {
    await apply(
      '- { name: half, on: request, match: { route: "POST /v1/w3s/developer/walletSets" }, when: { times: 1 }, do: { truncate: true } }',
    )
    await expect(makeWalletSet(world, 'Half')).rejects.toThrow()
    const sets = await world.call('GET', '/v1/w3s/walletSets?pageSize=50')
    expect(sets.walletSets.map(({ name }: { name: string }) => name)).toContain('Half')
    await makeWalletSet(world, 'Whole')
  })

  it('are met in a window of business time alone, and counted also outside of it', async () => {
    const path = '/v1/w3s/walletSets'
    await apply(
      `- { name: later, on: request, match: { route: "GET ${path}" }, when: { window: [PT10M, PT1H], every: 2 }, do: { status: 503 } }`,
    )
    const statuses = async () => [(await list()).status, (await list()).status]
    const all = [await statuses()]
    for (const minutes of [11, 60]) {
      harness.clock.moveMs(minutes * 60_000)
      all.push(await statuses())
    }
    expect(all).toEqual([
      [200, 200],
      [200, 503],
      [200, 200],
    ])
    expect(await met()).toMatchObject([{ rule: 'later', match: 4, hit: 1 }])
    expect((await lab('GET', '/sandbox/faults/replay')).body.data.rules[0].when).toEqual({ at: [4] })
  })

  it('wait however long the plan says', async () => {
    await apply('- { name: long, on: request, match: { route: "GET /v1/w3s/wallets" }, do: { delay: P30D } }')
    const asked = fetch(`${harness.url}/v1/w3s/wallets`, {
      headers: { authorization: `Bearer ${harness.apiKey}` },
      signal: AbortSignal.timeout(1_000),
    })
    await expect(asked).rejects.toThrow(/timeout/)
  })

  it('are lost before anything is done', async () => {
    await apply(
      '- { name: never, on: request, match: { route: "POST /v1/w3s/developer/walletSets" }, do: { lose: request } }',
    )
    await expect(makeWalletSet(world, 'Never')).rejects.toThrow()
    const sets = await world.call('GET', '/v1/w3s/walletSets?pageSize=50')
    expect(sets.walletSets.map(({ name }: { name: string }) => name)).not.toContain('Never')
  })

  it('of one entity alone are met where the rule names it, and the control of the sandbox never is', async () => {
    const other = await harness.newEntity()
    await apply(`- { name: theirs, on: request, entityId: "${other.entityId}", do: { status: 503 } }`)
    expect([(await list()).status, (await other.http('GET', '/v1/w3s/walletSets')).status]).toEqual([
      200, 503,
    ])
    await apply('- { name: all, on: request, do: { status: 503 } }')
    expect([(await list()).status, (await lab('GET', '/sandbox/faults')).status]).toEqual([503, 200])
  })
})

describe('seeds', () => {
  const rule =
    '- { name: coin, on: request, match: { route: "GET /v1/w3s/walletSets" }, when: { chance: 0.5 }, do: { status: 503 } }'
  const run = async () => {
    const statuses: number[] = []
    for (let count = 0; count < 24; count++) statuses.push((await list()).status)
    return statuses
  }

  it('property 173: draw the same faults for the same requests, and others for another seed', async () => {
    await apply(rule, 7)
    const first = await run()
    await apply(rule, 7)
    expect(await run()).toEqual(first)
    await apply(rule, 8)
    expect(await run()).not.toEqual(first)
    expect(new Set(first)).toEqual(new Set([200, 503]))
  })

  it('property 173: are not needed to play a run again', async () => {
    await apply(rule, 7)
    const first = await run()
    const { data } = (await lab('GET', '/sandbox/faults/replay')).body
    expect(data.rules[0].when).toEqual({
      at: first.flatMap((status, index) => (status === 503 ? [index + 1] : [])),
    })
    const again = await lab('PUT', '/sandbox/faults', JSON.stringify({ ...data, seed: 99 }))
    expect(again.status).toBe(200)
    expect(await run()).toEqual(first)
  })
})

describe('webhooks', () => {
  it('are refused, lost and doubled on their way, and the attempts say so', async () => {
    const receiver = await openWebhookReceiver(harness.http)
    await apply(`- { name: refused, on: webhook, match: { endpoint: "*/refused*" }, when: { times: 2 }, do: { status: 503 } }
- { name: twice, on: webhook, match: { endpoint: "*/refused*" }, when: { times: 1 }, do: { duplicate: 1 } }`)
    const { id } = await world.call('POST', '/v2/notifications/subscriptions', {
      endpoint: `${receiver.url}/refused`,
      notificationTypes: ['transactions.outbound'],
    })
    const wallet = await on.fundedWallet()
    const transfer = await on.transfer(wallet)
    await on.reaches(transfer, 'COMPLETE')
    const told = () => receiver.webhooks().filter(({ notification }) => notification.id === transfer)
    await until(() => told().some(({ notification }) => notification.state === 'COMPLETE'), 'the end is told')
    const found = await met()
    expect(found.map(({ rule }: { rule: string }) => rule).sort()).toEqual(['refused', 'refused', 'twice'])
    const first = told().filter(({ notification }) => notification.state === told()[0]!.notification.state)
    expect(new Set(first.map(({ notificationId }) => notificationId)).size).toBe(1)
    const notifications = await world.call(
      'GET',
      `/operator/notifications?subscriptionId=${id}&resourceId=${transfer}&pageSize=50`,
    )
    const details = await Promise.all(
      notifications.map((each: { id: string }) => world.call('GET', `/operator/notifications/${each.id}`)),
    )
    const attempts = details.flatMap(({ deliveries }) =>
      deliveries.flatMap((each: { attempts: object[] }) => each.attempts),
    )
    const marks = attempts.flatMap(
      ({ status, responseHeaders = {} }: { status: number; responseHeaders?: object }) => {
        const mark = (responseHeaders as Record<string, string>)['x-bezant-fault']
        return mark ? [[status, mark]] : []
      },
    )
    expect(marks).toEqual(
      expect.arrayContaining([
        [503, 'refused#1'],
        [503, 'refused#2'],
      ]),
    )
    await receiver.close()
  })
})

describe('webhooks that the platform takes for delivered', () => {
  it('never arrive, or arrive after later ones', async () => {
    const receiver = await openWebhookReceiver(harness.http)
    await world.call('POST', '/v2/notifications/subscriptions', {
      endpoint: `${receiver.url}/mixed`,
      notificationTypes: ['transactions.outbound'],
    })
    const wallet = await on.fundedWallet()
    await apply(`- { name: lost, on: webhook, match: { endpoint: "*/mixed*" }, when: { at: [2] }, do: { drop: true } }
- { name: late, on: webhook, match: { endpoint: "*/mixed*" }, when: { at: [3] }, do: { reorder: 2 } }`)
    const transfer = await on.transfer(wallet)
    await on.reaches(transfer, 'COMPLETE')
    const told = () =>
      receiver
        .webhooks()
        .filter(({ notification }) => notification.id === transfer)
        .map(({ notification }) => notification.state)
    await until(() => told().length === 5, 'five of six states are told')
    const { states } = await world.call('GET', `/operator/movements/${transfer}/timeline`)
    const all: string[] = states.map(({ state }: { state: string }) => state)
    const order = told().map((state) => all.indexOf(state))
    const sorted = order.toSorted((one, other) => one - other)
    expect([all.length, new Set(order).size]).toEqual([6, 5])
    // One is two places later than it happened, and the others are one place earlier where they came before it.
    const late = order.filter((each, place) => place - sorted.indexOf(each) > 0)
    expect(late.map((each) => order.indexOf(each) - sorted.indexOf(each))).toEqual([2])
    expect((await met()).map(({ rule, match }: { rule: string; match: number }) => [rule, match])).toEqual([
      ['lost', 2],
      ['late', 3],
    ])
    await receiver.close()
  })
})

describe('nodes', () => {
  it('property 174: pay once, whatever becomes of the answers to what was sent', async () => {
    const wallet = await on.fundedWallet()
    await apply(`- { name: lost-sends, on: node, match: { method: eth_sendRawTransaction }, when: { every: 2 }, do: { reply: resetAfter } }
- { name: twice-known, on: node, match: { method: eth_sendRawTransaction }, when: { every: 3 }, do: { reply: internalErrorAfter } }`)
    const to = freshAddress()
    const ids = []
    for (let count = 0; count < 6; count++) ids.push(await on.transfer(wallet, { destinationAddress: to }))
    for (const id of ids) await on.reaches(id, 'COMPLETE')
    const spoiled = await met()
    expect(spoiled.length).toBeGreaterThan(0)
    const timelines = await Promise.all(
      ids.map((id) => world.call('GET', `/operator/movements/${id}/timeline`)),
    )
    const caused = new Set(
      timelines.flatMap(({ causes }) =>
        causes.map(({ fault, hit }: { fault: string; hit: number }) => `${fault}#${hit}`),
      ),
    )
    for (const { rule, hit } of spoiled) expect(caused).toContain(`${rule}#${hit}`)
    const chain = harness.chain()
    const moved = await chain.oracle.transfers({ to, token: chain.tokens.USDC })
    expect(moved.map(({ amountAtomic }) => amountAtomic)).toEqual(Array(6).fill(500_000n))
    await chain.oracle.checkNonces(wallet.address)
  })

  it('answer as of blocks ago, and are cut off for a while', async () => {
    const chain = harness.chain()
    await chain.mine(3)
    const height = async () => Number(await chain.rpc<string>('eth_blockNumber', []))
    const before = await height()
    await apply(
      '- { name: behind, on: node, match: { method: eth_blockNumber, caller: user }, do: { behindBlocks: 3 } }',
    )
    const shown = await height()
    expect(shown).toBeLessThan(before)
    await apply('- { name: out, on: node, match: { caller: user }, do: { outage: 300ms } }')
    await expect(height()).rejects.toThrow()
    await until(async () => (await height().catch(() => -1)) >= before, 'the outage is over')
  })
})
