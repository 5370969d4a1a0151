/** Business time under control: the program as a user starts it, moved by its own operations. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshAddress } from '#testing/builders/world'
import type { HttpAnswer } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { type Program, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'
import { openReceiver, type Receiver } from '#testing/servers/receiver'

const dayMs = 86_400_000

let dataDir: string
let program: Program
let receiver: Receiver

const start = () =>
  startProgram({
    dataDir,
    args: ['--chains', 'BASE-SEPOLIA'],
    env: { BEZANT_RECIPIENT_HOLD_HOURS: '24' },
  })

beforeAll(async () => {
  receiver = await openReceiver(async () => undefined)
  dataDir = await initializedDirectory()
  program = await start()
})
afterAll(async () => {
  await program?.killAll()
  await receiver?.close()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const http = (method: string, path: string, body?: object) => program.tenant.http(method, path, { body })
const data = async (answer: Promise<HttpAnswer>) => {
  const { status, body, text } = await answer
  expect(status, text).toBeLessThan(300)
  return body.data
}
const get = (path: string) => data(http('GET', path))
const clock = () => get('/sandbox/clock')
const advance = async (body: object) => {
  const told = await data(http('POST', '/sandbox/clock/advance', body))
  if (!told.isAdvancing) return told
  await until(async () => !(await clock()).isAdvancing, 'the advance has ended')
  return get('/sandbox/clock/advance')
}
const post = (path: string, body: object) =>
  data(http('POST', path, { ...(path.startsWith('/v1/') && { idempotencyKey: randomUUID() }), ...body }))

async function headDateMs(): Promise<number> {
  const { rpcUrl } = program.answer.chains[0]!
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getBlockByNumber',
    params: ['latest', false],
  })
  const answer = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const { result } = (await answer.json()) as { result: { timestamp: string } }
  return Number(result.timestamp) * 1_000
}

const newIntent = () =>
  post('/v1/paymentIntents', {
    type: 'transient',
    amount: { amount: '3.14', currency: 'USD' },
    settlementCurrency: 'USD',
    paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
  })

async function sealed(body: object) {
  return { ...body, entitySecretCiphertext: await program.tenant.sealSecret() }
}

async function newWallet() {
  const { walletSet } = await post('/v1/w3s/developer/walletSets', await sealed({ name: 'Clock' }))
  const { wallets } = await post(
    '/v1/w3s/developer/wallets',
    await sealed({ walletSetId: walletSet.id, blockchains: ['BASE-SEPOLIA'], accountType: 'EOA', count: 1 }),
  )
  return wallets[0] as { id: string; address: string }
}

async function fundedWallet() {
  const wallet = await newWallet()
  const { status, text } = await http('POST', '/v1/faucet/drips', {
    address: wallet.address,
    blockchain: 'BASE-SEPOLIA',
    native: true,
  })
  expect(status, text).toBe(204)
  const balances = async () => (await get(`/v1/w3s/wallets/${wallet.id}/balances`)).tokenBalances
  await until(async () => (await balances()).length > 0, 'the coins have arrived')
  return wallet
}

const transferOf = (walletId: string) => ({
  walletId,
  destinationAddress: freshAddress(),
  amounts: ['0.001'],
  feeLevel: 'HIGH',
})

/** Lets the wallet send this much native coin within a day, and no more. */
const limitToADay = (walletId: string, amountAtomic: string) => {
  const tokens = ['BASE-SEPOLIA:native']
  const windows = [{ seconds: 86_400, amountAtomic }]
  const rules = { mode: 'rules', operations: ['transfer'], destinations: 'any', tokens }
  return post('/operator/policies', {
    subjectId: walletId,
    rules: { ...rules, limits: [{ tokens, windows }] },
  })
}

async function transfer(walletId: string) {
  const { id } = await post('/v1/w3s/developer/transactions/transfer', await sealed(transferOf(walletId)))
  const read = async () => (await get(`/v1/w3s/transactions/${id}`)).transaction
  await until(async () => (await read()).state === 'COMPLETE', 'the transfer is complete')
  return read()
}

