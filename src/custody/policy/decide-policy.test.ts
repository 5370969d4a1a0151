import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '#lib/time'
import { sql } from '#runtime/db/db'
import { whenConnected } from '#testing/databases/when-connected'
import { openTestCustody, type TestCustody, type TestEntity } from '#testing/platform/custody'
import { type EntitySecret, openEntitySecret, signNow } from '../index.ts'
import { versionsOf } from '../store/policies.ts'
import { createWalletSet, createWallets, type Wallet } from '../wallets/index.ts'
import {
  decidePolicy,
  type Operation,
  type OperationEffect,
  type PolicyScope,
  permissive,
  policiesInForce,
  releaseAllowance,
  reserveAllowanceAgain,
  setPolicy,
} from './index.ts'

/** With fewer, decisions made without the lock often do not overlap. */
const racers = 200

let test: TestCustody
beforeAll(async () => {
  test = await openTestCustody()
})
afterAll(() => test?.close())

const token = `0x${'70'.repeat(20)}` as const
const friend = `0x${'fe'.repeat(20)}` as const
const stranger = `0x${'57'.repeat(20)}` as const
const blockchain = 'BASE-SEPOLIA'

type Subject = { entity: TestEntity; secret: EntitySecret; wallets: Wallet[] }

async function newSubject(): Promise<Subject> {
  const entity = await test.newEntity({ policy: false })
  const secret = await openEntitySecret(entity.ctx(), await entity.encrypt())
  const set = await entity.act((ctx) => createWalletSet(ctx, secret, {}))
  const chains = [{ blockchain, family: 'evm' as const, onChain: true }]
  const wallets = await entity.act((ctx) =>
    createWallets(ctx, secret, { walletSetId: set.id, chains, count: 2 }),
  )
  return { entity, secret, wallets }
}

const set = ({ entity }: Pick<Subject, 'entity'>, scope: PolicyScope, subjectId: string, rules: unknown) =>
  setPolicy(
    { db: test.database, clock: systemClock, actor: 'operator' },
    { entityId: entity.id, scope, subjectId },
    rules,
  )

const pay = (amountAtomic: bigint, destination: `0x${string}` = friend): Operation => ({
  kind: 'transfer',
  effects: [
    { kind: 'call', blockchain, contract: token, selector: '0xa9059cbb', known: true },
    { kind: 'transfer', blockchain, token, destination, amountAtomic },
  ],
  dangers: [],
})

const ask = ({ entity, wallets }: Subject, operation: Operation, wallet = wallets[0]!) =>
  entity.act((ctx) =>
    decidePolicy(ctx, wallet, { intentId: randomUUID(), intent: Buffer.from('x'), operation }),
  )

const rules = {
  mode: 'rules',
  operations: ['transfer'],
  destinations: [`${blockchain}:${friend}`],
  tokens: [`${blockchain}:${token}`],
}

const refused = (message: RegExp | string) => ({
  code: 155900,
  status: 403,
  message: expect.stringMatching(message),
})

