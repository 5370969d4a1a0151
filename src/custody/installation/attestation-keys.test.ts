import { randomBytes } from 'node:crypto'
import { recoverAddress } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hexOf } from '#lib/hex'
import { sql } from '#runtime/db/db'
import { openTestCustody, type TestCustody } from '#testing/platform/custody'
import {
  attestationKeyInUse,
  createAttestationKey,
  endAttestationKey,
  importAttestationKey,
  listAttestationKeys,
  signAttestations,
} from './index.ts'

let test: TestCustody
beforeAll(async () => {
  test = await openTestCustody('seeded')
})
afterAll(() => test?.close())

const scope = () => ({ custody: test.custody, db: test.database, clock: { nowMs: Date.now } })
const digestOf = () => hexOf(randomBytes(32))
const sign = async (keyId: string, subject: string, digest = digestOf()) =>
  (await test.database.tx((db) => signAttestations({ ...scope(), db }, keyId, [{ subject, digest }])))[0]!

it('sign what contracts recover the address of the key from, until the key is retired', async () => {
  const key = await createAttestationKey(scope(), 'message')
  const digest = digestOf()
  const signature = await sign(key.id, '0x01', digest)
  const signer = await recoverAddress({ hash: digest, signature: hexOf(signature) })
  expect([signature.length, signer.toLowerCase()]).toEqual([65, key.address])
  expect(await endAttestationKey(scope(), key.id)).toBe(true)
  expect(await endAttestationKey(scope(), key.id)).toBe(false)
  await expect(sign(key.id, '0x02')).rejects.toThrow('no attestation key')
})

it('record each digest before it is signed, and sign one alone for each transfer of a unified balance', async () => {
  const key = await createAttestationKey(scope(), 'balance')
  const digest = digestOf()
  const signature = await sign(key.id, '0xaa', digest)
  expect(await sign(key.id, '0xaa', digest)).toEqual(signature)
  await expect(sign(key.id, '0xaa')).rejects.toThrow('attestation_signatures_of_balances')
  const { count } = await test.database.one<{ count: number }>(
    sql`select count(*)::integer as count from attestation_signatures where key_id = ${key.id}`,
  )
  expect(count).toBe(1)
})

it('sign one after another: the oldest in use, until it is retired', async () => {
  const inUse = async () => (await attestationKeyInUse(test.database, 'balance'))?.id
  const [first, second] = [await inUse(), (await createAttestationKey(scope(), 'balance')).id]
  expect(first).not.toBe(second)
  expect(await inUse()).toBe(first)
  for (const { id } of await listAttestationKeys(test.database, 'balance'))
    if (id !== second) await endAttestationKey(scope(), id)
  expect(await inUse()).toBe(second)
})

it('are imported once', async () => {
  const privateKey = hexOf(randomBytes(32))
  const [first, second] = [1, 2].map(() => importAttestationKey(scope(), 'message', privateKey))
  expect((await second)!.id).toBe((await first)!.id)
  const { address } = await importAttestationKey(scope(), 'balance', privateKey)
  const keys = await listAttestationKeys(test.database, 'message')
  expect(keys.filter((key) => key.address === address)).toHaveLength(1)
})
