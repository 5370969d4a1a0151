import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  eraseGrants,
  grantSigning,
  type KeyOpener,
  openEntitySecret,
  rotateEntitySecret,
  signForIntents,
  signNow,
} from '#custody/index'
import { decidePolicy } from '#custody/policy/index'
import { createWalletSet, createWallets, type Wallet } from '#custody/wallets/index'
import { sql } from '#runtime/db/db'
import { newPageUser, type PageUser, type PlainField, submissionOf } from '#testing/builders/user-submissions'
import { openTestCustody, type TestCustody, type TestEntity } from '#testing/platform/custody'
import {
  addDevice,
  changePin,
  type KeyChange,
  openWithDevice,
  openWithPin,
  type Purpose,
  restorePin,
  setDevice,
  setPin,
  setQuestions,
  storeKeyChange,
  userKeyStateOf,
} from './index.ts'

let test: TestCustody
let entity: TestEntity

beforeAll(async () => {
  test = await openTestCustody('seeded', { pinCost: { memoryKib: 64, passes: 1 } })
  entity = await test.newEntity()
})
afterAll(() => test?.close())

const pin = '258014'
const questions: PlainField[] = [
  ['Q', 'Where were you born?'],
  ['A', 'Zürich'],
  ['Q', 'First pet?'],
  ['A', ' Rex  the Dog '],
]
const answers: PlainField[] = [
  ['A', 'zu\u0308RICH'],
  ['A', 'REX THE DOG'],
]

const store = (change: KeyChange) => entity.act((ctx) => storeKeyChange(ctx, change))
const submit = (user: PageUser, purpose: Purpose, ...fields: PlainField[]) =>
  submissionOf(user, purpose, fields)

async function newUser(...more: PlainField[]): Promise<PageUser & { wallet: Wallet }> {
  const user = await newPageUser(entity)
  const change = await setPin(entity.ctx(), submit(user, 'setPin', ['N', pin], ...more))
  return { ...user, wallet: await firstWallet(change) }
}

async function firstWallet(change: KeyChange): Promise<Wallet> {
  const { walletSetId } = await store(change)
  const chains = [{ blockchain: 'BASE-SEPOLIA', family: 'evm' as const, onChain: true }]
  const input = { walletSetId: walletSetId!, chains, count: 1 } as const
  const [wallet] = await entity.act((ctx) => createWallets(ctx, change.userKey, input))
  return wallet!
}

const open = (user: PageUser, tried = pin) => openWithPin(entity.ctx(), submit(user, 'open', ['P', tried]))

const operation = { kind: 'transfer', effects: [], dangers: [] } as const

/** Signs at once, as for a message. */
const sign = (opener: KeyOpener, wallet: Wallet) =>
  entity.act(async (ctx) => {
    const request = { intentId: randomUUID(), intent: randomBytes(32), operation }
    return signNow(ctx, opener, await decidePolicy(ctx, wallet, request))
  })

