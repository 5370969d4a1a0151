/** Movements and their timelines, told by the chain as much as by the API. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, makeDeposit, type World } from '#testing/builders/world'
import { mineAtBaseFee } from '#testing/nodes/base-fee'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { parseLinkHeader } from '#testing/requests/link-header'
import { openWebhookReceiver, type WebhookReceiver } from '#testing/servers/webhook-receiver'

let harness: Harness
let world: World
let on: ReturnType<typeof transferActions>
let receiver: WebhookReceiver

beforeAll(async () => {
  harness = await openHarness({ config: { requestLog: 'rows' } })
  on = transferActions(harness)
  world = on.world
  receiver = await openWebhookReceiver(harness.http)
})
afterAll(async () => {
  await receiver?.close()
  await harness?.close()
})

type Span = { fromMs: number; toMs?: number; state: string; text: string; refs: Record<string, string> }
type Mark = { atMs: number; what: string; text: string; refs: Record<string, string>; isDue?: boolean }
type Lane = {
  id: string
  kind: string
  title: string
  note?: string
  open: boolean
  spans: Span[]
  marks: Mark[]
}
type Timeline = {
  startDate: string
  endDate?: string
  asOf: string
  truncated: boolean
  lanes: Lane[]
  states: { state: string; atMs: number }[]
}

const timelineOf = (id: string): Promise<Timeline> => world.call('GET', `/operator/movements/${id}/timeline`)
const list = (query = '') => world.call('GET', `/operator/movements?${query}`)
const statesOf = (lanes: readonly Lane[]) =>
  lanes.map(({ title, spans }) => [title, ...spans.map(({ state }) => state)])
const lanesOf = ({ lanes }: Timeline, kind: string) => lanes.filter((lane) => lane.kind === kind)

it('property 171: tells of an attempt that was stuck, its acceleration, a reorg and the block that holds it in the end', async () => {
  const chain = harness.chain()
  const wallet = await on.fundedWallet()
  const body = { endpoint: receiver.url, notificationTypes: ['transactions.outbound'] }
  await world.call('POST', '/v2/notifications/subscriptions', body)
  let refusals = 1
  receiver.behave(({ method, body: sent }, response, taken) => {
    if (method !== 'POST' || !sent.includes('"INITIATED"') || refusals-- <= 0) return taken()
    response.writeHead(503).end()
  })
  await chain.setAutomine(false)
  const idempotencyKey = randomUUID()
  const id = await on.transfer(wallet, { idempotencyKey })
  const first = await on.sent(id, 'original')
  await mineAtBaseFee(chain, first.maxFee * 2n)
  await on.reaches(id, 'STUCK')
  await on.ask(id, 'accelerate')
  const bump = await on.sent(id, 'bump')
  await chain.mine()
  await on.reaches(id, 'COMPLETE')
  const { blockHash: lost } = await chain.rpc<{ blockHash: string }>('eth_getTransactionReceipt', [
    bump.txHash,
  ])
  expect(lanesOf(await timelineOf(id), 'block')).toMatchObject([{ note: lost, spans: [{ state: 'held' }] }])
  await chain.reorg(1)
  await on.reaches(id, 'SENT')
  const open = await timelineOf(id)
  expect([open.endDate, lanesOf(open, 'attempt').map(({ open: lasts }) => lasts)]).toEqual([
    undefined,
    [true, true],
  ])
  await chain.setAutomine(true)
  await chain.mine()
  await on.reaches(id, 'COMPLETE')
  const isTold = async () => {
    const marks = lanesOf(await timelineOf(id), 'endpoint').flatMap((lane) => lane.marks)
    return marks.length > 3 && marks.every(({ isDue }) => isDue !== true)
  }
  await until(isTold, 'the endpoint was told of everything')

  const timeline = await timelineOf(id)
  const { blockHash: kept } = await chain.rpc<{ blockHash: string }>('eth_getTransactionReceipt', [
    bump.txHash,
  ])
  expect(kept).not.toBe(lost)
  expect(timeline.states.map(({ state }) => state)).toEqual([
    'INITIATED',
    'CLEARED',
    'QUEUED',
    'SENT',
    'STUCK',
    'SENT',
    'CONFIRMED',
    'COMPLETE',
    'SENT',
    'CONFIRMED',
    'COMPLETE',
  ])
  expect(
    lanesOf(timeline, 'block').map(({ note, spans, open }) => [note, spans.map(({ state }) => state), open]),
  ).toEqual([
    [lost, ['orphaned'], false],
    [kept, ['held'], false],
  ])
  const [original, bumped] = lanesOf(timeline, 'attempt')
  expect([original!.title, original!.note]).toEqual(['Attempt 1', `nonce ${first.nonce}`])
  expect(bumped!.note).toMatch(new RegExp(`^nonce ${first.nonce}, price \\+\\d+ %$`))
  expect(original!.spans.map(({ state }) => state)).toEqual([
    'signed',
    'sent',
    'stuck',
    'replaced',
    'replaced',
  ])
  expect(bumped!.spans.map(({ state }) => state)).toEqual(['signed', 'sent', 'mined', 'sent', 'mined'])
  expect(bumped!.spans.map(({ refs }) => refs.txHash)).toEqual(Array(5).fill(bump.txHash))
  const facts = lanesOf(timeline, 'ledger')[0]!.marks
  const account = 'address 0x[0-9a-f]{4}…[0-9a-f]{4}'
  const moved = `[\\d.]+ \\S+ {}(out of ${account}( as a fee of the network)?|into ${account})`
  const told = new RegExp(
    `^(${moved.replace('{}', '(was|were) booked ')}|The booking of ${moved.replace('{}', '')} was taken back)\\.$`,
    'i',
  )
  for (const { text } of facts) expect(text).toMatch(told)
  expect(facts.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^[\d.]+ USDC were booked out of /),
  )
  expect(facts.filter(({ what }) => what === 'reversed').length).toBe(facts.length / 3)
  expect(facts.filter(({ refs }) => refs.blockHash === kept).every(({ what }) => what === 'posted')).toBe(
    true,
  )
  expect(statesOf(lanesOf(timeline, 'hold'))).toEqual([
    ['Hold of the amount', 'posted', 'posted'],
    ['Hold of the fee', 'voided', 'posted', 'posted'],
  ])
  const requests = lanesOf(timeline, 'request').map(({ title, spans }) => [title, spans[0]!.state])
  expect(requests).toEqual([
    ['POST /v1/w3s/developer/transactions/transfer', '201'],
    ['POST /v1/w3s/developer/transactions/{id}/accelerate', '200'],
  ])
  expect(lanesOf(timeline, 'idempotency')[0]!.note).toBe(idempotencyKey)
  expect(lanesOf(timeline, 'policy')[0]!.marks[0]!.text).toContain(
    'allowed by version 1 of the policy of the entity',
  )
  const attempts = lanesOf(timeline, 'endpoint')[0]!.marks
  expect(attempts.filter(({ what }) => what === 'refused')).toHaveLength(1)
  expect(attempts.filter(({ what }) => what === 'delivered').length).toBe(timeline.states.length)
  await expectOrdered(timeline)
})

/** Times lie between the start and the time of the document, spans do not run backwards, and each has a sentence. */
async function expectOrdered({ startDate, asOf, lanes, states }: Timeline): Promise<void> {
  const untilMs = Date.parse(asOf) - Date.parse(startDate)
  for (const { id, spans, marks } of lanes) {
    for (const { fromMs, toMs = untilMs, text } of spans)
      expect([id, fromMs >= 0 && fromMs <= toMs && toMs <= untilMs, text]).toEqual([
        id,
        true,
        expect.stringMatching(/\.$/),
      ])
    for (const { atMs, isDue, text } of marks)
      expect([id, atMs >= 0 && (isDue || atMs <= untilMs), text]).toEqual([
        id,
        true,
        expect.stringMatching(/\.$/),
      ])
  }
  const at = states.map(({ atMs }) => atMs)
  expect(at).toEqual([...at].sort((one, other) => one - other))
}

