import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import { sizeOf } from '../../../testing/size.ts'
import {
  intentOf,
  people,
  signedIntent,
  signedSet,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
} from '../../../testing/unified-balances.ts'
import { until } from '../../../testing/until.ts'
import { proveUnifiedBalances } from './index.ts'

/*
 * Deposits, balances, what is in flight, withdrawals and fees stay equal to the base unit, whatever depositors do in whatever
 * order, and whatever blocks the destination loses. The chains tell: what the contracts hold, and the supply.
 */
let harness: Harness
let unified: UnifiedBalances
let supplyBefore: bigint
const names = ['BASE-SEPOLIA', 'AVAX-FUJI', 'OP-SEPOLIA'] as const
const depositors = people.slice(0, 3)

beforeAll(async () => {
  harness = await openHarness({ blockchains: names })
  unified = unifiedBalances(harness)
  // The first payment of each chain mints for the outsider.
  for (const chain of harness.chains) await unified.pay(chain, people[7]!.address, 1n)
  supplyBefore = await supply()
})
afterAll(() => harness?.close())

const supply = async () => {
  let sum = 0n
  for (const chain of harness.chains) sum += await unified.supply(chain)
  return sum
}
/** Only the destination is rewound: a deposit that its chain forgets after it was spent is a loss that no rule prevents. */
const [base, avax, destination] = [0, 1, 2].map((index) => () => harness.chains[index]!)

type Act =
  | { kind: 'deposit' | 'withdraw' | 'endWithdrawal'; who: number; from: number; amount: bigint }
  | { kind: 'spend'; who: number; from: number; amount: bigint; both: boolean; mint: boolean; twice: boolean }
  | { kind: 'reorg'; depth: number }
  | { kind: 'restart' }

const who = fc.integer({ min: 0, max: 2 })
const from = fc.integer({ min: 0, max: 1 })
const amount = fc.bigInt({ min: 1n, max: 5_000_000n })
const acts = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('deposit' as const), who, from, amount }) },
    {
      weight: 6,
      arbitrary: fc.record({
        ...{ kind: fc.constant('spend' as const), who, from, amount },
        ...{ both: fc.boolean(), mint: fc.boolean(), twice: fc.boolean() },
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), who, from, amount }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('endWithdrawal' as const), who, from, amount }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  ),
  { minLength: 5, maxLength: 14 },
)

const sourceAt = (index: number) => (index === 0 ? base!() : avax!())

async function perform(act: Act): Promise<void> {
  if (act.kind === 'restart') {
    await harness.stopEngines()
    harness.startEngines()
    return
  }
  if (act.kind === 'reorg') {
    await destination!().mine(act.depth)
    await destination!().reorg(act.depth + 1)
    // The mints that the reorg took are made again with the same attestations, before those expire: each try mines a block.
    for (const answer of minted.slice(-8).toReversed())
      await unified.mint(destination!(), answer).catch(() => undefined)
    return
  }
  const person = depositors[act.who]!
  const source = sourceAt(act.from)
  if (act.kind === 'deposit') await unified.pay(source, person.address, act.amount * 2n)
  else if (act.kind === 'withdraw') {
    const available = await unified.read(source, walletOf, 'availableBalance', [
      source.tokens.USDC,
      person.address,
    ])
    if (available > 0n)
      await unified.callWallet(source, person.address, 'initiateWithdrawal', [
        source.tokens.USDC,
        available < act.amount ? available : act.amount,
      ])
  } else if (act.kind === 'endWithdrawal') {
    await source.mine(25)
    await unified.callWallet(source, person.address, 'withdraw', [source.tokens.USDC]).catch(() => undefined)
  } else if (act.kind === 'spend') await spend(act, person)
}

const minted: { attestation: `0x${string}`; signature: `0x${string}` }[] = []

const walletOf = '0x0077777d7EBA4688BDeF3E311b846F25870A19B9'

async function spend(act: Extract<Act, { kind: 'spend' }>, person: (typeof people)[0]): Promise<void> {
  const intent = (index: number) =>
    intentOf(specOf(sourceAt(index), destination!(), person.address, { value: act.amount }))
  const body = act.both
    ? [await signedSet(person, [intent(0), intent(1)])]
    : [await signedIntent(person, intent(act.from))]
  const answer = await unified.transfer(body)
  if (answer.status !== 201) {
    expect(answer.body.code).toBe(178001)
    return
  }
  if (!act.mint) return
  await unified.mint(destination!(), answer.body)
  minted.push(answer.body)
  if (act.twice) await expect(unified.mint(destination!(), answer.body)).rejects.toThrow()
}

/** The amount that the contract must have available: the balance, and what transfers that are not minted reserve of it. */
const countedFor = async (blockchain: string, depositor: string): Promise<bigint> =>
  (
    await harness.database.one<{ sum: bigint }>(sql`select
      coalesce((select available - overdrawn from unified_balances
        where blockchain = ${blockchain} and depositor = ${depositor.toLowerCase()}), 0)
      + coalesce((select sum(value + fee) from unified_intents where state = 'reserved'
        and blockchain = ${blockchain} and depositor = ${depositor.toLowerCase()}), 0) as sum`)
  ).sum

/** Waits until all blocks are followed and all that is minted is burned. */
const settled = () =>
  until(async () => {
    for (const chain of harness.chains) {
      const row = await harness.database.maybe<{ followed: number }>(
        sql`select followed from unified_heights where blockchain = ${chain.blockchain}`,
      )
      if ((row?.followed ?? -1) < (await chain.height())) return false
    }
    const { waits } = await harness.database.one<{ waits: boolean }>(
      sql`select exists (select 1 from unified_burns where state <> 'done') as waits`,
    )
    return !waits
  }, 'all is burned')

it('property 108: nothing is made or lost, to the base unit', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (list) => {
      for (const act of list) await perform(act as Act)
      await settled()
      const { chains, errors } = await proveUnifiedBalances({ ...harness.ctx, db: harness.database })
      expect(errors).toEqual([])
      expect(chains.map(({ heldAtomic }) => heldAtomic)).toEqual(
        chains.map(({ bookedAtomic }) => bookedAtomic),
      )
      expect(chains.reduce((sum, { unburnedAtomic }) => sum + unburnedAtomic, 0n)).toBe(0n)
      for (const { address } of depositors)
        for (const source of [base!(), avax!()])
          expect(
            await unified.read(source, walletOf, 'availableBalance', [source.tokens.USDC, address]),
          ).toBe(await countedFor(source.blockchain, address))
      // Whatever is minted is burned: only the fees moved.
      expect(await supply()).toBe(supplyBefore)
    }),
    { numRuns: sizeOf('UNIFIED_RUNS', { usual: 4, deep: 1_000 }), endOnFailure: true },
  )
}, 3_600_000)
