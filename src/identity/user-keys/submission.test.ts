import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newPageUser, type PageUser, submissionOf } from '#testing/builders/user-submissions'
import { openTestCustody, type TestCustody, type TestEntity } from '#testing/platform/custody'
import { isDeep } from '#testing/runner/size'
import { normalAnswer } from './answers.ts'
import { openWithPin, type Submission, setPin, storeKeyChange, userKeyStateOf } from './index.ts'
import { isPin } from './pin.ts'

const contenders = isDeep ? 200 : 24
const pin = '258014'

let test: TestCustody
let entity: TestEntity
let user: PageUser

beforeAll(async () => {
  test = await openTestCustody('seeded', { pinCost: { memoryKib: 64, passes: 1 } })
  entity = await test.newEntity()
  user = await newPageUser(entity)
  const change = await setPin(entity.ctx(), submissionOf(user, 'setPin', [['N', pin]]))
  await entity.act((ctx) => storeKeyChange(ctx, change))
})
afterAll(() => test?.close())

const fresh = (challengeId?: string) => submissionOf(user, 'open', [['P', pin]], challengeId)
const refusalOf = (submission: Submission, through = test.custody) =>
  openWithPin(entity.ctx(through), submission).then(
    () => ({ code: 0 }),
    ({ code, status, message, fields }) => ({ code, status, message, fields }),
  )
const refused = { code: 155118, status: 400, message: expect.stringContaining('does not open'), fields: [] }
const failed = async () =>
  (await userKeyStateOf(test.database, { entityId: entity.id, userId: user.userId }, Date.now())).pin
    .failedAttempts

describe('a submission', () => {
  it(`property 89: works once among ${contenders} at a time in two processes`, async () => {
    const other = await test.open()
    const submission = fresh()
    const told = await Promise.all(
      Array.from({ length: contenders }, (_, index) =>
        refusalOf(submission, index % 2 ? other : test.custody),
      ),
    )
    expect(told.filter(({ code }) => code === 0)).toHaveLength(1)
    expect(told.filter(({ code }) => code !== 0)).toEqual(Array(contenders - 1).fill(refused))
    expect(await failed()).toBe(0)
  })

  it('property 89: is refused with one error after one sequence of steps for every fault, and costs no guess', async () => {
    const used = fresh()
    expect(await refusalOf(used)).toEqual({ code: 0 })
    const good = fresh()
    const bytes = Buffer.from(good.sealed, 'base64')
    const withBytes = (changed: Buffer) => ({ ...good, sealed: changed.toString('base64') })
    const flipped = (at: number) => {
      const copy = Buffer.from(bytes)
      copy[at]! ^= 1
      return withBytes(copy)
    }
    const bad: Submission[] = [
      used,
      ...[0, 1, 13, bytes.length - 1].map(flipped),
      withBytes(bytes.subarray(0, bytes.length - 1)),
      withBytes(bytes.subarray(0, 10)),
      withBytes(Buffer.concat([bytes, Buffer.alloc(1)])),
      withBytes(randomBytes(20_000)),
      withBytes(Buffer.alloc(bytes.length)),
      ...['', 'not base64', '\u0000', `${good.sealed}\n`, good.sealed.slice(0, -1)].map((sealed) => ({
        ...good,
        sealed,
      })),
      { ...good, challengeId: randomUUID() },
      { ...good, encryptionKey: randomBytes(32) },
      { ...submissionOf({ ...user, userId: randomUUID() }, 'open', [['P', pin]]), userId: user.userId },
      submissionOf(user, 'changePin', [['P', pin]]),
    ]
    const steps = {
      reads: vi.spyOn(test.database, 'maybe'),
      transactions: vi.spyOn(test.database, 'tx'),
      queues: vi.spyOn(test.identity.stretcher, 'run'),
    }
    const taken: number[][] = []
    for (const submission of bad) {
      for (const step of Object.values(steps)) step.mockClear()
      expect(await refusalOf(submission)).toEqual(refused)
      taken.push(Object.values(steps).map(({ mock }) => mock.calls.length))
    }
    for (const step of Object.values(steps)) step.mockRestore()
    expect(taken).toEqual(bad.map(() => [2, 1, 1]))
    expect(await failed()).toBe(0)
    expect(await refusalOf(good)).toEqual({ code: 0 })
  })

  it('is refused by name when its page left out or added a field', async () => {
    for (const fields of [
      [],
      [['N', pin]],
      [
        ['P', pin],
        ['P', pin],
      ],
    ] as [string, string][][]) {
      expect(await refusalOf(submissionOf(user, 'open', fields))).toMatchObject({ code: 155117 })
    }
    expect(await failed()).toBe(0)
  })

  it('is used up by a locked PIN', async () => {
    for (let count = 0; count < 4; count++) await refusalOf(submissionOf(user, 'open', [['P', '999000']]))
    const submission = fresh()
    expect(await refusalOf(submission)).toMatchObject({ code: 155119 })
    expect(await refusalOf(submission)).toEqual(refused)
  })
})

describe('an answer', () => {
  const normal = (text: string) => normalAnswer(Buffer.from(text))?.toString()

  it.each([
    ['Zürich', 'zu\u0308RICH'],
    ['  New \t York ', 'new york'],
    ['ﬁnch', 'FINCH'],
    ['Straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['서울', '서울'.normalize('NFD')],
    ['Ａ１', 'a1'],
    ['e\u0323\u0301', '\u1eb9\u0301'],
  ])('is the same as %s and %s', (one, other) => {
    expect(normal(one)).toBe(normal(other))
    expect(normal(one)).toBeTruthy()
  })

  it.each(['', '   ', 'x'.repeat(513), 'ﷺ'.repeat(100)])(
    'is refused when it is nothing or too much (%#)',
    (text) => {
      expect(normal(text)).toBeUndefined()
    },
  )

  it('is refused when it is not UTF-8', () => {
    for (const bytes of [[0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80]])
      expect(normalAnswer(Buffer.from(bytes))).toBeUndefined()
  })
})

it('a PIN may hold a short run, and a digit twice', () => {
  for (const text of ['123654', '112233', '135790', '909090']) expect(isPin(Buffer.from(text))).toBe(true)
})