it('tells of a payment, the intent that it pays and the sweep that takes its coins', async () => {
  await world.payout()
  let payment: { id: string; paymentIntentId: string; depositAddress: { address: string } } | undefined
  const isSwept = async () => {
    for (const each of await world.call('GET', '/v1/payments'))
      if (lanesOf(await timelineOf(each.id), 'linked').some(({ title }) => title === 'Sweep')) payment = each
    return payment !== undefined
  }
  await until(isSwept, 'the coins of a payment are swept')
  await expectPaymentTold(payment!)
})

async function expectPaymentTold(payment: {
  id: string
  depositAddress: { address: string }
}): Promise<void> {
  const timeline = await timelineOf(payment.id)
  expect(timeline.states.map(({ state }) => state).at(-1)).toBe('paid')
  expect(lanesOf(timeline, 'block')).toMatchObject([{ title: expect.stringMatching(/^Block \d+$/) }])
  expect(lanesOf(timeline, 'ledger')[0]!.marks).toContainEqual(
    expect.objectContaining({
      text: expect.stringMatching(/^[\d.]+ USD (was|were) booked into merchant wallet \S+\.$/),
      refs: expect.objectContaining({ fact: `payment:${payment.id}` }),
    }),
  )
  const linked = lanesOf(timeline, 'linked')
  expect(linked.map(({ title }) => title)).toEqual(['Payment intent', 'Sweep'])
  const sweepId = linked[1]!.note!
  const sweep = await world.call('GET', `/operator/movements/${sweepId}`)
  expect(sweep).toMatchObject({
    kind: 'sweep',
    direction: 'internal',
    from: { address: payment.depositAddress.address },
  })
  const isDone = async () => (await world.call('GET', `/operator/movements/${sweepId}`)).phase === 'done'
  await until(isDone, 'the sweep is complete')
  const ofSweep = await timelineOf(sweepId)
  expect(lanesOf(ofSweep, 'attempt')).toHaveLength(1)
  expect(lanesOf(ofSweep, 'linked').map(({ note }) => note)).toEqual([payment.id])
  await expectOrdered(timeline)
  await expectOrdered(ofSweep)
}

