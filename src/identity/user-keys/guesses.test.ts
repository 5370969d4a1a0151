import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { newPageUser, type PageUser, type PlainField, submissionOf } from '#testing/builders/user-submissions'
import { movableClock } from '#testing/platform/clock'
import { openTestCustody, type TestCustody, type TestEntity } from '#testing/platform/custody'
import {
  type GuessingOptions,
  type GuessingProcess,
  startGuessing,
} from '#testing/processes/guessing-processes'
import { sizeOf } from '#testing/runner/size'
import type { Guesses } from '../store/user-guesses.ts'
import { openGuessFiles } from './guess-files.ts'
import { afterGuess, afterRight } from './guesses.ts'
import { openWithPin, overrideLock, restorePin, setPin, storeKeyChange, userKeyStateOf } from './index.ts'

const guessesTotal = sizeOf('PIN_GUESSES', { usual: 60, deep: 10_000 })
const processesTotal = sizeOf('PIN_PROCESSES', { usual: 2, deep: 4 })
const locksTotal = sizeOf('PIN_LOCKS', { usual: 2, deep: 22 })

const memoryKib = 64
const minuteMs = 60_000
const pin = '258014'
const clock = movableClock()
clock.hold()

let test: TestCustody
let entity: TestEntity
let guessDirectory: string

beforeAll(async () => {
  guessDirectory = await mkdtemp(join(tmpdir(), 'bezant-guesses-'))
  test = await openTestCustody('seeded', { clock, guessDirectory, pinCost: { memoryKib, passes: 1 } })
  entity = await test.newEntity()
})
afterAll(async () => {
  await test?.close()
  await rm(guessDirectory, { recursive: true, force: true })
})

const questions: PlainField[] = [
  ['Q', 'Where?'],
  ['A', 'here'],
]

async function newUser(): Promise<PageUser> {
  const user = await newPageUser(entity)
  const change = await setPin(entity.ctx(), submissionOf(user, 'setPin', [['N', pin], ...questions]))
  await entity.act((ctx) => storeKeyChange(ctx, change))
  return user
}

const guessOf = (user: PageUser, tried: string) => submissionOf(user, 'open', [['P', tried]])
const codeOf = (made: Promise<unknown>): Promise<number> =>
  made.then(
    () => 0,
    ({ code }) => code as number,
  )
const guess = (user: PageUser, tried = '999000') => codeOf(openWithPin(entity.ctx(), guessOf(user, tried)))
const restore = async (user: PageUser, answer: string) => {
  const fields: PlainField[] = [
    ['A', answer],
    ['N', pin],
  ]
  const change = await restorePin(entity.ctx(), submissionOf(user, 'restorePin', fields))
  await entity.act((ctx) => storeKeyChange(ctx, change))
}
const refOf = ({ userId }: PageUser) => ({ entityId: entity.id, userId })
const stateOf = (user: PageUser) => userKeyStateOf(test.database, refOf(user), clock.nowMs())
const countedOf = async ({ userId }: PageUser, kind = 'pin') =>
  (
    await test.database.one<{ counted: number }>(
      sql`select counted from user_key_guesses where user_id = ${userId} and kind = ${kind}`,
    )
  ).counted

/** Four wrong guesses, the last of which answers that the PIN is locked. */
const lock = async (user: PageUser) => {
  const codes: number[] = []
  for (let count = 0; count < 4; count++) codes.push(await guess(user))
  expect(codes).toEqual([155112, 155112, 155112, 155119])
}

const optionsOf = (): GuessingOptions => ({
  connection: test.connection,
  entityId: entity.id,
  rootKey: test.rootKey,
  memoryKib,
  guessDirectory,
})

const unguessed: Guesses = {
  counted: 0,
  cleared: 0,
  locks: 0,
  locking: null,
  lockedDate: null,
  lockedUntil: null,
}

