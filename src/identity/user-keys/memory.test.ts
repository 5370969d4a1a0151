/** A process that handled PINs and answers keeps none of them, and no key, in memory: its memory is read from outside. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { walletPrivateKey, walletSetEntropy } from '#custody/sealing/contexts'
import { takeKey, unseal } from '#custody/sealing/sealing'
import { seedOf } from '#custody/signing/seed'
import { sql } from '#runtime/db/db'
import { newPageUser, type PageUser, type PlainField, submissionOf } from '#testing/builders/user-submissions'
import { openTestCustody, type TestCustody, type TestEntity } from '#testing/platform/custody'
import { type GuessingProcess, startGuessing } from '#testing/processes/guessing-processes'
import { addBytes, addText, foundInMemory, memoryUnreadable } from '#testing/processes/process-memory'
import { drawn } from '#testing/runner/drawn'
import { sizeOf } from '#testing/runner/size'
import { userKeyInner, userKeyOuter, userSecret } from '../contexts.ts'
import { findUserKey, findWrap, type UserRef } from '../store/user-keys.ts'
import { joinAnswers, normalAnswer } from './answers.ts'
import { createStretcher, pinCost } from './stretch.ts'

const openingsTotal = sizeOf('MEMORY_OPENINGS', { usual: 3, deep: 100 })
/** Memory that a bug forgets to wipe is often overwritten before the search: each user is one more chance to find it. */
const users = drawn([...Array(12).keys()], 3)
/** The real memory: less would be reused before the search. */
const { memoryKib } = pinCost
const [firstPin, pin, restoredPin] = ['480159', '714286', '936204']

let test: TestCustody
let entity: TestEntity
let tested: GuessingProcess

beforeAll(async () => {
  if (memoryUnreadable) return
  test = await openTestCustody()
  entity = await test.newEntity()
  const { connection, rootKey } = test
  tested = await startGuessing({ connection, rootKey, entityId: entity.id, memoryKib })
})
afterAll(async () => {
  tested?.end()
  await test?.close()
})

if (memoryUnreadable) console.warn(`property 40 is not tested here: ${memoryUnreadable}`)

it.skipIf(memoryUnreadable)(
  'property 40: neither PIN, answer, key nor what is between them is in memory after use',
  async () => {
    const other = await newPageUser(entity)
    await setPinOf(other)
    // The sealing key is held as long as the process runs: finding it shows that the search works.
    const kept = new Map([['root sealing key', test.custody.vault.root.newest().sealing.export()]])
    const all = new Map<string, Buffer>(kept)
    for (const count of users) {
      const user = await newPageUser(entity)
      const answers = [`Tschüss ${randomUUID()}`, `GRÜN ${randomUUID()}`]
      await useKey(user, answers)
      const { wiped, collected } = await secretsOf(user, answers)
      expect(await heldBesides(other, new Map([...wiped, ...kept]))).toEqual([...kept.keys()])
      for (const [name, value] of [...wiped, ...collected]) all.set(`${name} of user ${count}`, value)
    }
    await tested.collect()
    expect(await heldBesides(other, all)).toEqual([...kept.keys()])
  },
)

const pinOfOther = '594837'

async function setPinOf(user: PageUser): Promise<void> {
  const asked = ['one', 'two'].flatMap((word): PlainField[] => [
    ['Q', `Which ${word}?`],
    ['A', `${word} ${randomUUID()}`],
  ])
  const submission = submissionOf(user, 'setPin', [['N', pinOfOther], ...asked])
  expect(await tested.handle(Date.now(), 'setPin', [submission])).toEqual([0])
}

/** Rounds of work of another user, which overwrites the registers that a call spilled to the stack. */
const otherWorkMax = 3

/** The values that stay in memory while the process works for another user. */
async function heldBesides(other: PageUser, values: ReadonlyMap<string, Buffer>): Promise<string[]> {
  let held = await heldOf(values)
  for (let round = 0; round < otherWorkMax && held.length > 1; round++) {
    await tested.guess(Date.now(), [submissionOf(other, 'open', [['P', pinOfOther]])])
    const found = await heldOf(values)
    held = held.filter((name) => found.includes(name))
  }
  return held
}

/** The ends of the answers, because an allocator that got the bytes back may have overwritten the first of them. */
const endsOf = (answers: readonly string[]) =>
  new Map(answers.map((answer) => [`end of ${answer}`, normalAnswer(Buffer.from(answer))!.subarray(-20)]))

/**
 * Every use of a PIN and of answers: right and wrong, new, changed and restored; the key makes a wallet and signs. Answers are
 * searched for at once, before other work takes the memory that a bug forgets to wipe.
 */