it('lists movements of every kind, page by page and by each filter', async () => {
  const payout = await world.payout()
  const deposit = await makeDeposit(world)
  const transfer = await world.businessTransfer()
  const wallet = await on.fundedWallet()
  const to = freshAddress()
  const sent = await on.transfer(wallet, { destinationAddress: to })
  await on.reaches(sent, 'COMPLETE')
  // A call without a recipient, which a filter by address must compare all the same.
  const called = await world.call('POST', '/v1/w3s/developer/transactions/contractExecution', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await harness.sealSecret(),
    walletId: wallet.id,
    contractAddress: harness.chain().tokens.USDC,
    abiFunctionSignature: 'approve(address,uint256)',
    abiParameters: [to, '1'],
    feeLevel: 'MEDIUM',
  })
  await on.reaches(called.id, 'COMPLETE')
  await world.call('PUT', `/v1/w3s/wallets/${wallet.id}`, { name: 'payroll' })
  const isQuiet = async () => (await list('phase=open')).length === 0
  await until(isQuiet, 'nothing is under way')
  await harness.stopEngines()

  const all = await list('pageSize=50')
  const ids = all.map(({ id }: { id: string }) => id)
  expect(ids).toEqual(expect.arrayContaining([payout.id, deposit.id, transfer.id, sent]))
  expect(new Set(ids).size).toBe(ids.length)
  const dates = all.map(({ createDate }: { createDate: string }) => createDate)
  expect(dates).toEqual([...dates].sort().reverse())
  const kinds = new Set(all.map(({ kind }: { kind: string }) => kind))
  expect([...kinds].sort()).toEqual(['deposit', 'payment', 'payout', 'sweep', 'transaction', 'transfer'])
  for (const kind of kinds)
    expect((await list(`kind=${kind}&pageSize=50`)).map(({ id }: { id: string }) => id)).toEqual(
      all.filter((each: { kind: string }) => each.kind === kind).map(({ id }: { id: string }) => id),
    )
  expect(all.find(({ kind }: { kind: string }) => kind === 'sweep')).toMatchObject({
    from: { label: 'deposit address' },
    to: { label: 'treasury' },
  })
  const { destination } = await world.call('GET', `/v1/payouts/${payout.id}`)
  const { metadata } = await world.call('GET', `/v1/addressBook/recipients/${destination.id}`)
  expect(all.find(({ id }: { id: string }) => id === payout.id).to.label).toBe(metadata.nickname)
  expect((await list('phase=done&pageSize=50')).map(({ id }: { id: string }) => id)).toEqual(ids)
  expect(await list('phase=failed')).toEqual([])
  const found = await world.call('GET', `/operator/movements/${sent}`)
  expect(found).toMatchObject({
    id: sent,
    kind: 'transaction',
    direction: 'out',
    phase: 'done',
    state: 'COMPLETE',
    amounts: ['0.5'],
    symbol: 'USDC',
    from: { address: wallet.address, label: 'payroll' },
    to: { address: to },
    tookMs: expect.any(Number),
  })
  for (const query of [`address=${to.toUpperCase().replace('0X', '0x')}`, `txHash=${found.txHash}`])
    expect((await list(query)).map(({ id }: { id: string }) => id)).toEqual([sent])
  const ofWallet = await list(`walletId=${wallet.id}`)
  const directions = ofWallet.map(({ direction }: { direction: string }) => direction)
  expect(directions.sort()).toEqual(['in', 'in', 'out', 'out'])
  expect((await list(`address=${wallet.address}`)).map(({ id }: { id: string }) => id)).toEqual(
    ofWallet.map(({ id }: { id: string }) => id),
  )

  const ofAddress = (await list(`address=${wallet.address}`)).map(({ id }: { id: string }) => id)
  expect(await readPages(`address=${wallet.address}&pageSize=1`, 'next')).toEqual(ofAddress)
  // A cursor that the filters hide leads to the first page, as in every list.
  expect((await list(`kind=payout&pageAfter=${sent}`)).map(({ id }: { id: string }) => id)).toContain(
    payout.id,
  )
  expect(await list(`kind=payout&walletId=${wallet.id}&pageAfter=${sent}`)).toEqual([])
  for (const size of [1, 3]) expect(await readPages(`pageSize=${size}`, 'next')).toEqual(ids)
  expect((await readPages(`pageSize=3&pageBefore=${ids.at(-1)}`, 'prev')).sort()).toEqual(
    ids.slice(0, -1).sort(),
  )
  const unknown = await harness.http('GET', `/operator/movements?pageAfter=${randomUUID()}`)
  expect([unknown.status, unknown.body.errors[0].location]).toEqual([404, 'pageAfter'])
  const other = await harness.newEntity()
  expect((await other.http('GET', '/operator/movements')).body.data).toEqual([])
  for (const path of [`/operator/movements/${sent}`, `/operator/movements/${sent}/timeline`])
    expect((await other.http('GET', path)).status).toBe(404)
  harness.startEngines()
})

/** The ids of a list, read by the links of its pages. */
async function readPages(query: string, rel: 'next' | 'prev'): Promise<string[]> {
  const ids: string[] = []
  for (
    let next: string | undefined = `/operator/movements?${query}`;
    next !== undefined && ids.length < 100;
  ) {
    const { status, text, body, headers } = await harness.http('GET', next)
    expect(status, text).toBe(200)
    ids.push(...body.data.map(({ id }: { id: string }) => id))
    next = parseLinkHeader(headers.get('link'))[rel]?.slice(harness.url.length)
  }
  return ids
}

it('refuses filters that mean nothing', async () => {
  for (const [query, location] of [
    ['kind=gift', 'kind'],
    ['phase=late', 'phase'],
    ['blockchain=BASE-SEPOLA', 'blockchain'],
    ['walletId=7', 'walletId'],
    ['colour=red', 'colour'],
  ]) {
    const { status, body } = await harness.http('GET', `/operator/movements?${query}`)
    expect([query, status, body.errors?.[0]?.location]).toEqual([query, 400, location])
  }
})
