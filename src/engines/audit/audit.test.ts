import { randomInt, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#lib/ids'
import { type Database, type Db, openAsOwner, type Sql, sql } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { newTurn } from '#runtime/turns/store'
import { seededRandom } from '#testing/adversary/seeded-random'
import { movedDate } from '#testing/databases/moved-date'
import { isOneServer } from '#testing/databases/one-server'
import { type Harness, openHarness } from '#testing/platform/harness'
import { sizeOf } from '#testing/runner/size'
import { hashEntry, hashLink } from './encoding.ts'
import {
  type Finding,
  linkEntries,
  type SignedHead,
  signedHeads,
  trailOf,
  verifyDatabase,
  verifyPage,
} from './index.ts'
import type { VerifiedPlace } from './verify-page.ts'

let harness: Harness
let owner: Database
const turn = newTurn('linking audit entries')
const ours = randomUUID()
const theirs = randomUUID()

beforeAll(async () => {
  harness = await openHarness({ blockchains: [], engines: false })
  owner = openAsOwner(harness.connection)
  while (await linkEntries(harness.ctx, turn));
})
afterAll(async () => {
  await owner?.close()
  await harness?.close()
})

const change = (entityId: string, index: number) => ({
  entityId,
  actor: `key:${index % 3}`,
  type: 'wallet.created',
  resourceId: `${index}`,
  data: { index, name: `"ä" ${index}` },
  ...(index % 2 === 0 && { requestId: `request ${index}` }),
})

/** Records so many changes of the entity and links them. */
async function grow(entityId: string, count: number) {
  const changes = Array.from({ length: count }, (_, index) => change(entityId, index))
  await recordChanges(harness.database, harness.clock.nowMs(), changes)
  await linkEntries(harness.ctx, turn)
}

async function verify(db: Db, exported?: ReadonlyMap<string, SignedHead>, entityId?: string) {
  const findings: Finding[] = []
  const report = (finding: Finding) => void findings.push(finding)
  const publicKeys = harness.ctx.custody.auditSigner.publicKeys()
  const counts = await verifyDatabase(db, { publicKeys, report, entityId, ...(exported && { exported }) })
  return { ...counts, findings }
}

/** Verifies the trail of an entity page by page. */
async function verifyPages(db: Db, entityId: string, pageSize: number) {
  const findings: Finding[] = []
  let place: VerifiedPlace | undefined = { position: 0 }
  let entries = 0
  while (place) {
    const page = await verifyPage({ db, custody: harness.ctx.custody }, entityId, place, pageSize)
    findings.push(...page.findings)
    entries += page.entries
    place = page.next
  }
  return { entries, findings }
}

async function exportedHeads() {
  const heads = new Map<string, SignedHead>()
  for await (const head of signedHeads(harness.database)) heads.set(head.entityId, head)
  return heads
}

class Undone extends Error {}

/** Runs `work` as a superuser who is stopped by no trigger, and undoes it. */
async function tampered<Result>(work: (tx: Db) => Promise<Result>): Promise<Result> {
  let result: Result | undefined
  await owner
    .tx(async (tx) => {
      await tx.run(sql`set local session_replication_role = replica`)
      result = await work(tx)
      throw new Undone()
    })
    .catch((error) => {
      if (!(error instanceof Undone)) throw error
    })
  return result!
}

const positionsOf = (entityId: string) =>
  owner.all<{ id: string; position: number }>(
    sql`select audit_id as id, position from audit_links where entity_id = ${entityId} order by position`,
  )

type Tamper = {
  name: string
  /** Changes the trail of `entityId` at a position between 2 and the last but one; returns the row that a finding names. */
  apply(tx: Db, at: Place): Promise<Named>
}
type Place = { entityId: string; position: number; id: string; last: number; others: { id: string }[] }
type Named = { position?: number; id?: string }

const changed = (
  name: string,
  change: (at: Place) => Sql,
  named: (at: Place) => Named = ({ position, id }) => ({ position, id }),
): Tamper => ({
  name,
  apply: async (tx, at) => {
    expect(await tx.run(change(at)), name).toBeGreaterThan(0)
    return named(at)
  },
})

const entry = ({ entityId, id }: Place) => sql`entity_id = ${entityId} and id = ${id}`
const link = ({ entityId, position }: Place) => sql`entity_id = ${entityId} and position = ${position}`
const atPosition = ({ position }: Place) => ({ position })
const end = ({ entityId, position }: Place) => sql`entity_id = ${entityId} and position >= ${position}`
const flipped = (column: Sql) => sql`set_byte(${column}, 3, get_byte(${column}, 3) # 1)`

const tampers: readonly Tamper[] = [
  changed('actor', (at) => sql`update audit set actor = 'key:9' where ${entry(at)}`),
  changed('action', (at) => sql`update audit set action = 'wallet.deleted' where ${entry(at)}`),
  changed('resource', (at) => sql`update audit set resource_id = resource_id || '0' where ${entry(at)}`),
  changed(
    'request',
    (at) => sql`update audit set request_id = coalesce(request_id, '') || 'x' where ${entry(at)}`,
  ),
  changed(
    'date',
    (at) => sql`update audit set create_date = ${movedDate('create_date', '1 ms')} where ${entry(at)}`,
  ),
  changed('id', (at) => sql`update audit set id = ${randomUUID()} where ${entry(at)}`),
  // A distributed server refuses this one itself.
  ...(isOneServer
    ? [changed('entity', (at) => sql`update audit set entity_id = ${randomUUID()} where ${entry(at)}`)]
    : []),
  changed('event type', (at) => sql`update events set type = 'wallet.deleted' where ${entry(at)}`),
  changed('event resource', (at) => sql`update events set resource_id = 'x' where ${entry(at)}`),
  changed('event data', (at) => sql`update events set data = data || '{"index": -1}' where ${entry(at)}`),
  changed(
    'event date',
    (at) => sql`update events set create_date = ${movedDate('create_date', '-1 day')} where ${entry(at)}`,
  ),
  changed('event deleted', (at) => sql`delete from events where ${entry(at)}`),
  changed('entry deleted', (at) => sql`delete from audit where ${entry(at)}`),
  {
    name: 'entry inserted',
    apply: async (tx, { entityId }) => {
      const id = newId(harness.clock.nowMs())
      await tx.run(sql`insert into audit (entity_id, id, actor, action, resource_id, create_date)
        values (${entityId}, ${id}, 'operator', 'wallet.created', 'x', now())`)
      return { id }
    },
  },
  {
    name: 'contents of two entries swapped',
    apply: async (tx, at) => {
      const other = at.others[at.position]!.id
      await tx.run(sql`update audit a set resource_id = b.resource_id, actor = b.actor, request_id = b.request_id
        from audit b where a.entity_id = ${at.entityId} and b.entity_id = ${at.entityId}
          and a.id in (${at.id}, ${other}) and b.id in (${at.id}, ${other}) and a.id <> b.id`)
      return { position: at.position, id: at.id }
    },
  },
  {
    name: 'positions of two links swapped',
    apply: async (tx, at) => {
      const { entityId, position } = at
      for (const [from, to] of [
        [position, 999],
        [position - 1, position],
        [999, position - 1],
      ])
        await tx.run(
          sql`update audit_links set position = ${to} where entity_id = ${entityId} and position = ${from}`,
        )
      return { position, id: at.others[position - 2]!.id }
    },
  },
  {
    name: 'entries of two links swapped',
    apply: async (tx, at) => {
      const { entityId, position } = at
      const former = at.others[position - 2]!.id
      for (const [to, place] of [
        [randomUUID(), position],
        [at.id, position - 1],
        [former, position],
      ] as const)
        await tx.run(
          sql`update audit_links set audit_id = ${to} where entity_id = ${entityId} and position = ${place}`,
        )
      return { position, id: former }
    },
  },
  changed('link deleted', (at) => sql`delete from audit_links where ${link(at)}`, atPosition),
  changed(
    'link and entry deleted',
    (at) => sql`with gone as (delete from audit where ${entry(at)})
    delete from audit_links where ${link(at)}`,
    atPosition,
  ),
  changed('link hash', (at) => sql`update audit_links set hash = ${flipped(sql`hash`)} where ${link(at)}`),
  changed(
    'link previous',
    (at) => sql`update audit_links set previous = ${flipped(sql`previous`)} where ${link(at)}`,
  ),
  changed(
    'link entry hash',
    (at) => sql`update audit_links set entry_hash = ${flipped(sql`entry_hash`)} where ${link(at)}`,
  ),
  changed(
    'trail cut off',
    (at) => sql`with heads as (delete from audit_heads where ${end(at)}), entries as (
      delete from audit where entity_id = ${at.entityId} and id in (select audit_id from audit_links where ${end(at)}))
      delete from audit_links where ${end(at)}`,
    atPosition,
  ),
  changed(
    'whole trail removed',
    ({ entityId }) => sql`with heads as (delete from audit_heads where entity_id = ${entityId}), entries as (
      delete from audit where entity_id = ${entityId}) delete from audit_links where entity_id = ${entityId}`,
    () => ({ position: 1 }),
  ),
  changed(
    'links cut off, heads left',
    (at) => sql`delete from audit_links where ${end(at)}`,
    ({ last }) => ({ position: last }),
  ),
  ...(['hash', 'signature'] as const).map((column) =>
    changed(
      `head ${column}`,
      ({
        entityId,
        last,
      }) => sql`update audit_heads set ${column === 'hash' ? sql`hash = ${flipped(sql`hash`)}` : sql`signature = ${flipped(sql`signature`)}`}
        where entity_id = ${entityId} and position = ${last}`,
      ({ last }) => ({ position: last }),
    ),
  ),
  changed(
    'head date',
    ({ entityId, last }) => sql`update audit_heads set create_date = ${movedDate('create_date', '1 s')}
      where entity_id = ${entityId} and position = ${last}`,
    ({ last }) => ({ position: last }),
  ),
  changed(
    'heads deleted',
    ({ entityId }) => sql`delete from audit_heads where entity_id = ${entityId}`,
    () => ({ position: 1 }),
  ),
]

it('property 59: names the row of every tampering with the trail, and nothing in a sound one', async () => {
  for (const entityId of [ours, theirs]) for (const count of [7, 5, 9]) await grow(entityId, count)
  const exported = await exportedHeads()
  expect((await verify(owner, exported)).findings).toEqual([])
  const rounds = sizeOf('AUDIT_TAMPERS', { usual: 40, deep: 200 })
  const random = seededRandom(randomInt(2 ** 31))
  for (let round = 0; round < rounds; round++) {
    const tamper = tampers[round % tampers.length]!
    const entityId = random.pick([ours, theirs])
    const others = await positionsOf(entityId)
    const position = random.between(2, others.length - 1)
    const place = { entityId, position, id: others[position - 1]!.id, last: others.length, others }
    const { findings, named } = await tampered(async (tx) => {
      const named = await tamper.apply(tx, place)
      return { named, ...(await verify(tx, exported)) }
    })
    const about = `${tamper.name} at ${position}, seed ${random.seed}: ${JSON.stringify(findings)}`
    const hits = findings.filter(
      (finding) =>
        finding.entityId === entityId &&
        (named.position === undefined || finding.position === named.position) &&
        (named.id === undefined || finding.entryId === named.id),
    )
    expect(hits.length, about).toBeGreaterThan(0)
    expect(
      findings.filter((finding) => finding.entityId !== entityId && tamper.name !== 'entity'),
      about,
    ).toEqual([])
  }
  expect((await verify(owner, exported)).findings).toEqual([])
})

it('property 201: pages of any size find what a verification of the whole trail finds', async () => {
  const entityId = randomUUID()
  for (const count of [7, 5, 9]) await grow(entityId, count)
  const sorted = (findings: readonly Finding[]) => findings.map((each) => JSON.stringify(each)).sort()
  const random = seededRandom(randomInt(2 ** 31))
  const sound = await verifyPages(owner, entityId, 4)
  expect(sound).toEqual({ entries: 21, findings: [] })
  // Its links end on a page before the last of the entries that are in no link.
  const endsEarly = tampers.find(({ name }) => name === 'links cut off, heads left')!
  const others = random.sample(tampers, sizeOf('AUDIT_PAGES', { usual: 12, deep: tampers.length }))
  for (const tamper of [endsEarly, ...others]) {
    const positions = await positionsOf(entityId)
    const position = random.between(2, positions.length - 1)
    const id = positions[position - 1]!.id
    const place = { entityId, position, id, last: positions.length, others: positions }
    const pageSize = tamper === endsEarly ? random.between(1, 9) : random.between(1, 30)
    const { whole, pages } = await tampered(async (tx) => {
      await tamper.apply(tx, place)
      return {
        whole: await verify(tx, undefined, entityId),
        pages: await verifyPages(tx, entityId, pageSize),
      }
    })
    const about = `${tamper.name} at ${position} in pages of ${pageSize}, seed ${random.seed}`
    expect(sorted(pages.findings), about).toEqual(sorted(whole.findings))
    expect(pages.entries, about).toBe(whole.entries)
  }
})

it('finds a trail that was replaced by an older copy and went on', async () => {
  const entityId = randomUUID()
  for (const count of [4, 4]) await grow(entityId, count)
  const exported = new Map([...(await exportedHeads())].filter(([id]) => id === entityId))
  const findings = await tampered(async (tx) => {
    await tx.run(sql`delete from audit_heads where entity_id = ${entityId} and position > 4`)
    await tx.run(sql`with gone as (delete from audit_links where entity_id = ${entityId} and position > 4 returning audit_id)
      delete from audit where entity_id = ${entityId} and id in (select audit_id from gone)`)
    expect((await verify(tx, undefined, entityId)).findings).toEqual([])
    const cut = (await verify(tx, exported, entityId)).findings
    // What is linked afterwards has true signatures.
    await tx.run(sql`set local session_replication_role = origin`)
    await recordChanges(
      tx,
      harness.clock.nowMs(),
      [5, 6, 7, 8].map((index) => change(entityId, index)),
    )
    const database = {
      ...harness.database,
      ...tx,
      tx: <Result>(work: (db: Db) => Promise<Result>) => work(tx),
    }
    await linkEntries({ ...harness.ctx, database }, newTurn('linking audit entries'))
    return [cut, (await verify(tx, exported, entityId)).findings]
  })
  expect(findings).toEqual([
    [expect.objectContaining({ position: 5, problem: 'positions 5 to 8 are missing: they were exported' })],
    [expect.objectContaining({ position: 8, problem: expect.stringContaining('that was exported') })],
  ])
})

it('finds an entry whose link was computed anew, by the head that cannot be signed anew', async () => {
  const entityId = randomUUID()
  await grow(entityId, 3)
  const findings = await tampered(async (tx) => {
    await tx.run(sql`update audit set actor = 'nobody' where entity_id = ${entityId}`)
    let previous = '0'.repeat(64)
    for await (const { link, entry } of trailOf(tx, entityId)) {
      const made = { ...link, previous, entryHash: hashEntry(entry) }
      previous = hashLink(made)
      await tx.run(sql`update audit_links set previous = decode(${made.previous}, 'hex'),
        entry_hash = decode(${made.entryHash}, 'hex'), hash = decode(${previous}, 'hex')
        where entity_id = ${entityId} and position = ${link.position}`)
    }
    return (await verify(tx, undefined, entityId)).findings
  })
  expect(findings).toMatchObject([{ position: 3, problem: 'the link is not the one that was signed' }])
})

describe('an entry', () => {
  it('is linked after its tx, in the order of commits, also when an older one commits late', async () => {
    const entityId = randomUUID()
    let commit: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      commit = resolve
    })
    let written: () => void = () => undefined
    const isWritten = new Promise<void>((resolve) => {
      written = resolve
    })
    const late = harness.database.tx(async (tx) => {
      await recordChanges(tx, harness.clock.nowMs() - 1_000, [change(entityId, 1)])
      written()
      await held
    })
    await isWritten
    await grow(entityId, 2)
    expect((await positionsOf(entityId)).map(({ position }) => position)).toEqual([1, 2])
    commit()
    await late
    await linkEntries(harness.ctx, turn)
    const ids = (await positionsOf(entityId)).map(({ id }) => id)
    expect(ids).toHaveLength(3)
    expect([...ids].sort()[0]).toBe(ids[2])
    expect((await verify(owner, undefined, entityId)).findings).toEqual([])
  })

  it('is linked once by workers that run at the same time', async () => {
    const entityId = randomUUID()
    const changes = Array.from({ length: 1_200 }, (_, index) => change(entityId, index))
    await recordChanges(harness.database, harness.clock.nowMs(), changes)
    const drain = async () => {
      const own = newTurn('linking audit entries')
      while (await linkEntries(harness.ctx, own));
    }
    await Promise.all([drain(), drain(), drain()])
    await drain()
    const { entries, findings } = await verify(owner, undefined, entityId)
    expect([entries, findings]).toEqual([1_200, []])
  })
})
