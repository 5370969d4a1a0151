/** `bezant trigger`: every event happens by real operations, and every topic has one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { topics } from '#api/index'
import { notificationTypes } from '#engines/webhooks/index'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ lab: true })
  for (const line of ['v1', 'v2'])
    await harness.http('POST', '/sandbox/catcher/triggered/subscriptions', { body: { line } })
})
afterAll(() => harness?.close())

const bezant = (...args: string[]) =>
  runCommand({ command: 'trigger', args, env: { BEZANT_URL: harness.url } })
const get = async (path: string) => (await harness.http('GET', path)).body.data

// biome-ignore lint/suspicious/noExplicitAny: tests reach into lines of every shape
async function linesOf(...args: string[]): Promise<any[]> {
  const { code, stdout, stderr } = await bezant(...args)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const stateAt: Record<string, [topic: string, state: string]> = {
  'payment.pending': ['payments', 'pending'],
  'payment.paid': ['payments', 'paid'],
  'payment.reversed': ['payments', 'pending'],
  'paymentIntent.created': ['paymentIntents', 'pending'],
  'paymentIntent.underpaid': ['paymentIntents', 'pending'],
  'paymentIntent.paid': ['paymentIntents', 'complete'],
  'paymentIntent.overpaid': ['paymentIntents', 'complete'],
  'paymentIntent.expired': ['paymentIntents', 'expired'],
  'paymentIntent.refunded': ['payments', 'paid'],
  'payout.complete': ['payouts', 'complete'],
  'payout.failed': ['payouts', 'failed'],
  'wire.complete': ['wire', 'complete'],
  'deposit.complete': ['deposits', 'complete'],
  'businessPayout.complete': ['payouts', 'complete'],
  'businessPayout.returned': ['returns', 'complete'],
  'transfer.complete': ['transfers', 'complete'],
  'addressBookRecipient.active': ['addressBookRecipients', 'active'],
  'transaction.complete': ['transactions.outbound', 'COMPLETE'],
  'transaction.inbound': ['transactions.inbound', 'COMPLETE'],
  'transaction.failed': ['transactions.outbound', 'FAILED'],
  'transaction.cancelled': ['transactions.outbound', 'CANCELLED'],
  'transaction.stuck': ['transactions.outbound', 'STUCK'],
  'transaction.reorged': ['transactions.outbound', 'CONFIRMED'],
  'transaction.denied': ['transactions.outbound', 'DENIED'],
  'challenge.initialize': ['challenges.initialize', 'COMPLETE'],
  'challenge.setPin': ['challenges.setPin', 'COMPLETE'],
  'challenge.changePin': ['challenges.changePin', 'COMPLETE'],
  'challenge.restorePin': ['challenges.restorePin', 'COMPLETE'],
  'challenge.createWallet': ['challenges.createWallet', 'COMPLETE'],
  'challenge.createTransaction': ['challenges.createTransaction', 'COMPLETE'],
  'challenge.contractExecution': ['challenges.contractExecution', 'COMPLETE'],
  'challenge.accelerateTransaction': ['challenges.accelerateTransaction', 'COMPLETE'],
  'challenge.cancelTransaction': ['challenges.cancelTransaction', 'COMPLETE'],
  'modularWallet.inboundTransfer': ['modularWallet.inboundTransfer', 'COMPLETE'],
  'modularWallet.userOperation': ['modularWallet.userOperation', 'COMPLETE'],
  'modularWallet.outboundTransfer': ['modularWallet.outboundTransfer', 'COMPLETE'],
  'x402.payment': ['x402.payment', 'completed'],
}

/** The states that the messages about a resource reported. */
async function statesOf(resourceId: string): Promise<string[]> {
  const caught = await get(`/sandbox/catcher/triggered/messages?resourceId=${resourceId}&pageSize=50`)
  return caught.map(({ body, topic }: { body: string; topic: string }) => {
    const message = JSON.parse(body)
    const notice = message.Message === undefined ? message : JSON.parse(message.Message)
    const resource = notice.notification ?? notice[topic] ?? notice[topic.slice(0, -1)]
    return `${topic} ${resource.status ?? resource.state ?? resource.timeline?.[0]?.status}`
  })
}

