import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '#testing/platform/until'
import { programFile } from '#testing/processes/programs'
import { serverOfRun, setServerOfRun } from './environment.ts'
import { passThrough } from './pass-through.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { type Sandbox, startSandbox } from './testing.ts'

const chain = 'BASE-SEPOLIA'
let server: ServerProcess
let sandbox: Sandbox
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bezant-kit-test-'))
  server = await startServer([await programFile('kit')])
  setServerOfRun(server.url)
  sandbox = await startSandbox({ seed: 7 })
})
afterAll(async () => {
  await sandbox?.stop()
  setServerOfRun(undefined)
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

const refused = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => expect.unreachable('it was not refused'),
    (error: Error) => error.message,
  )

const runningCount = async () => ((await (await fetch(server.url)).json()) as { count: number }).count

/** Pays an intent of the business account from outside, and returns the payment. */
async function payIntent(on: Sandbox, amount = '20'): Promise<{ intentId: string; txHash: string }> {
  const intent = await on.call('POST', '/v1/paymentIntents', {
    idempotencyKey: randomUUID(),
    type: 'transient',
    amount: { amount, currency: 'USD' },
    settlementCurrency: 'USD',
    paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
  })
  const [{ address }] = intent.paymentMethods
  const { txHash } = await on.faucet(address, amount)
  return { intentId: intent.id, txHash }
}

describe('property 180: sandboxes of one test run share nothing', () => {
  it('does not show the payments, the time, the faults, the messages and the snapshots of another', async () => {
    const other = await startSandbox()
    try {
      await sandbox.catcher.subscribe('v1')
      const { intentId } = await payIntent(sandbox)
      await sandbox.catcher.next({ topic: 'payments' })
      await sandbox.snapshots.save('one')
      await sandbox.faults.apply({ rules: [{ name: 'late', on: 'request', do: { delay: '1ms' } }] })
      await sandbox.clock.advance('P2D')

      expect(await other.call('GET', '/v1/payments')).toEqual([])
      await expect(other.call('GET', `/v1/paymentIntents/${intentId}`)).rejects.toMatchObject({ status: 404 })
      expect((await other.clock.read()).offsetMs).toBe(0)
      expect((await sandbox.clock.read()).offsetMs).toBeGreaterThan(2 * 86_400_000 - 60_000)
      expect(await other.faults.list()).toEqual({ hits: {} })
      expect(await other.catcher.messages()).toEqual([])
      expect(await other.snapshots.list()).toEqual([])
      expect((await other.chain().read()).headHash).not.toBe((await sandbox.chain().read()).headHash)
      expect(other.chain().rpcUrl).not.toBe(sandbox.chain().rpcUrl)
      expect(await sandbox.call('GET', '/v1/payments')).toHaveLength(1)
    } finally {
      await other.stop()
      await sandbox.faults.clear()
    }
    expect(await runningCount()).toBe(1)
  })

  it('pays the gas of the treasuries of each', async () => {
    const others = await Promise.all([startSandbox(), startSandbox()])
    try {
      for (const each of others) {
        await each.catcher.subscribe('v1')
        await payIntent(each)
        await each.catcher.next({ topic: 'payments' })
      }
      expect(await runningCount()).toBe(3)
    } finally {
      await Promise.all(others.map((each) => each.stop()))
    }
  })
})

describe('the handles', () => {
  it('control the chain: a payment is taken back by a reorg, and returns', async () => {
    const { txHash } = await payIntent(sandbox)
    const payments = async () =>
      (await sandbox.call<{ id: string; transactionHash: string }[]>('GET', '/v1/payments')).filter(
        (payment) => payment.transactionHash === txHash,
      )
    await until(async () => (await payments()).length === 1, 'the payment is booked')
    const payment = (await payments())[0]!
    await sandbox.timeline(payment.id, { until: 'paid' })
    await sandbox.chain(chain).pause()
    const reorg = await sandbox.chain(chain).reorg({ depth: 1 })
    expect(reorg.returned).toContain(txHash)
    await sandbox.chain(chain).resume()
    const timeline = await sandbox.timeline(payment.id, { until: 'paid' })
    expect(passThrough(timeline, 'pending', 'paid', 'pending', 'paid')).toMatchObject({ pass: true })
    const verdict = passThrough(timeline, 'paid', 'reversed')
    expect(verdict.pass).toBe(false)
    expect(verdict.message()).toMatch(
      /to pass through paid, reversed; it entered .*paid, so reversed is missing after paid/,
    )
    expect(await refused(sandbox.timeline(payment.id, { until: 'reversed', timeoutMs: 0 }))).toMatch(
      /is not reversed after 0 ms, but paid; it entered pending, confirmed, paid, pending/,
    )
    expect(() => passThrough({}, 'paid')).toThrow('compares a timeline')

    expect(await sandbox.chain().mine(3)).toMatchObject({ blockchain: chain, mining: 'each_transaction' })
    expect(await sandbox.chain().interval(5)).toMatchObject({ mining: 'interval', intervalS: 5 })
    expect(await sandbox.chain().interval(0)).toMatchObject({ mining: 'each_transaction' })
    expect(await sandbox.chain().baseFee('30.5')).toMatchObject({ baseFeeGwei: '30.5' })
    const from = '0x00000000000000000000000000000000000000aa'
    await sandbox.faucet(from, '1', { token: 'NATIVE' })
    const transfer = {
      to: '0x00000000000000000000000000000000000000bb',
      token: 'NATIVE',
      amount: '0.1',
    } as const
    expect(await sandbox.chain().impersonate(from, { transfer })).toMatchObject({ status: 'mined' })
  })

  it('meet faults by the seed of the sandbox, and tell how to meet them again', async () => {
    expect((await sandbox.faults.preset('lost-answers')).plan!.seed).toBe(7)
    const rule = {
      name: 'busy',
      on: 'request',
      match: { route: 'GET /v1/payouts' },
      do: { status: 503 },
    } as const
    await sandbox.faults.apply({ rules: [{ ...rule, when: { times: 1 } }] })
    await expect(sandbox.call('GET', '/v1/payouts')).rejects.toMatchObject({ status: 503 })
    expect(await sandbox.call('GET', '/v1/payouts')).toEqual([])
    expect(await sandbox.faults.met()).toMatchObject([{ rule: 'busy', hit: 1 }])
    expect(await sandbox.faults.replay()).toMatchObject({
      seed: 7,
      rules: [{ name: 'busy', when: { at: [1] } }],
    })
    const { rules } = (await sandbox.faults.add({ ...rule, name: 'more' })).plan!
    expect(rules.map(({ name }) => name)).toEqual(['busy', 'more'])
    await sandbox.faults.remove('busy')
    expect(await refused(sandbox.faults.apply('rules: nonsense'))).toMatch(/line 1: rules/)
    await sandbox.faults.clear()
    expect((await sandbox.faults.list()).plan).toBeUndefined()
    const logged = () => sandbox.requests({ route: '/v1/payouts', status: '503' })
    await until(async () => (await logged()).length === 1, 'the request is in the log')
    expect(await logged()).toMatchObject([{ method: 'GET', path: '/v1/payouts' }])
  })

  it('catch messages with answers as told, and mails; name what came when none does', async () => {
    const inbox = sandbox.catcher.inbox('errors')
    await inbox.behave({ sequence: [503, 200] })
    await fetch(inbox.url, { method: 'POST', body: 'one' })
    await fetch(inbox.url, { method: 'POST', body: 'two' })
    expect(await inbox.next()).toMatchObject({ body: 'one', answeredStatus: 503 })
    expect(await inbox.next()).toMatchObject({ body: 'two', answeredStatus: 200 })
    expect(await refused(inbox.next({ topic: 'payments', timeoutMs: 50 }))).toBe(
      'the inbox errors got no message {"topic":"payments"} within 50 ms. It has of no topic, of no topic',
    )
    await sandbox.catcher.inbox('wallets').subscribe('v2', { topics: ['transactions.inbound'] })
    await inbox.behave()
    await inbox.clear()
    expect(await refused(sandbox.catcher.inbox('empty').next({ timeoutMs: 50 }))).toMatch(/subscribe it/)
    expect(await sandbox.catcher.mails({ to: 'ada@example.com' })).toEqual([])
  })

  it('save and restore, and begin another sandbox with an exported state', async () => {
    const file = join(folder, 'funded.snapshot')
    const { intentId } = await payIntent(sandbox)
    await sandbox.snapshots.save('funded')
    await sandbox.snapshots.export('funded', file)
    await sandbox.snapshots.reset()
    await expect(sandbox.call('GET', `/v1/paymentIntents/${intentId}`)).rejects.toMatchObject({ status: 404 })
    await sandbox.snapshots.restore('funded')
    expect(await sandbox.call('GET', `/v1/paymentIntents/${intentId}`)).toMatchObject({ id: intentId })
    const other = await startSandbox({ snapshot: join(folder, 'funded') })
    expect(await other.call('GET', `/v1/paymentIntents/${intentId}`)).toMatchObject({ id: intentId })
    await other.stop()
    await sandbox.snapshots.delete('funded')
    await writeFile(file, 'damaged')
    expect(await refused(startSandbox({ snapshot: file }))).toMatch(
      /^startSandbox: snapshot: .*no whole snapshot/,
    )
    expect(await runningCount()).toBe(1)
  })
})

describe('a mistake', () => {
  it.each([
    [
      { blockchains: ['BASE-SEPOLI'] },
      /blockchains must name test networks, not "BASE-SEPOLI": did you mean/,
    ],
    [{ blockchains: [] }, /blockchains is empty/],
    [{ seed: -1 }, /seed must be a whole number/],
    [{ blockTimeMs: 1 }, /blockTimeMs must be from 100/],
    [{ faults: { rules: [] } }, /faults: The plan was refused.*line 1: rules/],
    [{ faults: 'nothing.yaml' }, /the file of faults cannot be read/],
    [{ snapshot: 'nothing' }, /snapshot: there is no file nothing: name a file/],
    [
      { settings: { BEZANT_RECIPIENT_HOLD_HOUR: '1' } },
      /settings cannot have .*did you mean BEZANT_RECIPIENT_HOLD_HOURS/,
    ],
    [{ settings: { BEZANT_PORT: '1' } }, /settings cannot have BEZANT_PORT/],
    [{ settings: { BEZANT_AUTO_BUMP: 'yes' } }, /BEZANT_AUTO_BUMP must be 1 or 0/],
    [{ chains: [chain] }, /has no option chains: it has blockchains/],
  ] as [object, RegExp][])(
    '%j is refused with the option, the reason and the remedy',
    async (options, reason) => {
      expect(await refused(startSandbox(options))).toMatch(reason)
      expect(await runningCount()).toBe(1)
    },
  )

  it('is an unknown chain, a path without its slash, a stopped sandbox, and a server that is gone', async () => {
    expect(() => sandbox.chain('ETH-SEPOLIA')).toThrow('has no chain ETH-SEPOLIA, only BASE-SEPOLIA: name it')
    expect(await refused(sandbox.call('GET', 'v1/payments'))).toBe(
      'GET v1/payments: the path must begin with /, as in /v1/payments',
    )
    const stopped = await startSandbox()
    await stopped.stop()
    await stopped.stop()
    expect(await refused(stopped.clock.read())).toBe('GET /sandbox/clock: the sandbox was stopped')
    const run = serverOfRun()
    setServerOfRun('http://127.0.0.1:9/none')
    try {
      expect(await refused(startSandbox())).toMatch(/the server of the sandboxes of this test run has ended/)
    } finally {
      setServerOfRun(run)
    }
  })

  it('is a server that cannot start', async () => {
    expect(await refused(startServer(['-e', 'console.error("no room"); process.exit(3)']))).toBe(
      'the server of the sandboxes did not start: no room',
    )
  })
})
