import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCustody, type TestCustody } from '../../testing/custody.ts'
import { sizeOf } from '../../testing/size.ts'
import { createLanes } from './lanes.ts'

const noisyCount = sizeOf('NOISY_CIPHERTEXTS', { usual: 40, deep: 900 })

let test: TestCustody

beforeAll(async () => {
  test = await openTestCustody()
})
afterAll(() => test?.close())

it('property 65: one ciphertext is decrypted before the many that another tenant sent earlier', async () => {
  const { transport } = test.custody
  const entity = await test.newEntity()
  const bytes = Buffer.from(await entity.encrypt(), 'base64')
  let done = 0
  const decrypt = async (asker: string) => {
    const length = await transport.decrypt(asker, bytes, (plain) => plain?.length)
    done += 1
    return length
  }
  const noise = Array.from({ length: noisyCount }, () => decrypt('noisy'))
  expect(await decrypt('victim')).toBe(32)
  expect(done).toBeLessThan(noisyCount / 2)
  expect(new Set(await Promise.all(noise))).toEqual(new Set([32]))
})

/** Work that ends when it is told to. */
function heldWork() {
  const ends: (() => void)[] = []
  const work = () => new Promise<void>((resolve) => ends.push(resolve))
  return { work, endOne: () => ends.shift()?.() }
}

it('property 65: a crowd turns away its own latest work, and that of no other', async () => {
  const lanes = createLanes(1, 6)
  const { work, endOne } = heldWork()
  const outcomes: string[] = []
  const ask = (asker: string, name: string) =>
    lanes(asker, work).then(
      () => void outcomes.push(name),
      ({ kind }) => void outcomes.push(`${name} ${kind}`),
    )
  const crowd = Array.from({ length: 7 }, (_, index) => ask('noisy', `noisy ${index}`))
  const late = ask('noisy', 'noisy 7')
  const [first, second] = [ask('quiet', 'quiet 0'), ask('other', 'other 0')]
  await Promise.all([late, crowd[6], crowd[5]])
  expect(outcomes.splice(0).sort()).toEqual(
    ['noisy 5', 'noisy 6', 'noisy 7'].map((name) => `${name} tooManyRequests`),
  )
  for (let turn = 0; turn < 7; turn++) {
    await Promise.resolve()
    endOne()
    await new Promise((resume) => setImmediate(resume))
  }
  await Promise.all([...crowd, first, second])
  expect(outcomes).toEqual(['noisy 0', 'noisy 1', 'quiet 0', 'other 0', 'noisy 2', 'noisy 3', 'noisy 4'])
})