async function useKey(user: PageUser, answers: readonly string[]): Promise<void> {
  const answered = answers.map((answer): PlainField => ['A', answer])
  const asked = answered.flatMap((answer, index): PlainField[] => [['Q', `Which? ${index}`], answer])
  const handle = async (purpose: 'setPin' | 'changePin' | 'restorePin', fields: PlainField[]) =>
    expect(await tested.handle(Date.now(), purpose, [submissionOf(user, purpose, fields)])).toEqual([0])
  const guess = async (tried: string, code: number) =>
    expect(await tested.guess(Date.now(), [submissionOf(user, 'open', [['P', tried]])])).toEqual([code])
  await handle('setPin', [['N', firstPin], ...asked])
  expect(await heldOf(endsOf(answers))).toEqual([])
  await handle('changePin', [
    ['P', firstPin],
    ['N', pin],
  ])
  await guess(restoredPin, 155112)
  for (let count = 0; count < openingsTotal; count++) await guess(pin, 0)
  await handle('restorePin', [...answered, ['N', restoredPin]])
  expect(await heldOf(endsOf(answers))).toEqual([])
  await guess(restoredPin, 0)
}

/**
 * All secrets of the user, in every encoding that code or a library could leave: those wiped at once, and keys that OpenSSL
 * clears when their key objects are collected.
 */
async function secretsOf(user: PageUser, answers: readonly string[]) {
  const [wiped, collected] = [new Map<string, Buffer>(), new Map<string, Buffer>()]
  const ref: UserRef = { entityId: entity.id, userId: user.userId }
  const { root } = test.custody.vault
  const pepper = unseal(root, userSecret(ref), (await findUserKey(test.database, ref))!.sealedSecret)
  addBytes(wiped, 'secret of the user', pepper)
  for (const answer of answers) {
    addText(wiped, `answer ${answer}`, answer)
    addText(wiped, `normal answer ${answer}`, normalAnswer(Buffer.from(answer))!.toString())
  }
  for (const each of [firstPin, pin, restoredPin])
    for (const kind of ['P', 'N']) wiped.set(`field ${kind} ${each}`, Buffer.from(`${kind}\0\u0006${each}`))
  const secrets = {
    pin: Buffer.from(restoredPin),
    answers: joinAnswers(answers.map((answer) => normalAnswer(Buffer.from(answer))!)),
  }
  let userKey: Buffer = Buffer.alloc(0)
  for (const kind of ['pin', 'answers'] as const) {
    const wrap = (await findWrap(test.database, ref, kind, ''))!
    const salt = wrap.salt!
    // The message that argon2id hashes first has the length of the salt, then the salt, behind the secret.
    const message = Buffer.concat([secrets[kind], Buffer.of(salt.length, 0, 0, 0), salt])
    wiped.set(`message of the ${kind}`, message.subarray(-30))
    const inner = unseal(root, userKeyOuter(ref, kind, ''), wrap.sealedKey)
    const stretched = await stretch(secrets[kind], salt, pepper)
    addBytes(collected, `stretched ${kind}`, stretched)
    userKey = unseal(takeKey(Buffer.from(stretched)), userKeyInner(ref, kind, ''), inner)
    addBytes(collected, 'key of the user', userKey)
  }
  await addWalletSecrets(wiped, user, userKey)
  return { wiped, collected }
}

const stretcher = createStretcher(pinCost)
const stretch = (secret: Buffer, salt: Buffer, pepper: Buffer) =>
  stretcher.run({ entityId: 'test', userId: 'test' }, (run) =>
    run({ secret, salt, pepper, cost: { memoryKib, passes: 1 } }),
  )

async function addWalletSecrets(
  wiped: Map<string, Buffer>,
  { userId }: PageUser,
  userKey: Buffer,
): Promise<void> {
  const walletKey = takeKey(Buffer.from(userKey))
  const row = await test.database.one<{ setId: string; entropy: Buffer; keyId: string; key: Buffer }>(sql`
    select s.id as set_id, s.sealed_entropy as entropy, k.id as key_id, k.sealed_private_key as key
    from wallet_sets s join keys k on k.wallet_set_id = s.id where s.entity_id = ${entity.id} and s.user_id = ${userId}`)
  const entropy = unseal(walletKey, walletSetEntropy(entity.id, row.setId), row.entropy)
  addBytes(wiped, 'entropy', entropy)
  addBytes(wiped, 'seed', await seedOf(entropy))
  addBytes(wiped, 'private key', unseal(walletKey, walletPrivateKey(entity.id, row.keyId), row.key))
}

/** Names of the values in the memory of the process, which is stopped while it is read. */
function heldOf(values: ReadonlyMap<string, Buffer>): Promise<string[]> {
  tested.signal('SIGSTOP')
  return Promise.resolve(foundInMemory(tested.pid, values)).finally(() => tested.signal('SIGCONT'))
}
