import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compileSnippet } from '#testing/processes/compile-snippet'
import { isDeep } from '#testing/runner/size'
import { createJournal, listJournalIds, lockJournal } from './directory.ts'
import { decodeRecords, type JournalRecord, openJournal } from './journal.ts'
import { writeLastSeen } from './last-seen.ts'
import { hashAt, JournalError, readFrom } from './segments.ts'

const appends = isDeep ? 1_000 : 300
/** Three large records fill a segment. */
const bytesOf = (nonce: number) => (isDeep ? 2 ** 24 : nonce < 3 ? 12 * 2 ** 20 : 100)
const rounds = isDeep ? 60 : 20

let home: string
const children: ChildProcess[] = []

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'bezant-journal-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(home, { recursive: true, force: true })
})

const record = (nonce: number, rawBytes = 100): JournalRecord => ({
  entityId: 'e',
  transactionId: 't',
  attemptId: String(nonce),
  blockchain: 'BASE-SEPOLIA',
  address: '0xa',
  nonce,
  kind: 'original',
  replacesId: null,
  txHash: `0x${nonce}`,
  attempt: JSON.stringify({ raw_transaction: `\\x${randomBytes(rawBytes).toString('hex')}` }),
  transaction: '{}',
  payloads: '[]',
  accepted: '{}',
})

async function noncesIn(path: string, id: string, from = 0): Promise<number[]> {
  const nonces: number[] = []
  for await (const { payload } of readFrom(path, id, from))
    nonces.push(...decodeRecords(payload).map(({ nonce }) => nonce))
  return nonces
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

/** A journal of `frames` frames of one record each, closed. */
async function written(frames: number) {
  const journal = await openJournal(await createJournal(home))
  for (const nonce of upTo(frames)) await journal.append([record(nonce)])
  await journal.close()
  const [name] = (await readdir(journal.path)).filter((each) => each.endsWith('.journal'))
  return { id: journal.id, path: journal.path, file: join(journal.path, name!), head: journal.head() }
}

async function reopened(id: string, path: string) {
  const directory = await lockJournal(path, id)
  try {
    return await openJournal(directory!)
  } catch (error) {
    await directory!.release()
    throw error
  }
}

describe('a journal', () => {
  it('keeps concurrent appends in order, with far fewer fsyncs than appends', async () => {
    const journal = await openJournal(await createJournal(home))
    await Promise.all(upTo(appends).map((nonce) => journal.append([record(nonce)])))
    expect(journal.syncs()).toBeLessThan(20)
    expect(journal.head().sequence).toBe(appends)
    await journal.close()
    expect(await noncesIn(journal.path, journal.id)).toEqual(upTo(appends))
    expect(await hashAt(journal.path, journal.id, appends)).toEqual(journal.head().hash)
    expect(await hashAt(journal.path, journal.id, appends + 1)).toBeUndefined()
  })

  it('decodes the no-ops of earlier versions, which called them fillers', () => {
    const attempt = '{"kind":"filler","raw_transaction":"\\\\x02","max_fee":12345678901234567890}'
    const old = { ...record(0), kind: 'filler', attempt, payloads: '[{"ordinal":1,"filler":true}]' }
    const [decoded] = decodeRecords(Buffer.from(JSON.stringify([old])))
    expect(decoded).toEqual({
      ...old,
      kind: 'noop',
      attempt: attempt.replace('filler', 'noop'),
      payloads: '[{"ordinal":1,"noop":true}]',
    })
  })

  it('continues in a new segment when one is full, and is read across segments', async () => {
    const journal = await openJournal(await createJournal(home))
    for (const nonce of upTo(5)) await journal.append([record(nonce, bytesOf(nonce))])
    await journal.close()
    expect((await readdir(journal.path)).filter((name) => name.endsWith('.journal')).length).toBeGreaterThan(
      1,
    )
    const again = await reopened(journal.id, journal.path)
    expect(again.head()).toEqual(journal.head())
    await again.append([record(5)])
    await again.close()
    expect(await noncesIn(journal.path, journal.id)).toEqual(upTo(6))
    expect(await noncesIn(journal.path, journal.id, 4)).toEqual([4, 5])
  })

  it('truncates a torn tail, whatever bytes it holds, and continues', async () => {
    const { id, path, file } = await written(4)
    const whole = await readFile(file)
    const three = whole.lastIndexOf('BZJ1')
    for (let round = 0; round < rounds; round++) {
      const at = randomInt(three, whole.length)
      const rest = [Buffer.alloc(0), Buffer.alloc(whole.length - at), randomBytes(whole.length - at)]
      const torn = Buffer.concat([whole.subarray(0, at), rest[round % 3]!])
      // By chance, a single byte is the one that was there.
      if (torn.equals(whole)) continue
      await writeFile(file, torn)
      const journal = await reopened(id, path)
      expect(journal.head().sequence).toBe(3)
      await journal.append([record(9)])
      await journal.close()
      expect(await noncesIn(path, id)).toEqual([0, 1, 2, 9])
    }
  })

  it('raises an alarm when a byte before its end was changed, and writes nothing', async () => {
    const { id, path, file } = await written(4)
    const whole = await readFile(file)
    const three = whole.lastIndexOf('BZJ1')
    for (let round = 0; round < rounds; round++) {
      const damaged = Buffer.from(whole)
      const at = randomInt(0, three)
      damaged[at]! ^= 1 << randomInt(0, 8)
      await writeFile(file, damaged)
      const opening = reopened(id, path)
      await expect(opening).rejects.toThrow(JournalError)
      await expect(opening).rejects.toMatchObject({ alarm: 'journal-damaged' })
      expect(await readFile(file)).toEqual(damaged)
    }
    // Missing frames and frames of another journal are detected too.
    const second = whole.indexOf('BZJ1', 1)
    await writeFile(file, whole.subarray(second))
    await expect(reopened(id, path)).rejects.toMatchObject({ alarm: 'journal-damaged' })
    await writeFile(file, whole)
    await expect(noncesIn(path, '0'.repeat(16))).rejects.toMatchObject({ alarm: 'journal-damaged' })
  })

  it('is locked by one process at a time, and taken over from a killed one', async () => {
    const contents = `import { createJournal } from '#engines/transactions/journal/directory'
      const { id } = await createJournal(${JSON.stringify(home)})
      console.log(id)
      setInterval(() => undefined, 1_000)`
    const holder = spawn(process.execPath, await compileSnippet(contents))
    children.push(holder)
    const [said] = (await once(holder.stdout, 'data')) as [Buffer]
    const id = said.toString().trim()
    expect(await listJournalIds(home)).toEqual([id])
    expect(await lockJournal(join(home, id), id)).toBeUndefined()
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const directory = await lockJournal(join(home, id), id)
    expect(directory?.id).toBe(id)
    await directory!.release()
  })
})

it('accepts neither records nor a last seen state after its files were removed', async () => {
  const journal = await openJournal(await createJournal(home))
  await journal.append([record(0)])
  await rm(journal.path, { recursive: true })
  const removed = { alarm: 'journal-gone', message: expect.stringContaining(journal.path) }
  const seen = { installation: 'first', incarnation: 'only', logPosition: 1n, journals: [] }
  await expect(writeLastSeen(journal.path, seen)).rejects.toMatchObject(removed)
  await expect(journal.append([record(1)])).rejects.toMatchObject(removed)
  expect(journal.head().sequence).toBe(1)
  await journal.close().catch(() => undefined)
})