it('an advance lets everything on the way happen in the order of its dates, with its date', async () => {
  await post('/v2/notifications/subscriptions', {
    endpoint: receiver.url,
    notificationTypes: ['transactions.inbound'],
  })
  receiver.behave((_, response) => void response.writeHead(503).end())
  const wallet = await fundedWallet()
  await limitToADay(wallet.id, '1500000000000000')
  await transfer(wallet.id)
  const refused = await http(
    'POST',
    '/v1/w3s/developer/transactions/transfer',
    await sealed({ ...transferOf(wallet.id), idempotencyKey: randomUUID() }),
  )
  expect([refused.status, refused.body.code], refused.text).toEqual([403, 155900])
  const intent = await newIntent()
  const recipient = await post('/v1/addressBook/recipients', {
    chain: 'BASE',
    address: freshAddress(),
    metadata: {},
  })
  const statusOf = async () => (await get(`/v1/addressBook/recipients/${recipient.id}`)).status
  await until(async () => (await statusOf()) === 'inactive', 'the recipient is on hold')
  const failedDelivery = async () => {
    const [{ id }] = (await get('/operator/notifications?topic=transactions.inbound')).toReversed()
    return (await get(`/operator/notifications/${id}`)).deliveries[0]
  }
  await until(async () => (await failedDelivery()).attemptCount > 0, 'the endpoint has refused once')

  const before = await clock()
  const { now, fired, hops } = await advance({ by: 'P4D' })

  expect(Date.parse(now) - Date.parse(before.now)).toBeGreaterThanOrEqual(4 * dayMs)
  expect(hops).toBeGreaterThan(3)
  const dates = fired.map(({ dueDate }: { dueDate: string }) => dueDate)
  expect(dates).toEqual(dates.toSorted())
  const timers = fired.map(({ timer, resourceId }: Record<string, string>) => `${timer} ${resourceId}`)
  const expiry = timers.indexOf(`paymentIntentExpiry ${intent.id}`)
  const hold = timers.indexOf(`recipientHold ${recipient.id}`)
  expect(expiry).toBeGreaterThanOrEqual(0)
  expect(hold).toBeGreaterThan(expiry)
  const { timeline } = await get(`/v1/paymentIntents/${intent.id}`)
  const expired = timeline.find(({ status }: { status: string }) => status === 'expired')
  // The date of its stop, not of the end of the advance.
  expect(Date.parse(expired.time) - Date.parse(intent.expiresOn)).toBeLessThan(dayMs / 2)
  expect(await statusOf()).toBe('active')
  const delivery = await failedDelivery()
  expect(delivery.state).toBe('failed')
  const attempts = delivery.attempts.map(({ createDate }: { createDate: string }) => Date.parse(createDate))
  expect(attempts).toEqual(attempts.toSorted((a: number, b: number) => a - b))
  expect(Math.abs((await headDateMs()) - Date.parse((await clock()).now))).toBeLessThan(60_000)
  receiver.behave()
  // Money moves as before, at the new time: the window of the policy is open again.
  const after = await transfer(wallet.id)
  expect(Date.parse(after.createDate)).toBeGreaterThanOrEqual(Date.parse(now))
})

it('a frozen clock stands still while work goes on, and passes on from there when released', async () => {
  const wallet = await fundedWallet()
  const { now, isFrozen } = await data(http('POST', '/sandbox/clock/freeze', {}))
  expect(isFrozen).toBe(true)
  const first = await transfer(wallet.id)
  const second = await transfer(wallet.id)
  expect([first.createDate, second.createDate]).toEqual([now, now])
  expect((await clock()).now).toBe(now)
  // Durations are measured in real time.
  const { states } = await get(`/operator/movements/${second.id}/timeline`)
  expect(states.at(-1).state).toBe('COMPLETE')
  expect(states.at(-1).atMs).toBeGreaterThan(0)
  const later = await advance({ by: 'PT1H' })
  expect(Date.parse(later.now) - Date.parse(now)).toBe(3_600_000)
  const released = await data(http('POST', '/sandbox/clock/release', {}))
  expect(released.isFrozen).toBe(false)
  expect(Date.parse(released.now) - Date.parse(later.now)).toBeLessThan(60_000)
  await until(async () => (await clock()).now > released.now, 'time passes again')
  await transfer(wallet.id)
})

it('a clock that is frozen at a later instant takes the chains there', async () => {
  const atMs = Date.parse((await clock()).now) + 3 * dayMs
  await data(http('POST', '/sandbox/clock/freeze', { at: new Date(atMs).toISOString() }))
  expect(Math.abs((await headDateMs()) - atMs)).toBeLessThan(10_000)
  await post('/sandbox/faucet', {
    address: freshAddress(),
    blockchain: 'BASE-SEPOLIA',
    token: 'USDC',
    amount: '1',
  })
  expect(Math.abs((await headDateMs()) - atMs)).toBeLessThan(10_000)
  await data(http('POST', '/sandbox/clock/release', {}))
})

