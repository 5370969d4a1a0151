import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseScreenedAddress } from '#chains/screening-chains'
import { linkEntries } from '#engines/audit/index'
import { addEntry } from '#engines/compliance/lists/index'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { installationId } from '#runtime/record/store'
import { newTurn } from '#runtime/turns/store'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { type Harness, openHarness } from '#testing/platform/harness'
import { runCommand } from '#testing/processes/command'

let harness: Harness
let owner: Database
let directory: string

beforeAll(async () => {
  harness = await openHarness({ blockchains: [], engines: false })
  owner = openAsOwner(harness.connection)
  directory = await mkdtemp(join(tmpdir(), 'bezant-audit-'))
  for (let index = 0; index < 3; index++) {
    const body = { idempotencyKey: randomUUID(), address: `0x${'cd'.repeat(20)}`, chain: 'ETH' }
    await harness.http('POST', '/v1/w3s/compliance/screening/addresses', { body })
  }
  const scope = { database: harness.database, clock: harness.clock, actor: 'operator' }
  const entry = parseScreenedAddress('ETH', `0x${'ab'.repeat(20)}`)!
  await addEntry(scope, { list: 'block', entry, reason: 'fraud' })
  while (await linkEntries(harness.ctx, newTurn('linking audit entries')));
})
afterAll(async () => {
  await owner?.close()
  await harness?.close()
  await rm(directory, { recursive: true, force: true })
})

const bezant = (...args: string[]) => {
  const env = { DATABASE_URL: urlOf(harness.connection), BEZANT_ROOT_KEY: testRootKey.toString('hex') }
  return runCommand({ command: 'audit', args, env })
}
const path = (name: string) => join(directory, name)

/** Runs an SQL statement that no trigger refuses. */
const tamper = (query: ReturnType<typeof sql>) =>
  owner.tx(async (tx) => {
    await tx.run(sql`set local session_replication_role = replica`)
    expect(await tx.run(query)).toBe(1)
  })

it('verifies the trails of tenants and of the installation, and names what is wrong', async () => {
  const { code, stdout } = await bezant('verify')
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^\d+ audit entries of \d+ trails, .*: nothing was altered\n$/),
  ])
  const ofLists = sql`entity_id = ${installationId} and type = 'screeningList.add'`
  await tamper(sql`update events set data = data || '{"reason": "none"}' where ${ofLists}`)
  const { id } = await owner.one<{ id: string }>(sql`select id from events where ${ofLists}`)
  const found = await bezant('verify', '--json')
  expect(found.code).toBe(1)
  expect(JSON.parse(found.stdout.split('\n')[0]!)).toEqual({
    entityId: installationId,
    position: expect.any(Number),
    entryId: id,
    problem: 'the entry or its event is not as it was when it was linked',
  })
  expect((await bezant('verify', '--entity', harness.entityId)).code).toBe(0)
  await tamper(sql`update events set data = data || '{"reason": "fraud"}' where ${ofLists}`)
  expect((await bezant('verify')).code).toBe(0)
})

it('property 59: finds tampering with an exported trail, without the database', async () => {
  expect((await bezant('export', path('trail'))).code).toBe(0)
  const verifyFile = (name: string, ...more: string[]) =>
    runCommand({ command: 'audit', args: ['verify', '--file', path(name), ...more] })
  expect(await verifyFile('trail')).toMatchObject({ code: 0 })
  const lines = (await readFile(path('trail'), 'utf8')).trimEnd().split('\n')
  const last = JSON.parse(lines.at(-1)!).end as number
  const changed = lines.with(2, lines[2]!.replace('"actor":"', '"actor":"x'))
  await writeFile(path('changed'), changed.join('\n'))
  const { link } = JSON.parse(lines[2]!)
  const found = await verifyFile('changed')
  expect([found.code, found.stdout]).toEqual([
    1,
    expect.stringContaining(`position ${link.position} entry ${link.auditId}: the entry or its event is not`),
  ])
  await writeFile(path('swapped'), lines.with(1, lines[2]!).with(2, lines[1]!).join('\n'))
  expect((await verifyFile('swapped')).code).toBe(1)
  await writeFile(path('cut'), lines.slice(0, -1).join('\n'))
  expect(await verifyFile('cut')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('it was cut off'),
  })
  const shorter = lines.toSpliced(-2, 2, JSON.stringify({ end: last - 1 }))
  await writeFile(path('shorter'), shorter.join('\n'))
  await bezant('export', path('heads'), '--heads-only')
  const short = await verifyFile('shorter', '--heads', path('heads'))
  expect([short.code, short.stdout]).toEqual([1, expect.stringContaining('missing: they were exported')])
  expect(await verifyFile('trail', '--key', 'ab'.repeat(32))).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('signed by another key'),
  })
})

it('finds by exported heads that a trail was removed', async () => {
  const entityId = (await harness.newEntity()).entityId
  while (await linkEntries(harness.ctx, newTurn('linking audit entries')));
  await bezant('export', path('before'), '--heads-only', '--entity', entityId)
  expect(await bezant('verify', '--entity', entityId, '--heads', path('before'))).toMatchObject({ code: 0 })
  await owner.tx(async (tx) => {
    await tx.run(sql`set local session_replication_role = replica`)
    await tx.run(sql`delete from audit_heads where entity_id = ${entityId}`)
    await tx.run(sql`delete from audit_links where entity_id = ${entityId}`)
    await tx.run(sql`delete from audit where entity_id = ${entityId}`)
  })
  expect((await bezant('verify', '--entity', entityId)).code).toBe(0)
  expect(await bezant('verify', '--heads', path('before'))).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      new RegExp(`^entity ${entityId} position 1: .* missing: they were exported\n`),
    ),
  })
})

it('names the option or the file that is wrong', async () => {
  const refused = async (...args: string[]) => {
    const { code, stderr } = await bezant(...args)
    expect(code).toBe(2)
    return stderr
  }
  expect(await refused('export')).toContain('needs a file to write')
  expect(await refused('verify', '--entity', 'x')).toContain('must be the id of an entity')
  expect(await refused('verify', '--key', 'x')).toContain('64 hexadecimal digits')
  expect(await refused('verify', '--file', path(randomUUID()))).toContain('cannot be read')
  await writeFile(path('other'), '{}\n')
  expect(await refused('verify', '--heads', path('other'))).toContain(
    'is not a file that bezant audit export wrote',
  )
  expect(await refused('export', path('other'))).toContain('exists already')
  await writeFile(path('text'), 'text\n')
  expect(await refused('verify', '--file', path('text'))).toContain('line 1 is no JSON')
})
