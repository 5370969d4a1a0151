/** The health of the platform for operators and their machines: `/ready`, which needs no key, and `/metrics`. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { deleteHalt, insertHalt } from '#engines/indexer/store/halts'
import { insertApiKey } from '#runtime/auth/store'
import { openAsOwner, raw, sql } from '#runtime/db/db'
import { type AlarmName, alarmCounts, alarmNames, raiseAlarm } from '#runtime/log/alarms'
import { transferActions } from '#testing/builders/transfers'
import { cloneDatabase } from '#testing/databases/database'
import { type Harness, openHarness } from '#testing/platform/harness'
import { readMetrics } from '#testing/platform/metrics'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

let harness: Harness
let blockchain: string

beforeAll(async () => {
  harness = await openHarness({ config: { logLevel: 'fatal' } })
  blockchain = harness.chain().blockchain
})
afterAll(() => harness?.close())

const scrape = () => readMetrics(harness)

const showsSoon = (name: string, holds: (value: number | undefined) => boolean) =>
  until(async () => holds((await scrape()).get(name)), `${name} in /metrics`)

type Readiness = {
  ready: boolean
  database: string
  engines: string
  signing: string
  chains: { blockchain: string; state: string }[]
}

const askReadiness = async (): Promise<{ status: number; body: Readiness }> => {
  const { status, body } = await httpAs(harness.url, undefined)('GET', '/ready')
  return { status, body }
}

const alarms = (name: AlarmName) => alarmCounts().get(name)!

/** Waits until the body of `/ready` satisfies `holds`; returns its status then. */
async function statusWhen(holds: (body: Readiness) => boolean): Promise<number> {
  let status = 0
  await until(async () => {
    const answer = await askReadiness()
    status = answer.status
    return holds(answer.body)
  }, '/ready says so')
  return status
}

const stateIs = (wanted: string) => (body: Readiness) => body.chains.some(({ state }) => state === wanted)
const isReady = (body: Readiness) => body.ready

it('property 60: each alarm is counted under its name, also one that was never raised', async () => {
  const name = (alarm: string) => `bezant_alarms_total{alarm="${alarm}"}`
  const before = await scrape()
  for (const alarm of alarmNames)
    expect([alarm, before.get(name(alarm))]).toEqual([alarm, expect.any(Number)])
  for (const alarm of alarmNames) raiseAlarm(harness.ctx.log, alarm, {}, 'raised by a test')
  // Files share this process, and a busy machine raises some of the alarms itself.
  for (const alarm of alarmNames)
    await showsSoon(
      name(alarm),
      (count) => count === alarmCounts().get(alarm) && count! > before.get(name(alarm))!,
    )
})

it('property 60: metrics need a key of the scope operator:read, and readiness none', async () => {
  const key = await harness.database.tx((tx) =>
    insertApiKey(tx, {
      entityId: harness.entityId,
      environment: 'TEST',
      scopes: ['api'],
      nowMs: harness.clock.nowMs(),
    }),
  )
  expect((await httpAs(harness.url, undefined)('GET', '/metrics')).status).toBe(401)
  expect((await httpAs(harness.url, key.text)('GET', '/metrics')).status).toBe(403)
  expect(await statusWhen(isReady)).toBe(200)
})

it('property 60: requests are counted by the pattern of their route, not by their URL', async () => {
  const ids = ['4c0f4c31-6d2a-4d0e-9d53-1f7c3b1a0001', '4c0f4c31-6d2a-4d0e-9d53-1f7c3b1a0002']
  for (const id of ids) await harness.http('GET', `/v1/w3s/wallets/${id}`)
  for (const id of ids) await harness.http('GET', `/no/such/${id}`)
  const count = (route: string) =>
    `bezant_http_request_duration_seconds_count{method="GET",route="${route}",status="404"}`
  for (const route of ['/v1/w3s/wallets/:id', 'none']) await showsSoon(count(route), (value) => value === 2)
  const samples = await scrape()
  const text = [...samples.keys()].join('\n')
  for (const unbounded of [...ids, harness.entityId]) expect(text).not.toContain(unbounded)
  expect([...samples.keys()].find((name) => name.startsWith('bezant_endpoint_latency_seconds{'))).toContain(
    `host="${new URL(harness.chain().rpcUrl).host}"`,
  )
})