describe('the key of a user', () => {
  it('opens with the PIN, and signs for the wallets of that user alone', async () => {
    const [user, other] = [await newUser(), await newUser()]
    expect(user.wallet).toMatchObject({ custodyType: 'ENDUSER' })
    expect(await sign(await open(user), user.wallet)).toHaveLength(65)
    await expect(sign(await open(user), other.wallet)).rejects.toMatchObject({ code: 156001 })
    const secret = await openEntitySecret(entity.ctx(), await entity.encrypt())
    await expect(sign(secret, user.wallet)).rejects.toMatchObject({ code: 156001 })
    const chains = [{ blockchain: 'BASE-SEPOLIA', family: 'evm' as const, onChain: true }]
    const input = { walletSetId: user.wallet.walletSetId, chains, count: 1 } as const
    await expect(entity.act((ctx) => createWallets(ctx, secret, input))).rejects.toMatchObject({
      code: 156005,
    })
  })

  it('leaves a grant for one intent, with which workers sign without the PIN', async () => {
    const user = await newUser()
    const userKey = await open(user)
    const [intentId, intent] = [randomUUID(), randomBytes(32)]
    await entity.act(async (ctx) =>
      grantSigning(ctx, userKey, await decidePolicy(ctx, user.wallet, { intentId, intent, operation })),
    )
    const request = {
      entityId: entity.id,
      intentId,
      intent,
      payload: randomBytes(32),
      blockchain: 'BASE-SEPOLIA',
      nonce: 0,
      maxFeeAtomic: 10n,
      priorityFeeAtomic: 1n,
    }
    const signed = () => entity.act((ctx) => signForIntents(test.custody, ctx.db, [request], Date.now()))
    expect(await signed()).toHaveLength(1)
    await entity.act((ctx) => eraseGrants(ctx.db, [request]))
    await expect(signed()).rejects.toThrow('no grant')
  })

  it('survives a rotation of the entity secret, which reseals the keys of the entity alone', async () => {
    const user = await newUser()
    const secret = await openEntitySecret(entity.ctx(), await entity.encrypt())
    await entity.act((ctx) => createWalletSet(ctx, secret, {}))
    const fresh = randomBytes(32)
    const { vault } = test.custody
    const shown = {
      checkValue: vault.checkValueOf(entity.id, fresh),
      opened: {
        entityId: entity.id,
        walletKey: vault.walletKeyOf(entity.id, fresh),
        ciphertextSha256: randomBytes(32),
      },
    }
    await entity.act((ctx) => rotateEntitySecret(ctx, { secret }, shown))
    expect(await sign(await open(user), user.wallet)).toHaveLength(65)
  })

  it('stays the same when the PIN is changed, and the old PIN is wrong from then on', async () => {
    const user = await newUser()
    await store(await changePin(entity.ctx(), submit(user, 'changePin', ['P', pin], ['N', '907318'])))
    await expect(open(user)).rejects.toMatchObject({ code: 155112 })
    expect(await sign(await open(user, '907318'), user.wallet)).toHaveLength(65)
  })

  it('opens with the answers for a new PIN, however they are written', async () => {
    const user = await newUser(...questions)
    await store(await restorePin(entity.ctx(), submit(user, 'restorePin', ...answers, ['N', '907318'])))
    expect(await sign(await open(user, '907318'), user.wallet)).toHaveLength(65)
    const wrong = submit(user, 'restorePin', answers[0]!, ['A', 'cat'], ['N', '907318'])
    await expect(restorePin(entity.ctx(), wrong)).rejects.toMatchObject({ code: 155115 })
  })

  it('keeps a restored PIN from a change that the former one opened', async () => {
    const user = await newUser(...questions)
    const change = await changePin(entity.ctx(), submit(user, 'changePin', ['P', pin], ['N', '714286']))
    await store(await restorePin(entity.ctx(), submit(user, 'restorePin', ...answers, ['N', '907318'])))
    await expect(store(change)).rejects.toMatchObject({ code: 155122 })
    expect(await sign(await open(user, '907318'), user.wallet)).toHaveLength(65)
  })

  it('gets its questions once, later than the PIN too', async () => {
    const user = await newUser()
    const restore = () => restorePin(entity.ctx(), submit(user, 'restorePin', ...answers, ['N', '907318']))
    await expect(restore()).rejects.toMatchObject({ code: 155111 })
    const set = () => setQuestions(entity.ctx(), submit(user, 'setQuestions', ['P', pin], ...questions))
    await store(await set())
    const again = await set()
    await expect(store(again)).rejects.toMatchObject({ code: 155108 })
    await store(await restore())
  })

  it('is made once', async () => {
    const user = await newPageUser(entity)
    const make = () => setPin(entity.ctx(), submit(user, 'setPin', ['N', pin]))
    const [first, second] = [await make(), await make()]
    await store(first)
    await expect(store(second)).rejects.toMatchObject({ code: 155107 })
    await expect(make()).rejects.toMatchObject({ code: 155107 })
  })

  it('does not open without a PIN', async () => {
    await expect(open(await newPageUser(entity))).rejects.toMatchObject({ code: 155110 })
  })

  it('is shown by what opens it', async () => {
    const state = (user: PageUser) =>
      userKeyStateOf(test.database, { entityId: entity.id, userId: user.userId }, Date.now())
    const unset = { status: 'UNSET', failedAttempts: 0 }
    expect(await state(await newPageUser(entity))).toEqual({
      pin: unset,
      answers: unset,
      questions: [],
      opensWith: undefined,
      devices: [],
    })
    const user = await newUser(...questions)
    await expect(open(user, '111222')).rejects.toMatchObject({ code: 155112 })
    expect(await state(user)).toEqual({
      pin: { status: 'ENABLED', failedAttempts: 1 },
      answers: { status: 'ENABLED', failedAttempts: 0 },
      questions: ['Where were you born?', 'First pet?'],
      opensWith: 'pin',
      devices: [],
    })
  })

  it('is wrapped anew at the present cost when it opens', async () => {
    const user = await newUser()
    const costs = async () =>
      (
        await test.database.one<{ memoryKib: number }>(
          sql`select memory_kib from user_key_wraps where user_id = ${user.userId}`,
        )
      ).memoryKib
    expect(await costs()).toBe(64)
    const dearer = {
      ...test.identity,
      stretcher: { ...test.identity.stretcher, cost: { memoryKib: 128, passes: 1 } },
    }
    await openWithPin(entity.ctx(test.custody, dearer), submit(user, 'open', ['P', pin]))
    expect(await costs()).toBe(128)
    expect(await sign(await open(user), user.wallet)).toHaveLength(65)
  })
})

