/** Processes that freeze in the middle of a transaction, and networks that fall silent: other processes go on. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { openAsOwner, sql } from '#runtime/db/db'
import { stuckSessions } from '#runtime/db/sessions'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, worldOf } from '#testing/builders/world'
import { untilBlockedBy } from '#testing/databases/blocked-sessions'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { type HttpAnswer, httpAs, type Tenant, untilAdmitted } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import type { Role } from '#testing/processes/worker-process'
import { drawnTests } from '#testing/runner/drawn'
import { sizeOf } from '#testing/runner/size'

/** More than the connections of a process. */
const retriesTotal = sizeOf('FROZEN_RETRIES', { usual: 18, deep: 400 })
const looks = sizeOf('FROZEN_LOOKS', { usual: 20, deep: 100 })
/** More than the connections of a process. */
const writersTotal = sizeOf('FROZEN_WRITERS', { usual: 60, deep: 900 })

let harness: Harness
const workers: Worker[] = []

beforeAll(async () => {
  harness = await openHarness()
})
afterAll(async () => {
  for (const worker of workers) worker.signal('SIGKILL')
  await harness?.close()
})

async function startWorker(role: Role): Promise<{ worker: Worker; url: string | undefined }> {
  const { connection } = harness
  const { rpcUrl, blockchain } = harness.chain()
  const worker = await spawnWorker()
  workers.push(worker)
  await worker.open({ connection, rpcUrl, blockchain, roles: [role] })
  return { worker, url: await worker.start() }
}

/** Waits until the worker is frozen inside a transaction; returns that moment. */
async function frozenAt(point: Failpoint, worker: Worker): Promise<number> {
  await until(() => worker.state() === 'frozen', `it stands still at ${point}`)
  const atMs = performance.now()
  const [session] = (await stuckSessions(harness.database, 0)).filter(({ applicationName }) =>
    applicationName.endsWith(`:${worker.pid}`),
  )
  expect(session).toMatchObject({ state: 'idle in transaction', blocked: 0 })
  return atMs
}

const one = <Row>(query: ReturnType<typeof sql>) => harness.database.one<Row>(query)

const drawnIt = drawnTests(2, 4)

drawnIt(
  'property 61: other workers take over from processes frozen while they apply, sign and follow',
  async () => {
    const on = transferActions(harness)
    const chain = harness.chain()
    const wallet = await on.fundedWallet()
    await harness.stopEngines()
    const stopAt = (worker: Worker, point: Failpoint) => worker.arm({ point, hit: 1, action: 'stop' })
    const { worker: follower } = await startWorker('transactions')
    const { worker: indexer } = await startWorker('indexer')
    await stopAt(follower, 'before-cursor-advance')
    await chain.mine()
    const followedMs = await frozenAt('before-cursor-advance', follower)
    const { step } = await cursor()
    await stopAt(indexer, 'before-block-commit')
    await chain.mine()
    const appliedMs = await frozenAt('before-block-commit', indexer)
    const { height } = await head()
    const { worker: signer } = await startWorker('transactions')
    await stopAt(signer, 'after-attempt-insert')
    const orders = [freshAddress(), freshAddress()]
    const id = await on.transfer(wallet, { destinationAddress: orders[0]! })
    const signedMs = await frozenAt('after-attempt-insert', signer)

    harness.startEngines()
    const taken = async (since: number, isTaken: () => Promise<boolean>, what: string) => {
      await until(isTaken, what)
      return `${what} after ${Math.round(performance.now() - since)} ms`
    }
    const figures = await Promise.all([
      taken(followedMs, async () => (await cursor()).step > step, 'before-cursor-advance'),
      taken(appliedMs, async () => (await head()).height > height, 'before-block-commit'),
      taken(signedMs, async () => (await on.attemptsOf(id)).length > 0, 'after-attempt-insert'),
    ])
    console.info(`taken over: ${figures.join(', ')}`)
    await on.reaches(id, 'COMPLETE')
    const before = await on.attemptsOf(id)
    expect([follower, indexer, signer].map((worker) => worker.state())).toEqual(Array(3).fill('frozen'))

    await harness.stopEngines()
    for (const worker of [follower, indexer, signer]) worker.signal('SIGCONT')
    const later = await on.transfer(wallet, { destinationAddress: orders[1]! })
    await on.reaches(later, 'COMPLETE')
    expect(await on.attemptsOf(id)).toEqual(before)
    await chain.oracle.checkMovedOnce(
      orders.map((to) => ({ to, token: chain.tokens.USDC, amountAtomic: 500_000n })),
    )
    await chain.oracle.checkNonces(wallet.address)
    for (const worker of [follower, indexer, signer]) await worker.close()
  },
)

const cursor = () => one<{ step: number }>(sql`select step from step_cursors where engine = 'transactions'`)
const head = () => one<{ height: number }>(sql`select max(number) as height from blocks where canonical`)

