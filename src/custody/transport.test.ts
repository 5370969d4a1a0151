import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCustody, type TestCustody } from '#testing/platform/custody'
import { sizeOf } from '#testing/runner/size'

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
