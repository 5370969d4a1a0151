/** The audit trail over HTTP: its entries, and the verdict on them. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { linkEntries } from '#engines/audit/index'
import { openAsOwner, type Sql, sql } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { newTurn } from '#runtime/turns/store'
import { makeMember, signInAs } from '#testing/builders/members'
import { makeApiKey } from '#testing/builders/operator-rows'
import { makeWalletSet, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
const turn = newTurn('linking audit entries')
const link = async () => {
  while (await linkEntries(harness.ctx, turn));
}

beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

const newWorld = async () => worldOf(harness, await harness.newEntity())
type Asker = Awaited<ReturnType<typeof newWorld>>

/** Verifies the trail as a client does, page by page. */
async function verify(world: Pick<Asker, 'call'>) {
  const pages = []
  for (let query = ''; ; ) {
    const page = await world.call('GET', `/operator/auditVerification${query}`)
    pages.push(page)
    if (!page.next) return pages
    query = `?${new URLSearchParams(page.next)}`
  }
}

/** Changes committed rows as a superuser whom no trigger stops. */
async function tamper(change: Sql) {
  const owner = openAsOwner(harness.connection)
  await owner.tx(async (tx) => {
    await tx.run(sql`set local session_replication_role = replica`)
    expect(await tx.run(change)).toBeGreaterThan(0)
  })
  await owner.close()
}

it('lists the entries of the entity with their positions, by actor, action and resource', async () => {
  const world = await newWorld()
  const { id } = await makeApiKey(world)
  await makeWalletSet(world)
  const list = (query = '') => world.call('GET', `/operator/auditEntries${query}`)
  const [unlinked] = await list('?action=apiKey.created')
  expect(unlinked).toMatchObject({ action: 'apiKey.created', resourceId: id, requestId: expect.any(String) })
  expect(unlinked).not.toHaveProperty('position')
  await link()
  const entries = await list()
  expect(entries.map(({ position }: { position: number }) => position)).toEqual(
    entries.map((_: unknown, index: number) => entries.length - index),
  )
  const [made] = await list('?action=apiKey.created')
  expect(made).toEqual({
    ...unlinked,
    position: expect.any(Number),
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(await list(`?resourceId=${id}`)).toEqual([made])
  expect(await list(`?actor=${made.actor}&action=apiKey.created`)).toEqual([made])
  expect(await list('?actor=member:nobody')).toEqual([])
  expect(await (await newWorld()).call('GET', `/operator/auditEntries?resourceId=${id}`)).toEqual([])
  const [event] = await world.call('GET', `/operator/events?resourceId=${id}`)
  expect(event.id).toBe(made.id)
})

it('tells a viewer that nothing was altered, up to which entry and under which signed head', async () => {
  const world = await newWorld()
  await makeWalletSet(world)
  await link()
  await makeApiKey(world)
  const { http } = await signInAs(world, await makeMember(world, 'viewer'))
  const { status, body, text } = await http('GET', '/operator/auditVerification')
  expect(status, text).toBe(200)
  const linked = await harness.database.one<{ count: number }>(
    sql`select count(*) as count from audit_links where entity_id = ${world.tenant.entityId}`,
  )
  expect(body.data).toMatchObject({
    entries: linked.count,
    position: linked.count,
    findingCount: 0,
    findings: [],
    publicKey: harness.ctx.custody.auditSigner.publicKeys()[0].publicKey.toString('hex'),
    head: { position: linked.count, signed: true, createDate: expect.any(String) },
  })
  expect(body.data.unlinked).toBeGreaterThan(0)
  expect(body.data).not.toHaveProperty('next')
})

it('names the row that was altered, and the one that was inserted, of the own entity alone', async () => {
  const [world, other] = [await newWorld(), await newWorld()]
  for (const each of [world, other]) await makeApiKey(each)
  await link()
  const { entityId } = world.tenant
  const [entry] = await world.call('GET', '/operator/auditEntries?action=apiKey.created')
  await tamper(
    sql`update audit set actor = 'member:somebody' where entity_id = ${entityId} and id = ${entry.id}`,
  )
  const [altered] = await verify(world)
  expect(altered.findings).toEqual([
    { position: entry.position, entryId: entry.id, problem: expect.stringContaining('not as it was') },
  ])
  const id = randomUUID()
  await tamper(sql`insert into audit (entity_id, id, actor, action, resource_id, create_date)
    values (${entityId}, ${id}, 'key:x', 'wallet.created', 'x', now())`)
  await tamper(sql`update audit_heads set signature = set_byte(signature, 3, get_byte(signature, 3) # 1)
    where entity_id = ${entityId}`)
  const [page] = await verify(world)
  expect(page.findings).toContainEqual({ entryId: id, problem: expect.stringContaining('inserted') })
  expect(page.head.signed).toBe(false)
  expect(page.findingCount).toBe(page.findings.length)
  expect((await verify(other)).map(({ findings }) => findings)).toEqual([[]])
})

it('property 201: verifies a long trail in pages, one at a time', async () => {
  const world = await newWorld()
  const { entityId } = world.tenant
  const changes = Array.from({ length: 4_500 }, (_, index) => ({
    entityId,
    actor: 'engine',
    type: 'wallet.created',
    resourceId: `${index}`,
  }))
  await recordChanges(harness.database, harness.clock.nowMs(), changes)
  await link()
  const pages = await verify(world)
  expect(pages.map(({ entries, findingCount }) => [entries, findingCount])).toEqual([
    [2_000, 0],
    [2_000, 0],
    [expect.any(Number), 0],
  ])
  expect(pages.at(-1)!.position).toBe(pages.at(-1)!.head.position)
  await tamper(
    sql`update events set data = '{"amount":"1"}' where entity_id = ${entityId} and type = 'wallet.created'`,
  )
  const [first] = await verify(world)
  expect([first.findingCount, first.findings.length]).toEqual([2_000 - first.findings[0].position + 1, 100])
  await harness.database.tx(async (tx) => {
    await tx.all(
      sql`select pg_advisory_xact_lock(hashtextextended(${`audit verification of ${entityId}`}, 0))`,
    )
    const { status, body } = await world.tenant.http('GET', '/operator/auditVerification')
    expect([status, body.code]).toEqual([409, 409])
    expect((await (await newWorld()).call('GET', '/operator/auditVerification')).findings).toEqual([])
  })
})

it('refuses positions and ids that are none', async () => {
  for (const query of ['afterPosition=-1', 'afterPosition=x', 'afterEntryId=1']) {
    const { status, body } = await harness.http('GET', `/operator/auditVerification?${query}`)
    expect([status, body.errors[0].location]).toEqual([400, query.split('=')[0]])
  }
})