it('an advance tells of everything that became due, also while time passed at a stop', async () => {
  const intents = await Promise.all(Array.from({ length: 60 }, newIntent))
  const { fired, isAdvancing } = await advance({ by: 'P1D' })
  expect(isAdvancing).toBe(false)
  const told = new Set(fired.map(({ resourceId }: { resourceId: string }) => resourceId))
  expect(intents.filter(({ id }) => !told.has(id))).toEqual([])
})

it('an advance leaves a chain paused, with its transactions unmined', async () => {
  const chain = async () => (await get('/sandbox/chains'))[0]
  const wallet = await fundedWallet()
  await data(http('POST', '/sandbox/chains/BASE-SEPOLIA/pause'))
  const { id } = await post('/v1/w3s/developer/transactions/transfer', await sealed(transferOf(wallet.id)))
  const stateOf = async () => (await get(`/v1/w3s/transactions/${id}`)).transaction.state
  await until(async () => (await chain()).unmined > 0, 'the node has the transaction')
  const { headNumber } = await chain()
  await advance({ by: 'PT1H' })
  expect(await chain()).toMatchObject({ isPaused: true, headNumber })
  await data(http('POST', '/sandbox/chains/BASE-SEPOLIA/resume'))
  await until(async () => (await stateOf()) === 'COMPLETE', 'it is complete')
  expect((await headDateMs()) + 60_000).toBeGreaterThan(Date.parse((await clock()).now))
})

it('the clock keeps its lead over a restart', async () => {
  const { now } = await advance({ by: 'P1D' })
  program.signal('SIGTERM', 'process')
  expect(await program.exited).toEqual({ code: 0, signal: null })
  program = await start()
  const again = await clock()
  expect(Date.parse(again.now)).toBeGreaterThanOrEqual(Date.parse(now))
  expect(again.offsetMs).toBeGreaterThan(4 * dayMs)
  await transfer((await fundedWallet()).id)
})

it('the clock is moved from a terminal', async () => {
  const bezant = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand({
      command: 'sandbox',
      args: ['clock', ...args],
      env: { BEZANT_URL: program.answer.url },
    })
    return { code, stderr, row: code === 0 ? JSON.parse(stdout) : undefined }
  }
  const before = (await bezant('show')).row
  const { row } = await bezant('advance', 'PT1H')
  expect(Date.parse(row.now) - Date.parse(before.now)).toBeGreaterThanOrEqual(3_600_000)
  expect((await bezant('freeze')).row.isFrozen).toBe(true)
  expect((await bezant('release')).row.isFrozen).toBe(false)
  const wrong = await bezant('advance', 'tomorrow')
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('DURATION must be a duration')])
  expect((await bezant('advance')).stderr).toContain('advance needs a duration')
})

describe('a wrong request', () => {
  it.each([
    ['nothing', {}, 'by is missing'],
    ['both', { by: 'P1D', to: '2100-01-01T00:00:00Z' }, 'send one of both'],
    ['a duration of zero', { by: 'PT0S' }, 'above zero'],
    ['a month, whose length differs', { by: 'P1M' }, 'such as P3DT4H'],
    ['a negative duration', { by: '-P1D' }, 'such as P3DT4H'],
    ['no duration', { by: 'tomorrow' }, 'such as P3DT4H'],
    ['half a duration', { by: 'P1DT' }, 'such as P3DT4H'],
    ['the past', { to: '2020-01-01T00:00:00Z' }, 'time only moves forward'],
    ['a year of five digits', { by: 'P3000000D' }, 'must not lead beyond 9900'],
    ['a duration that no number holds', { by: `P${'9'.repeat(30)}D` }, 'such as P3DT4H'],
    ['an instant without its offset', { to: '2100-01-01T00:00:00' }, 'RFC 3339'],
  ])('that says %s is refused, and moves nothing', async (_, body, reason) => {
    const before = await clock()
    const { status, text } = await http('POST', '/sandbox/clock/advance', body)
    expect(status, text).toBe(400)
    expect(text).toContain(reason)
    expect((await clock()).offsetMs).toBe(before.offsetMs)
  })
})