describe('a user without a PIN', () => {
  const [deviceId, secret, recoverySecret] = [randomUUID(), randomBytes(32), randomBytes(32)]

  it('opens the key with the secret of a device, and adds a device with the recovery secret', async () => {
    const user = await newPageUser(entity)
    const made = submit(user, 'setDevice', ['D', secret], ['R', recoverySecret])
    const wallet = await firstWallet(await setDevice(entity.ctx(), made, deviceId))
    const openOn = (device: string, shown: Buffer) =>
      openWithDevice(entity.ctx(), submit(user, 'openWithDevice', ['D', shown]), device)
    expect(await sign(await openOn(deviceId, secret), wallet)).toHaveLength(65)
    const [otherId, other] = [randomUUID(), randomBytes(32)]
    await expect(openOn(otherId, secret)).rejects.toMatchObject({ code: 155113 })
    await expect(openOn(deviceId, other)).rejects.toMatchObject({ code: 155113 })
    const add = (shown: Buffer) =>
      addDevice(entity.ctx(), submit(user, 'addDevice', ['R', shown], ['D', other]), otherId)
    const spentOf = async () =>
      (await test.database.all(sql`select sha256 from spent_ciphertexts where entity_id = ${entity.id}`))
        .length
    const spentBefore = await spentOf()
    await expect(add(secret)).rejects.toMatchObject({ code: 155113 })
    expect(await spentOf()).toBe(spentBefore)
    const once = submit(user, 'openWithDevice', ['D', secret])
    await openWithDevice(entity.ctx(), once, deviceId)
    await expect(openWithDevice(entity.ctx(), once, deviceId)).rejects.toMatchObject({ code: 155118 })
    expect(await spentOf()).toBe(spentBefore + 1)
    await store(await add(recoverySecret))
    expect(await sign(await openOn(otherId, other), wallet)).toHaveLength(65)
    const same = submit(user, 'addDevice', ['R', recoverySecret], ['D', recoverySecret])
    await expect(addDevice(entity.ctx(), same, otherId)).rejects.toMatchObject({ code: 155117 })
  })

  it('opens with the secrets of a hundred devices at most, of which the newest stay', async () => {
    const user = await newPageUser(entity)
    const made = submit(user, 'setDevice', ['D', secret], ['R', recoverySecret])
    await store(await setDevice(entity.ctx(), made, 'first'))
    await test.database.run(sql`insert into user_key_wraps (entity_id, user_id, kind, slot, sealed_key, create_date,
        update_date)
      select entity_id, user_id, kind, 'later-' || later, sealed_key, create_date, update_date + later * interval '1 second'
      from user_key_wraps, generate_series(1, 99) later where user_id = ${user.userId} and slot = 'first'`)
    const devices = async () => {
      const ref = { entityId: entity.id, userId: user.userId }
      return (await userKeyStateOf(test.database, ref, 0)).devices
    }
    expect(await devices()).toHaveLength(100)
    // The clock was moved back: the others are from later.
    const more = submit(user, 'addDevice', ['R', recoverySecret], ['D', randomBytes(32)])
    await store(await addDevice(entity.ctx(), more, 'newest'))
    expect(await devices()).toHaveLength(100)
    expect(await devices()).toContain('newest')
    expect(await devices()).not.toContain('first')
  })

  it('has a recovery secret that is not the one of the device', async () => {
    const user = await newPageUser(entity)
    const same = submit(user, 'setDevice', ['D', secret], ['R', secret])
    await expect(setDevice(entity.ctx(), same, deviceId)).rejects.toMatchObject({ code: 155117 })
  })
})