describe('a PIN', () => {
  it('property 41: locks at the fourth wrong guess, for 30 minutes', async () => {
    const user = await newUser()
    await lock(user)
    const { pin: state } = await stateOf(user)
    expect(state).toMatchObject({ status: 'LOCKED', failedAttempts: 4 })
    expect(Date.parse(state.lockedExpiryDate!) - clock.nowMs()).toBe(30 * minuteMs)
    clock.moveMs(30 * minuteMs - 1)
    expect(await guess(user, pin)).toBe(155119)
    clock.moveMs(1)
    expect(await stateOf(user)).toMatchObject({ pin: { status: 'ENABLED', failedAttempts: 0 } })
    expect(await guess(user, pin)).toBe(0)
  })

  it('property 41: locks for twice as long each time, and at the 20th for good', () => {
    let state = unguessed
    let nowMs = 0
    for (let locks = 1; locks <= 20; locks++) {
      for (let count = 0; count < 4; count++) state = afterGuess(state, nowMs)!
      expect([state.locks, state.counted]).toEqual([locks, 4 * locks])
      const untilMs = Date.parse(state.lockedUntil!)
      if (locks < 20) expect(untilMs - nowMs).toBe(30 * minuteMs * 2 ** (locks - 1))
      expect(afterGuess(state, untilMs - 1)).toBeUndefined()
      nowMs = untilMs
    }
    expect(state.lockedUntil).toBe('9999-12-31T23:59:59.999Z')
  })

  it('property 65: of a user with many requests keeps no other user of the entity waiting', async () => {
    const [busy, quiet] = [await newUser(), await newUser()]
    let ended = 0
    const many = Array.from({ length: 20 }, async () => {
      expect(await guess(busy, pin)).toBe(0)
      ended += 1
    })
    expect(await guess(quiet, pin)).toBe(0)
    expect(ended).toBeLessThan(12)
    await Promise.all(many)
  })

  it('property 41: that proves right clears no later guess, and no lock of one', () => {
    let state = unguessed
    for (let count = 0; count < 4; count++) state = afterGuess(state, 0)!
    expect(afterRight(state, 3)).toEqual({ ...state, cleared: 3 })
    expect(afterRight(state, 4)).toMatchObject({ cleared: 4, locks: 0, lockedUntil: null })
  })

  it('is open again after a right guess, which clears the wrong ones before it', async () => {
    const user = await newUser()
    for (let count = 0; count < 3; count++) expect(await guess(user)).toBe(155112)
    expect(await guess(user, pin)).toBe(0)
    expect(await guess(user)).toBe(155112)
    expect(await guess(user, pin)).toBe(0)
    expect(await stateOf(user)).toMatchObject({ pin: { status: 'ENABLED', failedAttempts: 0 } })
  })

  it('property 41: is locked for good at the 20th lock, until the answers replace it', async () => {
    const user = await newUser()
    await lock(user)
    await test.database.run(sql`update user_key_guesses set locks = 19 where user_id = ${user.userId}`)
    clock.moveMs(31 * minuteMs)
    await lock(user)
    clock.moveMs(50 * 365 * 24 * 60 * minuteMs)
    expect(await guess(user, pin)).toBe(155119)
    await restore(user, 'Here')
    expect(await guess(user, pin)).toBe(0)
  })

  it('property 41: is guessed apart from the answers, which lock as it does', async () => {
    const user = await newUser()
    const codes: number[] = []
    for (let count = 0; count < 5; count++) codes.push(await codeOf(restore(user, 'there')))
    expect(codes).toEqual([155115, 155115, 155115, 155120, 155120])
    expect(await codeOf(restore(user, 'here'))).toBe(155120)
    expect(await stateOf(user)).toMatchObject({ pin: { status: 'ENABLED' }, answers: { status: 'LOCKED' } })
    expect(await guess(user, pin)).toBe(0)
    await entity.act((ctx) => overrideLock(ctx, { ...refOf(user), kind: 'answers' }))
    await restore(user, 'here')
    const { answers } = await stateOf(user)
    expect(answers).toMatchObject({ status: 'ENABLED', failedAttempts: 0 })
    expect(answers.lastLockOverrideDate).toBeDefined()
  })

  it(`property 41: of ${guessesTotal} guesses in ${processesTotal} processes, four are compared for each lock`, async () => {
    const user = await newUser()
    const processes = await Promise.all(
      Array.from({ length: processesTotal }, () => startGuessing(optionsOf())),
    )
    const each = Math.ceil(guessesTotal / processesTotal / locksTotal)
    for (let round = 1; round <= locksTotal; round++) {
      const compared = await burst(user, processes, each)
      const locks = Math.min(round, 20)
      expect(compared).toBe(round <= 20 ? 3 : 0)
      expect(await countedOf(user)).toBe(4 * locks)
      clock.moveMs(30 * minuteMs * 2 ** round)
    }
    for (const process of processes) process.end()
  })

  /** Returns the number of guesses that were told to be wrong; the others were told that the PIN is locked. */
  async function burst(user: PageUser, processes: readonly GuessingProcess[], each: number): Promise<number> {
    const codes = await Promise.all(
      processes.map((process, index) => {
        const tried = Array.from({ length: each }, (_, count) => String(300_000 + index * each + count))
        return process.guess(
          clock.nowMs(),
          tried.map((guessed) => guessOf(user, guessed)),
        )
      }),
    )
    const told = codes.flat()
    expect(new Set(told.filter((code) => code !== 155112))).toEqual(new Set([155119]))
    expect(told.length).toBe(each * processes.length)
    return told.filter((code) => code === 155112).length
  }

  it('property 41: a process that dies between count and comparison, or after it, gives no guess back', async () => {
    const user = await newUser()
    for (const point of ['after-guess-count', 'before-guess-clear'] as const) {
      const process = await startGuessing({ ...optionsOf(), failpoint: { point, hit: 1, action: 'kill' } })
      expect(await process.guess(clock.nowMs(), [guessOf(user, pin)])).toEqual([])
      expect(await process.exited).toEqual([null, 'SIGKILL'])
    }
    expect(await guess(user)).toBe(155112)
    expect(await guess(user)).toBe(155119)
    expect(await countedOf(user)).toBe(4)
    expect(await stateOf(user)).toMatchObject({ pin: { status: 'LOCKED' } })
  })
})

