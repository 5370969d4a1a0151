import { randomBytes, randomUUID } from 'node:crypto'
import { createStretcher, pinCost } from '#identity/user-keys/stretch'
import { sealFields } from '#testing/pages/page'
import { httpAs, type Tenant, tenantOf } from '#testing/platform/tenant'
import { startPermissive } from '../src/custody/policy/set-policy.ts'
import { sql } from '../src/runtime/db/db.ts'
import type { Figure } from './figures.ts'
import { durationsOf, openHttpConnection } from './load.ts'
import { measureBusyCores } from './machine.ts'
import { type Platform, startPlatform } from './platform.ts'
import type { Bench, Run } from './run.ts'
import { alternateRounds, median, percentile, ratioOf } from './statistics.ts'
import { callApi } from './tenant.ts'

const pin = '258014'
/** As many PINs at a time as the server compares. */
const atOnce = 2
const cost = `argon2id with ${pinCost.memoryKib / 1024} MiB and ${pinCost.passes} passes`

export const challengesBench: Bench = {
  name: 'challenges',
  about: 'challenges approved with a PIN, against argon2id alone; reads beside them',
  measure: async (run) => {
    const platform = await startPlatform(run, async (db, entityId) => {
      await db.tx((tx) => startPermissive({ db: tx, clock: { nowMs: Date.now } }, entityId))
    })
    const user = await makeUser(platform)
    const approved = await approvals(run, user)
    const passMs = (1_000 * atOnce) / approved.reference.value / pinCost.passes
    return [approved, await readsBeside(run, platform, passMs)]
  },
}

type BenchUser = Awaited<ReturnType<typeof makeUser>>

/** A user with a PIN and a wallet of EVM-TESTNET, which signs without a chain. */
async function makeUser({ url, entityId, headers }: Platform) {
  const apiKey = headers.authorization.replace('Bearer ', '')
  const tenant = tenantOf(url, { entityId, apiKey, clientKey: '', entitySecret: '' })
  const userId = `user-${randomUUID()}`
  const { id } = await callApi(tenant, 'POST', '/v1/w3s/users', { userId }).then(() =>
    callApi(tenant, 'GET', `/v1/w3s/users/${userId}`).then(({ user }) => user),
  )
  const session = await callApi(tenant, 'POST', '/v1/w3s/users/token', { userId: id })
  const user = { tenant, url, walletId: '', ...(session as { userToken: string; encryptionKey: string }) }
  const { challengeId } = await asUser(user, tenant, 'POST', '/v1/w3s/user/initialize', {
    idempotencyKey: randomUUID(),
    blockchains: ['EVM-TESTNET'],
  })
  const { challenge } = await approve(user, challengeId, [
    ['N', pin],
    ['Q', 'Where?'],
    ['A', randomBytes(8).toString('hex')],
  ])
  return { ...user, walletId: challenge.correlationIds[0] as string }
}

// biome-ignore lint/suspicious/noExplicitAny: every answer has its own shape
type Answered = any

type Asker = { userToken: string; encryptionKey: string; url: string; tenant: Tenant }

async function asUser(
  { userToken }: Asker,
  from: Pick<Tenant, 'http'>,
  method: string,
  path: string,
  body?: object,
): Promise<Answered> {
  const answer = await from.http(method, path, {
    ...(body && { body }),
    headers: { 'X-User-Token': userToken },
  })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body.data
}

async function approve(user: Asker, challengeId: string, fields: Parameters<typeof sealFields>[2]) {
  const page = { http: httpAs(user.url, undefined) }
  const path = `/page/challenges/${challengeId}`
  const { user: shown, needs } = await asUser(user, page, 'GET', path)
  const submission = sealFields(user, [shown.id, challengeId, needs], fields)
  return asUser(user, page, 'POST', `${path}/approval`, { purpose: needs, submission })
}

async function signMessage(user: BenchUser): Promise<void> {
  const { challengeId } = await asUser(user, user.tenant, 'POST', '/v1/w3s/user/sign/message', {
    walletId: user.walletId,
    message: 'hello',
  })
  await approve(user, challengeId, [['P', pin]])
}

async function approvals(run: Run, user: BenchUser) {
  const count = run.amount(40, 6, 2)
  const stretcher = createStretcher(pinCost)
  const input = { secret: Buffer.from(pin), salt: randomBytes(16), pepper: randomBytes(32), cost: pinCost }
  const stretch = () => stretcher.run({ entityId: 'bench', userId: 'bench' }, (each) => each(input))
  const busy = measureBusyCores()
  await signMessage(user)
  const { approved, stretched } = await alternateRounds(run.amount(5, 1, 1), {
    approved: () => speedOf(run, 'challenges approved', count, () => signMessage(user)),
    stretched: () => speedOf(run, 'PINs stretched', count, stretch),
  })
  return {
    name: `challenges made, read and approved over HTTP, one process, ${atOnce} at a time (${cost})`,
    measured: { value: median(approved), unit: 'requests/s' },
    reference: { value: median(stretched), unit: 'requests/s', what: 'argon2id alone' },
    ratio: ratioOf(approved, stretched),
    coresBusy: busy(),
  } satisfies Figure
}

async function speedOf(run: Run, what: string, count: number, one: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  let next = 0
  const work = async () => {
    while (next++ < count) await one()
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const perSecond = count / ((performance.now() - startedMs) / 1000)
  run.report(`${count} ${what}, ${perSecond.toFixed(1)} per second`)
  return perSecond
}

/** The time of reads while a PIN is compared at a cost that takes as long as they do, against the same reads on an idle server. */
async function readsBeside(run: Run, platform: Platform, passMs: number): Promise<Figure> {
  const { url, headers, database } = platform
  const connection = await openHttpConnection({ url, path: '/v1/w3s/wallets?pageSize=10', headers })
  const count = run.amount(3_000, 500, 10)
  // One thread is busy for the whole of a measurement, and below the 30 s after which the server gives it up.
  const longPasses = Math.max(pinCost.passes + 1, Math.round(run.amount(18_000, 18_000, 2_000) / passMs))
  const p99 = async () => percentile(await durationsOf(count, connection.call), 0.99)
  const beside = async () => {
    const user = await makeUser(platform)
    await database.run(sql`update user_key_wraps set passes = ${longPasses}`)
    let isComparing = true
    // The PIN was stretched at another cost when it was set, so it is wrong now.
    const comparing = signMessage(user).then(
      () => Promise.reject(new Error('the PIN is right at another cost')),
      (error) => {
        isComparing = false
        if (!String(error).includes('155112')) throw error
      },
    )
    await new Promise((resolve) => setTimeout(resolve, 500))
    const value = await p99()
    if (!isComparing) throw new Error('the PIN was compared before the reads ended')
    await comparing
    return value
  }
  await p99()
  const busy = measureBusyCores()
  const { busyMs, idleMs } = await alternateRounds(
    run.amount(5, 1, 1),
    { busyMs: beside, idleMs: p99 },
    (_, values) =>
      run.report(
        `p99 of reads: ${values.busyMs.toFixed(2)} ms beside a PIN, ${values.idleMs.toFixed(2)} ms idle`,
      ),
  )
  connection.close()
  return {
    name: `p99 of a read while a PIN is compared all the time (argon2id with ${pinCost.memoryKib / 1024} MiB)`,
    measured: { value: median(busyMs), unit: 'ms' },
    reference: { value: median(idleMs), unit: 'ms', what: 'idle' },
    promise: { ratioMax: 1.5 },
    ratio: ratioOf(busyMs, idleMs),
    coresBusy: busy(),
  }
}
