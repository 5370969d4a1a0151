import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { openTestCustody, type TestCustody, type TestEntity } from '#testing/platform/custody'
import { isDeep } from '#testing/runner/size'
import { openEntitySecret } from '../index.ts'
import {
  createWalletSet,
  createWallets,
  deriveWallet,
  managedAmong,
  requireWallet,
  updateWallet,
  type Wallet,
} from './index.ts'
import { walletsPerSetMax } from './wallets.ts'

const sequences = isDeep ? 15 : 6
const callers = isDeep ? 40 : 12

let test: TestCustody
let entity: TestEntity

beforeAll(async () => {
  test = await openTestCustody()
  entity = await test.newEntity()
})
afterAll(() => test?.close())

const secretOf = async (who = entity) => openEntitySecret(who.ctx(), await who.encrypt())
const newSet = async (who = entity) => {
  const secret = await secretOf(who)
  return (await who.act((ctx) => createWalletSet(ctx, secret, {}))).id
}
const create = async (walletSetId: string, names: string[], count = 1, who = entity) => {
  const secret = await secretOf(who)
  const chains = names.map((blockchain) => ({ blockchain, family: 'evm' as const, onChain: true }))
  return who.act((ctx) => createWallets(ctx, secret, { walletSetId, chains, count }))
}
const derive = (source: Wallet, blockchain: string) =>
  entity.act((ctx) => deriveWallet(ctx, source, { blockchain, family: 'evm' as const, onChain: true }))
const at = (wallets: Wallet[]) => wallets.map((wallet) => `${wallet.blockchain}:${wallet.derivationIndex}`)

describe('addresses within a set', () => {
  it('are shared by chains named in one call', async () => {
    const set = await newSet()
    const made = await create(set, ['ETH-SEPOLIA', 'BASE-SEPOLIA'], 2)
    expect(at(made).sort()).toEqual(['BASE-SEPOLIA:0', 'BASE-SEPOLIA:1', 'ETH-SEPOLIA:0', 'ETH-SEPOLIA:1'])
    const byIndex = new Map<number, Set<string>>()
    for (const { derivationIndex, address } of made)
      byIndex.set(derivationIndex, (byIndex.get(derivationIndex) ?? new Set()).add(address))
    expect([...byIndex.values()].map((addresses) => addresses.size)).toEqual([1, 1])
    expect(new Set(made.map((wallet) => wallet.address)).size).toBe(2)
  })

  it('follow the next index of a single chain, so that a new chain starts at the first address', async () => {
    const set = await newSet()
    const [first] = await create(set, ['ETH-SEPOLIA'])
    const [second] = await create(set, ['ETH-SEPOLIA'])
    const [onBase] = await create(set, ['BASE-SEPOLIA'])
    expect(onBase!.address).toBe(first!.address)
    expect(second!.address).not.toBe(first!.address)
    const both = await create(set, ['ETH-SEPOLIA', 'BASE-SEPOLIA'])
    expect(at(both).sort()).toEqual(['BASE-SEPOLIA:2', 'ETH-SEPOLIA:2'])
    const { made, wallet } = await derive(second!, 'BASE-SEPOLIA')
    expect([made, wallet.derivationIndex, wallet.address]).toEqual([true, 1, second!.address])
    expect(await derive(second!, 'BASE-SEPOLIA')).toMatchObject({ made: false, wallet: { id: wallet.id } })
  })

  it('differ between sets and entities', async () => {
    const other = await test.newEntity()
    const wallets = [
      ...(await create(await newSet(), ['BASE-SEPOLIA'])),
      ...(await create(await newSet(), ['BASE-SEPOLIA'])),
      ...(await create(await newSet(other), ['BASE-SEPOLIA'], 1, other)),
    ]
    expect(new Set(wallets.map((wallet) => wallet.address)).size).toBe(3)
  })

  it('agree with a model for any sequence of calls', async () => {
    const names = ['ETH-SEPOLIA', 'BASE-SEPOLIA', 'OP-SEPOLIA']
    const step = fc.oneof(
      fc.record({ chains: fc.subarray(names, { minLength: 1 }), count: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ pick: fc.nat(), target: fc.constantFrom(...names) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const set = await newSet()
        const used = new Map(names.map((name) => [name, new Set<number>()]))
        const addresses = new Map<number, string>()
        const all: Wallet[] = []
        const take = (wallets: Wallet[]) => {
          for (const wallet of wallets) {
            expect(used.get(wallet.blockchain)!.has(wallet.derivationIndex)).toBe(false)
            used.get(wallet.blockchain)!.add(wallet.derivationIndex)
            const address = addresses.get(wallet.derivationIndex) ?? wallet.address
            expect(wallet.address).toBe(address)
            addresses.set(wallet.derivationIndex, address)
          }
          all.push(...wallets)
        }
        for (const call of steps) {
          if ('chains' in call) {
            const next = Math.max(...call.chains.map((name) => Math.max(-1, ...used.get(name)!) + 1))
            const made = await create(set, call.chains, call.count)
            const expected = call.chains.flatMap((name) =>
              Array.from({ length: call.count }, (_, offset) => `${name}:${next + offset}`),
            )
            expect(at(made).sort()).toEqual(expected.sort())
            take(made)
          } else if (all.length > 0) {
            const source = all[call.pick % all.length]!
            const there = used.get(call.target)!.has(source.derivationIndex)
            const { made, wallet } = await derive(source, call.target)
            expect([made, wallet.address]).toEqual([!there, source.address])
            if (made) take([wallet])
          }
        }
        expect(new Set(addresses.values()).size).toBe(addresses.size)
      }),
      { numRuns: sequences },
    )
  })

  it(`are handed out once to ${callers} calls at a time`, async () => {
    const set = await newSet()
    const calls = Array.from({ length: callers }, (_, index) =>
      create(set, index % 2 ? ['BASE-SEPOLIA'] : ['BASE-SEPOLIA', 'ETH-SEPOLIA']),
    )
    const made = (await Promise.all(calls)).flat()
    const onBase = made.filter((wallet) => wallet.blockchain === 'BASE-SEPOLIA')
    expect(onBase.map((wallet) => wallet.derivationIndex).sort((a, b) => a - b)).toEqual([
      ...Array(callers).keys(),
    ])
    const derived = await Promise.all(Array.from({ length: 10 }, () => derive(onBase[0]!, 'OP-SEPOLIA')))
    expect(derived.filter((outcome) => outcome.made).length).toBe(1)
  })
})