it('property 41: the program can neither lower nor remove a counter in the database', async () => {
  const user = await newUser()
  expect(await guess(user)).toBe(155112)
  const lower = test.database.run(
    sql`update user_key_guesses set counted = 0, cleared = 0 where user_id = ${user.userId}`,
  )
  await expect(lower).rejects.toThrow('never given back')
  const remove = test.database.run(sql`delete from user_key_guesses where user_id = ${user.userId}`)
  await expect(remove).rejects.toMatchObject({ code: '42501' })
})

describe('a database that is restored from a backup', () => {
  let owner: Database
  beforeAll(() => {
    owner = openAsOwner(test.connection)
  })
  afterAll(() => owner?.close())

  /** Puts back a backup from before the first guess. */
  const rewind = (user: PageUser) =>
    owner.run(sql`delete from user_key_guesses where user_id = ${user.userId}`)

  it('property 90: gives no guess back to who guesses through the same directory', async () => {
    const user = await newUser()
    for (let count = 0; count < 3; count++) expect(await guess(user)).toBe(155112)
    await rewind(user)
    expect(await guess(user)).toBe(155119)
    await rewind(user)
    expect(await guess(user, pin)).toBe(155119)
    expect(await stateOf(user)).toMatchObject({ pin: { status: 'LOCKED', failedAttempts: 4 } })
    clock.moveMs(30 * minuteMs)
    await rewind(user)
    await lock(user)
    const { pin: state } = await stateOf(user)
    expect(Date.parse(state.lockedExpiryDate!) - clock.nowMs()).toBe(60 * minuteMs)
  })

  it('has a file for who guessed wrong alone, until the guesses are cleared', async () => {
    const user = await newUser()
    const kept = () => openGuessFiles(guessDirectory).read({ ...refOf(user), kind: 'pin' })
    expect(await guess(user, pin)).toBe(0)
    expect(await kept()).toBeUndefined()
    expect(await guess(user)).toBe(155112)
    expect(await kept()).toMatchObject({ counted: 2, cleared: 1 })
    expect(await guess(user, pin)).toBe(0)
    expect(await kept()).toBeUndefined()
  })
})
