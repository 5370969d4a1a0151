import { constants, publicEncrypt, randomBytes, webcrypto } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { seededRandom, seedsOf } from '#testing/adversary/seeded-random'
import { openTestCustody, type TestCustody, type TestEntity } from '#testing/platform/custody'
import { isDeep } from '#testing/runner/size'
import { openEntitySecret, spendCiphertext, transportPublicKey } from '../index.ts'

const contenders = isDeep ? 200 : 24

let test: TestCustody
let entity: TestEntity

beforeAll(async () => {
  test = await openTestCustody()
  entity = await test.newEntity()
})
afterAll(() => test?.close())

const use = async (ciphertext: string, through = test.custody, who = entity) => {
  const secret = await openEntitySecret(who.ctx(through), ciphertext)
  await who.act((ctx) => spendCiphertext(ctx, secret), through)
}

const refused = async (ciphertext: string) =>
  use(ciphertext).then(
    () => ({ code: 0 }),
    ({ code, status, message, fields }) => ({ code, status, message, fields }),
  )

const wrong = {
  code: 156013,
  status: 400,
  message: expect.stringContaining('The entity secret ciphertext is invalid: encrypt'),
  fields: [expect.objectContaining({ location: 'entitySecretCiphertext' })],
}

describe('a ciphertext', () => {
  it('works once', async () => {
    const ciphertext = await entity.encrypt()
    await use(ciphertext)
    await expect(use(ciphertext)).rejects.toMatchObject({ code: 156004 })
  })

  it(`property 36: works once among ${contenders} at a time in two processes`, async () => {
    const other = await test.open()
    const ciphertext = await entity.encrypt()
    const tries = Array.from({ length: contenders }, (_, index) =>
      use(ciphertext, index % 2 ? other : test.custody),
    )
    const outcomes = await Promise.allSettled(tries)
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled').length).toBe(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 156004 })
  })

  it.each(seedsOf(1))(
    'property 36: works in no other writing of its bytes, before and after it was used (seed %i)',
    async (seed) => {
      const random = seededRandom(seed)
      const ciphertext = await entity.encrypt()
      const variants = rewritings(ciphertext)
      expect(new Set(variants).size).toBeGreaterThanOrEqual(30)
      for (const variant of variants) expect(await refused(variant)).toEqual(wrong)
      await use(ciphertext)
      // Draws the variants again: the difference is caused by the stored state, not by the variant.
      const again = isDeep ? variants : random.sample(variants, Math.ceil(variants.length / 4))
      for (const variant of again) expect(await refused(variant)).toEqual(wrong)
    },
  )

  it('property 37: is refused with the same error after the same steps for every fault', async () => {
    const publicKey = await transportPublicKey(test.custody)
    const padded = (padding: number, bytes: Buffer, oaepHash = 'sha256') =>
      publicEncrypt({ key: publicKey, padding, ...(padding === oaep && { oaepHash }) }, bytes).toString(
        'base64',
      )
    const { RSA_PKCS1_PADDING: pkcs1, RSA_PKCS1_OAEP_PADDING: oaep } = constants
    const bad = [
      await entity.encrypt(randomBytes(32)),
      await entity.encrypt(entity.secret.subarray(0, 31)),
      await entity.encrypt(Buffer.concat([entity.secret, Buffer.alloc(1)])),
      await entity.encrypt(Buffer.alloc(0)),
      await entity.encrypt(Buffer.alloc(32)),
      await entity.encrypt(Buffer.from(entity.secret.toString('hex'))),
      padded(pkcs1, entity.secret),
      padded(oaep, entity.secret, 'sha1'),
      padded(oaep, entity.secret, 'sha512'),
      randomBytes(512).toString('base64'),
      randomBytes(511).toString('base64'),
      randomBytes(513).toString('base64'),
      Buffer.alloc(512).toString('base64'),
      Buffer.alloc(512, 0xff).toString('base64'),
      '',
      'not base64',
      '\u0000',
      'A'.repeat(100_000),
    ]
    const steps = {
      decryptions: vi.spyOn(webcrypto.subtle, 'decrypt'),
      checks: vi.spyOn(test.custody.vault, 'checkValueOf'),
      wallet: vi.spyOn(test.custody.vault, 'walletKeyOf'),
      queries: vi.spyOn(test.database, 'all'),
    }
    const counts = async (ciphertext: string) => {
      for (const step of Object.values(steps)) step.mockClear()
      expect(await refused(ciphertext)).toEqual(wrong)
      return Object.entries(steps).map(([name, { mock }]): [string, number] => [
        name,
        // The versions of the root key are read in the background.
        mock.calls.filter((call) => !JSON.stringify(call).includes('from root_keys')).length,
      ])
    }
    const taken: [string, number][][] = []
    for (const ciphertext of bad) taken.push(await counts(ciphertext))
    for (const step of Object.values(steps)) step.mockRestore()
    expect(taken).toEqual(bad.map(() => taken[0]))
    expect(Object.fromEntries(taken[0]!)).toMatchObject({ decryptions: 1, checks: 1, wallet: 1, queries: 1 })
  })

  it('of one entity is wrong for another', async () => {
    const other = await test.newEntity()
    await expect(use(await entity.encrypt(), test.custody, other)).rejects.toMatchObject({ code: 156013 })
  })

  it('is used up by a refused request as well', async () => {
    const ciphertext = await entity.encrypt()
    const secret = await openEntitySecret(entity.ctx(), ciphertext)
    const refusedVerb = entity.act(async (ctx) => {
      await spendCiphertext(ctx, secret)
      throw new Error('refused later')
    })
    await expect(refusedVerb).rejects.toThrow('refused later')
    await expect(use(ciphertext)).rejects.toMatchObject({ code: 156004 })
  })

  it('is refused before a secret is registered', async () => {
    const bare = await test.newEntity({ registered: false })
    await expect(openEntitySecret(bare.ctx(), await bare.encrypt())).rejects.toMatchObject({ code: 156016 })
  })
})

/** Other encodings of the same bytes that a lenient decoder would accept. */
function rewritings(text: string): string[] {
  const middle = Math.floor(text.length / 2)
  const insert = (junk: string) => text.slice(0, middle) + junk + text.slice(middle)
  const junk = [
    '\n',
    '\r\n',
    ' ',
    '\t',
    '!',
    '!!',
    '-',
    '_',
    '.',
    '=',
    '\u0000',
    '\u200b',
    '\ufeff',
    'é',
    '%',
    ',',
  ]
  const unpadded = text.replace(/=+$/, '')
  const urlSafe = text.replaceAll('+', '-').replaceAll('/', '_')
  return [
    ...junk.flatMap((item) => [insert(item), text + item, item + text]),
    unpadded,
    `${unpadded}==`.replace(/=+$/, (signs) => (signs === '=' ? '==' : '=')),
    urlSafe,
    urlSafe.replace(/=+$/, ''),
    `data:application/octet-stream;base64,${text}`,
    encodeURIComponent(text),
    JSON.stringify(text),
    `${text}${text}`,
    lastBitsChanged(text),
  ].filter((variant) => variant !== text)
}

/** Another last letter that decodes to the same bytes, because its low bits are dropped. */
function lastBitsChanged(text: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const at = text.replace(/=+$/, '').length - 1
  return text.slice(0, at) + letters[letters.indexOf(text[at]!) ^ 1] + text.slice(at + 1)
}