describe('questions', () => {
  it.each<[string, string, PlainField[]]>([
    [
      'a question twice',
      'questions[1]',
      [...questions.slice(0, 2), ['Q', 'where  WERE you born?\nhint'], ['A', 'x']],
    ],
    [
      'an answer that is its question',
      'answers[0]',
      [
        ['Q', 'First pet?\nhint'],
        ['A', ' first PET? '],
      ],
    ],
    [
      'an answer without letters',
      'answers[0]',
      [
        ['Q', 'First pet?'],
        ['A', ' \t '],
      ],
    ],
    [
      'an answer of 10,000 bytes',
      'answers[0]',
      [
        ['Q', 'First pet?'],
        ['A', 'x'.repeat(10_000)],
      ],
    ],
    [
      'a zero character',
      'questions[0]',
      [
        ['Q', 'First\0pet?'],
        ['A', 'Rex'],
      ],
    ],
    [
      'a question of 201 characters',
      'questions[0]',
      [
        ['Q', '?'.repeat(201)],
        ['A', 'Rex'],
      ],
    ],
  ])('refuses %s, and says which', async (_, location, fields) => {
    const user = await newPageUser(entity)
    const made = setPin(entity.ctx(), submit(user, 'setPin', ['N', pin], ...fields))
    await expect(made).rejects.toMatchObject({ code: 155124, fields: [{ location }] })
  })
})

describe('a new PIN', () => {
  const refusedPins = [
    '111111',
    '123456',
    '987654',
    '012345',
    '12345',
    '1234567',
    '12a456',
    '',
    '１２３４５６',
  ]

  it.each(refusedPins)('is refused when it is %s, and costs no guess', async (refused) => {
    const user = await newPageUser(entity)
    const made = setPin(entity.ctx(), submit(user, 'setPin', ['N', refused]))
    await expect(made).rejects.toMatchObject({ code: 155124, fields: [{ location: 'pin' }] })
  })
})

describe('what a database thief has', () => {
  it('property 88: moved to another user, wraps do not open', async () => {
    const [user, other] = [await newUser(), await newUser()]
    await test.database.run(sql`update user_key_wraps w set sealed_key = o.sealed_key, salt = o.salt
      from user_key_wraps o where w.entity_id = ${entity.id} and w.user_id = ${user.userId}
        and o.entity_id = w.entity_id and o.user_id = ${other.userId}`)
    await expect(open(user)).rejects.toThrow('does not open')
  })

  it('property 88: without the root key, the right PIN opens nothing', async () => {
    const user = await newUser()
    const { openVault } = await import('#custody/sealing/sealing')
    const custody = { ...test.custody, vault: openVault(randomBytes(32)) }
    const tried = openWithPin(entity.ctx(custody), submit(user, 'open', ['P', pin]))
    await expect(tried).rejects.toThrow('does not open')
  })
})