drawnIt('property 61: retries of a request that a frozen server holds block no other tenant', async () => {
  const path = '/v1/w3s/developer/walletSets'
  const { worker: frozen, url } = await startWorker('api')
  const victim = await harness.newEntity()
  const made = { idempotencyKey: randomUUID(), name: 'Held' }
  const sealed = async (tenant: Tenant, body: object) => ({
    body: { ...body, entitySecretCiphertext: await tenant.sealSecret() },
  })
  const own = await harness.http(
    'POST',
    path,
    await sealed(harness, { idempotencyKey: randomUUID(), name: 'Own' }),
  )
  const idle = await latencies(victim)
  await frozen.arm({ point: 'before-request-commit', hit: 1, action: 'stop' })
  const first = httpAs(url!, harness.apiKey)('POST', path, await sealed(harness, made))
  await frozenAt('before-request-commit', frozen)

  let answered = 0
  const again = async () => {
    for (;;) {
      const answer = await harness.http('POST', path, await sealed(harness, made))
      if (answer.status === 503) continue
      answered += 1
      return answer
    }
  }
  const retries = Promise.all(Array.from({ length: retriesTotal }, again))
  const other = await victim.http('POST', path, await sealed(victim, { ...made, name: 'Free' }))
  expect(other.status, other.text).toBe(201)
  // Retries wait without the connections that their own tenant writes with; on a busy machine some of them have been refused.
  const named = await harness.http('PUT', `${path}/${own.body.data.walletSet.id}`, { body: { name: 'New' } })
  expect(named.status, named.text).toBe(200)
  // Checked before the figures are taken: the server ends the frozen session after ten seconds.
  expect(answered, 'retries still wait').toBeLessThan(retriesTotal)
  const busy = await latencies(victim)
  console.info(`a read of another tenant took ${idle}, and ${busy} beside ${retriesTotal} retries`)

  const answers = await retries
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(retriesTotal - 1).fill(200), 201])
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(frozen.state()).toBe('frozen')
  frozen.signal('SIGCONT')
  const late = await first
  expect([late.status, late.body.code], late.text).toEqual([503, 503])
  const { body } = await harness.http('GET', '/v1/w3s/walletSets')
  expect(body.data.walletSets.filter(({ name }: { name: string }) => name === 'Held')).toHaveLength(1)
  await frozen.close()
})

drawnIt('property 61: writers of one tenant that wait for a lock block no other tenant', async () => {
  const path = '/v1/w3s/developer/walletSets'
  harness.startEngines()
  const wallet = await transferActions(harness).fundedWallet()
  const victim = await harness.newEntity()
  const makeSet = async () => {
    const startedMs = performance.now()
    const body = {
      idempotencyKey: randomUUID(),
      name: 'Free',
      entitySecretCiphertext: await victim.sealSecret(),
    }
    const { status, text } = await victim.http('POST', path, { body })
    expect(status, text).toBe(201)
    return (performance.now() - startedMs).toFixed(0)
  }
  const idleMs = await makeSet()
  const write = async (): Promise<HttpAnswer> => {
    const body = {
      idempotencyKey: randomUUID(),
      walletId: wallet.id,
      tokenId: worldOf(harness).usdcId,
      destinationAddress: freshAddress(),
      amounts: ['0.5'],
      feeLevel: 'MEDIUM',
    }
    return untilAdmitted(async () => {
      const sealed = { ...body, entitySecretCiphertext: await harness.sealSecret() }
      return harness.http('POST', '/v1/w3s/developer/transactions/transfer', { body: sealed })
    })
  }

  const owner = openAsOwner(harness.connection)
  let writing: Promise<HttpAnswer[]> | undefined
  await owner.tx(async (tx) => {
    await tx.run(
      sql`select 1 from accounts where entity_id = ${harness.entityId} and address = ${wallet.address} for update`,
    )
    writing = Promise.all(Array.from({ length: writersTotal }, write))
    await until(() => harness.database.waiting().work > 1, 'writers wait for the lock, and for connections')
    const busy = await latencies(victim)
    const busyMs = [await makeSet(), await makeSet(), await makeSet()]
    // Writers that waited too long were refused meanwhile, and come again a moment later.
    await until(() => harness.database.waiting().work > 1, 'writers still wait')
    console.info(
      `another tenant's write took ${idleMs} ms, and ${busyMs} beside ${writersTotal} writers; a read ${busy}`,
    )
  })
  const statuses = (await writing!).map(({ status }) => status)
  expect(statuses).toEqual(Array(writersTotal).fill(201))
  await owner.close()
})

/** Median and maximum latency of sequential reads. */
async function latencies({ http }: Tenant): Promise<string> {
  const tookMs: number[] = []
  for (let look = 0; look < looks; look++) {
    const startedMs = performance.now()
    expect((await http('GET', '/v1/w3s/wallets')).status).toBe(200)
    tookMs.push(performance.now() - startedMs)
  }
  tookMs.sort((left, right) => left - right)
  return `${tookMs[looks >> 1]!.toFixed(1)} ms (at most ${tookMs.at(-1)!.toFixed(0)})`
}

drawnIt('property 61: an alarm names the database session that blocks others', async () => {
  const owner = openAsOwner(harness.connection)
  const raised = countAlarm('session-stuck')
  let waiting: Promise<unknown> | undefined
  await owner.tx(async (tx) => {
    const { pid } = await tx.one<{ pid: number }>(
      sql`select pg_backend_pid() as pid, pg_advisory_xact_lock(61)`,
    )
    waiting = harness.database.run(sql`select pg_advisory_xact_lock(61)`)
    await untilBlockedBy({ pid }, harness.database, 'the other one waits')
    await until(async () => raised() > 0, 'an alarm is raised')
    // Others may stand still for a moment.
    const session = (await stuckSessions(harness.database, 0)).find((each) => each.pid === pid)
    expect(session).toMatchObject({ state: 'idle in transaction', blocked: 1 })
    expect(session!.applicationName).toMatch(/^bezant .+:\d+$/)
    expect(session!.query).toContain('pg_advisory_xact_lock')
  })
  await waiting
  await owner.close()
})