it('property 60: a queue shows its depth and age, and readiness names a chain without an indexer', async () => {
  const on = transferActions(harness)
  const wallet = await on.fundedWallet()
  await harness.stopEngines()
  const id = await on.transfer(wallet)
  harness.clock.moveMs(90_000)
  const labels = `{blockchain="${blockchain}",state="waiting"}`
  await showsSoon(`bezant_queue_depth${labels}`, (depth) => depth === 1)
  await showsSoon(`bezant_queue_oldest_age_seconds${labels}`, (seconds) => seconds! >= 90)
  expect(await statusWhen((body) => body.engines === 'stopped')).toBe(503)
  // Five blocks, a minute apart.
  await harness.chain().rpc('anvil_mine', ['0x5', '0x3c'])
  expect(await statusWhen(stateIs('behind'))).toBe(503)
  await showsSoon(`bezant_chain_lag_blocks{blockchain="${blockchain}"}`, (blocks) => blocks! >= 5)
  harness.startEngines()
  await on.reaches(id, 'COMPLETE')
  await showsSoon(`bezant_queue_depth${labels}`, (depth) => depth === 0)
  expect(await statusWhen(isReady)).toBe(200)
})

it('property 60: readiness names a halted chain until it is resumed', async () => {
  const hash = `0x${'0'.repeat(64)}`
  const createDate = new Date(harness.clock.nowMs()).toISOString()
  const halt = { blockchain, blockNumber: 1, blockHash: hash, otherHash: hash, createDate }
  await insertHalt(harness.database, halt)
  expect(await statusWhen(stateIs('halted'))).toBe(503)
  await showsSoon(`bezant_chain_state{blockchain="${blockchain}",state="halted"}`, (value) => value === 1)
  await deleteHalt(harness.database, blockchain)
  expect(await statusWhen(isReady)).toBe(200)
})

it('property 60: readiness says that signing waits for a journal, until it is declared lost', async () => {
  const owner = openAsOwner(harness.connection)
  try {
    await owner.run(sql`insert into journals
        (id, host, path, sequence, head_hash, state, merged_epoch, create_date, update_date)
      values ('away', 'elsewhere', '/var/lib/away', 0, sha256(''), 'open', -1, now(), now())`)
    const [other, unmerged] = [alarms('nonce-unaccounted'), alarms('journal-unmerged')]
    expect(await statusWhen((body) => body.signing === 'waiting')).toBe(503)
    await until(async () => alarms('journal-unmerged') > unmerged, 'the worker names the journal')
    expect(alarms('nonce-unaccounted')).toBe(other)
    await owner.run(sql`update journals set state = 'lost' where id = 'away'`)
    expect(await statusWhen(isReady)).toBe(200)
  } finally {
    await owner.close()
  }
})

it('property 60: readiness names an unreachable database, without the cause', async () => {
  const current = sql`select current_database() as name`
  const { name } = await harness.database.one<{ name: string }>(current)
  // A database cannot be closed through a connection to itself.
  const beside = await cloneDatabase('seeded')
  const owner = openAsOwner(beside.connection)
  const allow = (yes: boolean) =>
    owner.run(sql`alter database ${raw(`"${name}"`)} allow_connections ${raw(String(yes))}`)
  try {
    const [away, journal] = [alarms('database-unavailable'), alarms('journal-unavailable')]
    await allow(false)
    await owner.run(sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`)
    expect(await statusWhen((body) => body.database === 'unavailable')).toBe(503)
    expect((await askReadiness()).body).toEqual({
      ready: false,
      database: 'unavailable',
      clock: 'ready',
      engines: 'unknown',
      signing: 'unknown',
      chains: [],
    })
    expect((await httpAs(harness.url, undefined)('GET', '/ping')).status).toBe(200)
    await until(async () => alarms('database-unavailable') > away, 'the worker names the database')
    expect(alarms('journal-unavailable')).toBe(journal)
  } finally {
    await allow(true)
    await owner.close()
    await beside.drop()
  }
  expect(await statusWhen(isReady)).toBe(200)
})

it('property 151: a database whose volume is full is named as such, and written again once it has room', async () => {
  const owner = openAsOwner(harness.connection)
  const [full, away] = [alarms('database-full'), alarms('database-unavailable')]
  const idempotencyKey = randomUUID()
  const create = async () => {
    const entitySecretCiphertext = await harness.sealSecret()
    const body = { idempotencyKey, entitySecretCiphertext, name: 'Sent again' }
    return harness.http('POST', '/v1/w3s/developer/walletSets', { body })
  }
  try {
    // With the code of a server that cannot extend a file.
    await owner.script(`create function refuse_rows() returns trigger language plpgsql as $$ begin
        raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
      create trigger refuse_rows before insert on wallet_sets for each row execute function refuse_rows();
      create trigger refuse_rows before insert on blocks for each row execute function refuse_rows()`)
    expect((await create()).status).toBe(503)
    expect(await statusWhen((body) => body.database === 'full')).toBe(503)
    await harness.chain().mine()
    await until(async () => alarms('database-full') > full, 'the alarm is raised')
    expect(alarms('database-unavailable')).toBe(away)
    await owner.script('drop function refuse_rows cascade')
    expect(await statusWhen(isReady)).toBe(200)
    expect((await create()).status).toBe(201)
  } finally {
    await owner.script('drop function if exists refuse_rows cascade')
    await owner.close()
  }
})