describe('a wallet', () => {
  it('is watched, with its key and purpose', async () => {
    const [wallet] = await create(await newSet(), ['BASE-SEPOLIA'])
    expect(
      await managedAmong(test.database, 'BASE-SEPOLIA', [wallet!.address, `0x${'00'.repeat(20)}`]),
    ).toEqual([
      {
        entityId: entity.id,
        blockchain: 'BASE-SEPOLIA',
        address: wallet!.address,
        keyId: wallet!.keyId,
        purpose: 'wallet',
        ownerId: wallet!.id,
      },
    ])
  })

  it('is not watched on a virtual chain', async () => {
    const secret = await secretOf()
    const walletSetId = await newSet()
    const chains = [{ blockchain: 'EVM-TESTNET', family: 'evm' as const, onChain: false }]
    const [wallet] = await entity.act((ctx) => createWallets(ctx, secret, { walletSetId, chains, count: 1 }))
    expect(await managedAmong(test.database, 'EVM-TESTNET', [wallet!.address])).toEqual([])
  })

  it('is not found by another entity, nor its set', async () => {
    const other = await test.newEntity()
    const set = await newSet()
    const [wallet] = await create(set, ['BASE-SEPOLIA'])
    await expect(requireWallet(other.ctx(), wallet!.id)).rejects.toMatchObject({ code: 156001 })
    await expect(create(set, ['BASE-SEPOLIA'], 1, other)).rejects.toMatchObject({ code: 156005 })
    await expect(create(randomUUID(), ['BASE-SEPOLIA'])).rejects.toMatchObject({ code: 156005 })
  })

  it('is refused when its set is full', async () => {
    const set = await newSet()
    await create(set, ['BASE-SEPOLIA'])
    await test.database.run(
      sql`update wallet_sets set wallet_count = ${walletsPerSetMax - 1} where id = ${set}`,
    )
    await expect(create(set, ['BASE-SEPOLIA'], 2)).rejects.toMatchObject({ code: 155502 })
    const [last] = await create(set, ['BASE-SEPOLIA'])
    await expect(derive(last!, 'ETH-SEPOLIA')).rejects.toMatchObject({ code: 155502 })
  })

  it('takes no change while it is frozen', async () => {
    const [wallet] = await create(await newSet(), ['BASE-SEPOLIA'])
    await test.database.run(sql`update wallets set state = 'FROZEN' where id = ${wallet!.id}`)
    const change = entity.act((ctx) => updateWallet(ctx, wallet!.id, { name: 'x' }))
    await expect(change).rejects.toMatchObject({ code: 155501, status: 409 })
  })
})