describe('property 44: a decision of policy', () => {
  it('is denied without a policy, and the error names the remedy', async () => {
    const subject = await newSubject()
    const remedy = `bezant policy set --entity ${subject.entity.id} --policy permissive`
    await expect(ask(subject, pay(1n))).rejects.toMatchObject(refused(remedy))
    await set(subject, 'entity', subject.entity.id, permissive)
    await ask(subject, pay(1n))
  })

  it('is denied by rules that say nothing, whatever is asked', async () => {
    const subject = await newSubject()
    await set(subject, 'entity', subject.entity.id, { mode: 'rules' })
    for (const kind of [
      'transfer',
      'contractExecution',
      'signMessage',
      'signTypedData',
      'signTransaction',
    ] as const)
      await expect(ask(subject, { kind, effects: [], dangers: [] })).rejects.toMatchObject(
        refused(`operations does not list ${kind}`),
      )
  })

  it('names the rule that denies it, and how to change that rule', async () => {
    const subject = await newSubject()
    const { id } = subject.entity
    await set(subject, 'entity', id, rules)
    await ask(subject, pay(1n))
    await expect(ask(subject, pay(1n, stranger))).rejects.toMatchObject(
      refused(
        `policy of the entity ${id} \\(version 1\\): destinations does not list ${blockchain}:${stranger}`,
      ),
    )
    const elsewhere = pay(1n)
    const moved = elsewhere.effects.map((effect) => ({ ...effect, blockchain: 'ETH-SEPOLIA' }))
    await expect(ask(subject, { ...elsewhere, effects: moved as OperationEffect[] })).rejects.toMatchObject(
      refused('tokens does not list ETH-SEPOLIA:'),
    )
  })

  it('needs every policy over the wallet to allow it', async () => {
    const subject = await newSubject()
    const [first, second] = subject.wallets as [Wallet, Wallet]
    await set(subject, 'entity', subject.entity.id, permissive)
    await set(subject, 'wallet', first.id, rules)
    await expect(ask(subject, pay(1n, stranger))).rejects.toMatchObject(refused(`the wallet ${first.id}`))
    await ask(subject, pay(1n, stranger), second)
    await set(subject, 'walletSet', first.walletSetId, { mode: 'rules' })
    await expect(ask(subject, pay(1n), second)).rejects.toMatchObject(refused('of the wallet set'))
    await set(subject, 'walletSet', first.walletSetId, permissive)
    await set(subject, 'entity', subject.entity.id, { mode: 'rules' })
    await expect(ask(subject, pay(1n), second)).rejects.toMatchObject(refused('of the entity'))
  })

  it('allows a permission, a contract and a type of data only by name', async () => {
    const subject = await newSubject()
    const { id } = subject.entity
    const act: Operation = {
      kind: 'contractExecution',
      effects: [{ kind: 'call', blockchain, contract: token, selector: '0x12345678', known: false }],
      dangers: [],
    }
    const base = { ...rules, operations: ['contractExecution', 'signTypedData'] }
    const contract = `*:${token}`
    await set(subject, 'entity', id, { ...base, contracts: [{ contract, selectors: 'any' }] })
    await expect(ask(subject, act)).rejects.toMatchObject(refused('by its selector'))
    await set(subject, 'entity', id, { ...base, contracts: 'any' })
    await expect(ask(subject, act)).rejects.toMatchObject(refused('by its selector'))
    await set(subject, 'entity', id, { ...base, contracts: [{ contract, selectors: ['0x12345678'] }] })
    await ask(subject, act)
    await expect(ask(subject, { ...act, dangers: ['approve'] })).rejects.toMatchObject(refused('permissions'))
    const data: Operation = {
      kind: 'signTypedData',
      effects: [{ kind: 'typedData', blockchain, contract: token, primaryType: 'Mail' }],
      dangers: [],
    }
    await expect(ask(subject, data)).rejects.toMatchObject(refused('typedData does not list Mail'))
    await set(subject, 'entity', id, { ...base, typedData: [{ contract, primaryTypes: ['Mail'] }] })
    await ask(subject, data)
  })

  it('records every version of the policies', async () => {
    const subject = await newSubject()
    const { id } = subject.entity
    await set(subject, 'entity', id, permissive)
    await ask(subject, pay(3n))
    expect(await set(subject, 'entity', id, rules)).toBe(2)
    const shown = await versionsOf(test.database, id, undefined, 10)
    expect(shown.map(({ version, rules: { mode } }) => [version, mode])).toEqual([
      [2, 'rules'],
      [1, 'permissive'],
    ])
    expect((await policiesInForce(test.database, id, 10)).map(({ version }) => version)).toEqual([2])
    const decisions = await test.database.all<{ operation: string; versions: number }>(
      sql`select operation, cardinality(version_ids) as versions from policy_decisions where entity_id = ${id}`,
    )
    expect(decisions).toEqual([{ operation: 'transfer', versions: 1 }])
    const changing = test.database.run(sql`update policy_versions set rules = '{}' where entity_id = ${id}`)
    await expect(changing).rejects.toMatchObject({ code: '42501' })
    const audit = await test.database.all(
      sql`select 1 from audit where entity_id = ${id} and action = 'policy.set' and actor = 'operator'`,
    )
    expect(audit).toHaveLength(2)
  })

  it('signs at once, one time, and only a digest', async () => {
    const subject = await newSubject()
    const { entity, secret, wallets } = subject
    await set(subject, 'entity', entity.id, permissive)
    const operation = { kind: 'signMessage', effects: [], dangers: [] } as const
    const sign = (intent: Buffer) =>
      entity.act(async (ctx) =>
        signNow(
          ctx,
          secret,
          await decidePolicy(ctx, wallets[0]!, { intentId: randomUUID(), intent, operation }),
        ),
      )
    expect(await sign(randomBytes(32))).toHaveLength(65)
    await expect(sign(randomBytes(31))).rejects.toThrow('digests of 32 bytes only')
  })
})