describe('property 178: every topic of notifications is caused by real operations', () => {
  it.each(Object.entries(stateAt))('%s is reported as %j', async (event, [topic, state]) => {
    const [{ made, notifications, seed }] = await linesOf(event)
    expect(seed).toEqual(expect.any(String))
    expect(notifications).toEqual(expect.any(Array))
    await until(async () => {
      const all = await Promise.all(made.map(({ id }: { id: string }) => statesOf(id)))
      return all.flat().includes(`${topic} ${state}`)
    }, `${event} is reported as ${state}`)
  })

  it('contract.eventLog is reported', async () => {
    const [, { made }] = await linesOf('contract.eventLog', '--n', '2')
    expect(made.map(({ kind }: { kind: string }) => kind)).toContain('eventLog')
    await until(async () => {
      const caught = await get('/sandbox/catcher/triggered/messages?topic=contracts.eventLog&pageSize=1')
      return caught.length > 0
    }, 'the log is reported')
  })

  it('lists every event, and leaves no topic out without a reason', async () => {
    const lines = await linesOf('--list')
    const events = lines.filter(({ event }) => event)
    expect(events.map(({ event }) => event).toSorted()).toEqual(
      [...Object.keys(stateAt), 'contract.eventLog'].toSorted(),
    )
    const covered = new Set<string>(events.flatMap((each) => each.topics))
    const excused = lines.flatMap(({ topic }) => topic ?? [])
    const v1 = Object.values(topics).flatMap((topic) => (topic.line === 'v1' ? [topic.name] : []))
    const v2 = notificationTypes.filter((type) => !type.includes('*'))
    const missing = [...v1, ...v2].filter(
      (topic) =>
        !covered.has(topic) && !excused.some((each) => topic === each || topic.startsWith(`${each}.`)),
    )
    expect(missing).toEqual([])
    expect(excused.filter((topic) => covered.has(topic))).toEqual([])
  })
})

describe('values and mistakes', () => {
  it('sets a value, runs several times, and draws the same addresses from a seed', async () => {
    const runs = await linesOf('payment.paid', '--set', 'amount.amount=20.50', '--n', '2', '--seed', '7')
    expect(runs.map(({ seed }) => seed)).toEqual(['7/1', '7/2'])
    const { id } = runs[1].made.find(({ kind }: { kind: string }) => kind === 'payment')
    expect((await get(`/v1/payments/${id}`)).amount).toEqual({ amount: '20.50', currency: 'USD' })
  })

  it('prints what was made without JSON on a terminal', async () => {
    const { isTTY } = process.stdout
    process.stdout.isTTY = true
    try {
      const { code, stdout } = await bezant('addressBookRecipient.active')
      expect(code).toBe(0)
      expect(stdout).toMatch(/^made +addressBookRecipient [0-9a-f-]{36}$/m)
      expect(stdout).not.toMatch(/[[{"]/)
    } finally {
      process.stdout.isTTY = isTTY
    }
  })

  it.each([
    [2, [], 'name an event: bezant trigger --list shows them'],
    [1, ['payment.payd'], 'EVENT cannot be triggered: did you mean payment.paid?'],
    [
      1,
      ['payment.paid', '--set', 'amount.value=1'],
      '--set amount.value cannot be set: choose from amount.amount, blockchain.',
    ],
    [
      1,
      ['payment.paid', '--set', 'amount.amount=-1'],
      '--set amount.amount must be an amount above 0, such as 1.25.',
    ],
    [
      1,
      ['payment.paid', '--set', 'blockchain=SOL'],
      '--set blockchain is no chain of this sandbox: choose from BASE-SEPOLIA.',
    ],
    [2, ['payment.paid', '--set', 'amount'], '--set needs PATH=VALUE, not "amount"'],
    [2, ['payment.paid', '--n', '101'], '--n must be a whole number from 0 to 100, not "101"'],
    [2, ['payment.paid', '--n', '0'], '--n must be a whole number from 1 to 100, not "0"'],
    [2, ['payment.paid', '--lst'], 'unknown option --lst: did you mean --list?'],
  ])('exits with %i for %j, and says what to do', async (code, args, problem) => {
    const done = await bezant(...args)
    expect([done.code, done.stderr.split('\n')[0], done.stdout]).toEqual([code, `bezant: ${problem}`, ''])
  })
})
