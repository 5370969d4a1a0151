import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { cleanUp, kill, startChild, temporaryDirectory } from '#testing/postgres/kit'
import { sizeOf } from '#testing/runner/size'
import { createDirectory } from './directory.ts'
import { acquireLock, findHolder } from './lock.ts'

afterEach(cleanUp)

const contenders = 4
const races = sizeOf('LOCK_RACES', { usual: 12, deep: 100 })

test(`property 29: of ${contenders} processes at once exactly one gets a killed process's lock, or a free one, ${races} times`, async () => {
  const root = temporaryDirectory()
  const held = Array.from({ length: races }, (_, race) => join(root, String(race)))
  const free = held.map((directory) => `${directory} free`)
  const victim = await startChild()
  for (const dataDir of held) expect((await victim.request('lock', { dataDir })).error).toBeUndefined()
  await kill(victim.process)

  const children = await Promise.all(Array.from({ length: contenders }, () => startChild()))
  for (const dataDir of [...held, ...free]) {
    const replies = await Promise.all(children.map((child) => child.request('lock', { dataDir })))
    const winners = replies.filter((reply) => reply.error === undefined)
    expect(winners).toHaveLength(1)
    for (const { error } of replies.filter((reply) => reply !== winners[0])) {
      expect(error).toMatchObject({
        code: 'IN_USE',
        message: expect.stringContaining(`process ${winners[0]!.result}`),
      })
    }
  }
})

test('property 29: the refusal names directory, process and remedy, and leaves every file as it is; a stopped holder (SIGSTOP) still holds', async () => {
  const dataDir = temporaryDirectory()
  const holder = await startChild()
  await holder.request('lock', { dataDir })
  const before = readdirSync(dataDir, { recursive: true })
  const refusal = acquireLock(await createDirectory(dataDir))
  await expect(refusal).rejects.toThrow(
    `The directory ${dataDir} is in use by process ${holder.process.pid}. Stop that process first, or give another directory with --data-dir.`,
  )
  expect(readdirSync(dataDir, { recursive: true })).toEqual(before)
  holder.process.kill('SIGSTOP')
  await expect(acquireLock(await createDirectory(dataDir))).rejects.toMatchObject({
    code: 'IN_USE',
  })
})

test('the lock is exclusive within one process, and free after release', async () => {
  const directory = await createDirectory(temporaryDirectory())
  const lock = await acquireLock(directory)
  await expect(acquireLock(directory)).rejects.toMatchObject({ code: 'IN_USE' })
  await lock.release()
  expect(await findHolder(directory)).toBeUndefined()
  const again = await acquireLock(directory)
  expect(await findHolder(directory)).toMatchObject({ pid: process.pid })
  await again.release()
  expect(readdirSync(join(directory.path, 'lock'))).toEqual([])
})

test('a flag that cannot be reached by its short path counts as alive', async () => {
  const directory = await createDirectory(temporaryDirectory())
  const lock = await acquireLock(directory)
  const swept = { ...directory, shortPath: join(directory.path, 'no such alias') }
  await expect(acquireLock(swept)).rejects.toMatchObject({ code: 'IN_USE' })
  await lock.release()
})

test('the error for a directory that cannot be made names the reason', async () => {
  const file = join(temporaryDirectory(), 'file')
  writeFileSync(file, '')
  await expect(createDirectory(join(file, 'data'))).rejects.toThrow(/cannot be used \(EEXIST.*--data-dir/)
})