describe('rules are refused that', () => {
  const bad: [string, object, string][] = [
    ['have a mode nobody knows', { mode: 'open' }, 'mode'],
    ['misspell a field', { mode: 'rules', limit: [] }, 'limit'],
    ['allow more beside being permissive', { mode: 'permissive', limits: [] }, 'limits'],
    ['name no blockchain', { ...rules, destinations: [friend] }, 'destinations[0]'],
    [
      'have a wrong checksum',
      { ...rules, destinations: ['BASE:0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266'] },
      'destinations[0]',
    ],
    [
      'write an address of 39 digits',
      { ...rules, destinations: [`*:0x${'a'.repeat(39)}`] },
      'destinations[0]',
    ],
    ['name an operation nobody knows', { ...rules, operations: ['send'] }, 'operations[0]'],
    [
      'limit a token that is not allowed',
      { ...rules, limits: [{ tokens: ['BASE:native'], perTransactionAtomic: '1' }] },
      'limits[0].tokens[0]',
    ],
    ['limit nothing', { ...rules, limits: [{ tokens: rules.tokens }] }, 'limits[0]'],
    [
      'write an amount as a number',
      { ...rules, limits: [{ tokens: rules.tokens, perTransactionAtomic: 5 }] },
      'limits[0].perTransactionAtomic',
    ],
    [
      'write a selector with spaces',
      { ...rules, contracts: [{ contract: `*:${token}`, selectors: ['f(address, uint256)'] }] },
      'selectors',
    ],
    [
      'write a selector with an alias',
      { ...rules, contracts: [{ contract: `*:${token}`, selectors: ['f(uint)'] }] },
      'selectors',
    ],
    [
      'name a contract twice',
      { ...rules, contracts: [1, 2].map(() => ({ contract: `*:${token}`, selectors: 'any' })) },
      'contracts[1].contract',
    ],
  ]
  let bare: Promise<TestEntity> | undefined
  it.each(bad)('%s', async (_, written, location) => {
    const entity = await (bare ??= test.newEntity({ policy: false, registered: false }))
    const setting = set({ entity }, 'entity', entity.id, written)
    await expect(setting).rejects.toMatchObject({ code: 2, message: expect.stringContaining(location) })
    expect(await versionsOf(test.database, entity.id, undefined, 10)).toEqual([])
  })

  it('are for a wallet of another entity', async () => {
    const [mine, theirs] = [await newSubject(), await newSubject()]
    await expect(set(mine, 'wallet', theirs.wallets[0]!.id, rules)).rejects.toMatchObject({ code: 156001 })
    await expect(set(mine, 'walletSet', randomUUID(), rules)).rejects.toMatchObject({ code: 156005 })
  })
})

describe('limits', () => {
  const limited = (limit: object) => ({ ...rules, limits: [{ tokens: rules.tokens, ...limit }] })
  const daily = (amountAtomic: string) => limited({ windows: [{ seconds: 86_400, amountAtomic }] })

  it('hold for each transaction', async () => {
    const subject = await newSubject()
    await set(subject, 'entity', subject.entity.id, limited({ perTransactionAtomic: '10' }))
    await ask(subject, pay(10n))
    await expect(ask(subject, pay(11n))).rejects.toMatchObject(
      refused('perTransactionAtomic is 10, this is 11'),
    )
  })

  it(`property 45: hold for ${racers} decisions at once, over all wallets, and count what came before them`, async () => {
    const subject = await newSubject()
    const { entity, wallets } = subject
    await set(subject, 'entity', entity.id, permissive)
    await ask(subject, pay(5n))
    const most = racers / 4
    const mostOfSecond = racers / 10
    await set(subject, 'entity', entity.id, daily(String(5 + most)))
    await set(subject, 'wallet', wallets[1]!.id, daily(String(mostOfSecond)))
    const results = await Promise.allSettled(
      Array.from({ length: racers }, (_, index) =>
        whenConnected(() => ask(subject, pay(1n), wallets[index % 2]!)),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(most)
    const second = results.filter(({ status }, index) => status === 'fulfilled' && index % 2 === 1)
    expect(second.length).toBeLessThanOrEqual(mostOfSecond)
    await expect(ask(subject, pay(1n))).rejects.toMatchObject(
      refused(`allows ${5 + most} in 86400 s, of which ${5 + most} are taken`),
    )
  })

  it('property 45: count all of an amount, to the last base unit', async () => {
    const subject = await newSubject()
    await set(subject, 'entity', subject.entity.id, daily('10'))
    await ask(subject, pay(7n))
    await expect(ask(subject, pay(4n))).rejects.toMatchObject(refused('of which 7 are taken; this is 4'))
    await ask(subject, pay(3n))
    await expect(ask(subject, pay(1n))).rejects.toMatchObject(refused('of which 10 are taken'))
  })

  it('property 45: are released once by an operation without effect, and reserved again after a reorg', async () => {
    const subject = await newSubject()
    const { entity } = subject
    await set(subject, 'entity', entity.id, daily('10'))
    const { intentId } = await ask(subject, pay(10n))
    const intents = [{ entityId: entity.id, intentId }]
    await expect(ask(subject, pay(1n))).rejects.toMatchObject(refused('of which 10 are taken'))
    await releaseAllowance(test.database, Date.now(), intents)
    await releaseAllowance(test.database, Date.now(), intents)
    await ask(subject, pay(4n))
    await reserveAllowanceAgain(test.database, intents)
    await expect(ask(subject, pay(1n))).rejects.toMatchObject(refused('of which 14 are taken'))
  })
})
