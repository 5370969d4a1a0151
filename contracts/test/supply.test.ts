import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sizeOf } from '#testing/runner/size'
import { mined } from './token-calls.ts'
import { openingState, people, startTokenChain, type TokenChain } from './token-chain.ts'

let chain: TokenChain
beforeAll(async () => {
  chain = await startTokenChain()
})
afterAll(() => chain?.stop())

const holders = [people.minter, people.alice, people.bob, people.carol]
const holder = fc.integer({ min: 0, max: holders.length - 1 })
// Around the opening balances, so that both outcomes of every check happen.
const amount = fc.oneof(
  fc.constantFrom(0n, 1n, 500_000000n, 500_000001n, 1_000_000000n, 2n ** 256n - 1n),
  fc.bigInt({ min: 0n, max: 1_200_000000n }),
)
const step = fc.oneof(
  fc.record({ kind: fc.constant('mint' as const), from: holder, to: holder, spender: holder, amount }),
  fc.record({ kind: fc.constant('burn' as const), from: holder, to: holder, spender: holder, amount }),
  fc.record({ kind: fc.constant('transfer' as const), from: holder, to: holder, spender: holder, amount }),
  fc.record({ kind: fc.constant('approve' as const), from: holder, to: holder, spender: holder, amount }),
  fc.record({
    kind: fc.constant('transferFrom' as const),
    from: holder,
    to: holder,
    spender: holder,
    amount,
  }),
)
type Step = typeof step extends fc.Arbitrary<infer value> ? value : never

type Books = { balances: bigint[]; allowances: Map<string, bigint>; minterAllowance: bigint }

function opening(): Books {
  const balances = holders.map(
    ({ address }) => openingState.balances.find((balance) => balance.address === address)?.amount ?? 0n,
  )
  return { balances, allowances: new Map(), minterAllowance: openingState.minters[0]!.allowance }
}

/** What the step does to the books; false when it has to be refused. */
function book(books: Books, { kind, from, to, spender, amount }: Step): boolean {
  const { balances, allowances } = books
  const key = `${from}>${spender}`
  const allowed = allowances.get(key) ?? 0n
  if (kind === 'approve') {
    allowances.set(key, amount)
    return true
  }
  if (kind === 'mint') {
    if (from !== 0 || amount === 0n || amount > books.minterAllowance) return false
    books.minterAllowance -= amount
    balances[to]! += amount
    return true
  }
  if (kind === 'burn' && (from !== 0 || amount === 0n)) return false
  if (kind === 'transferFrom' && amount > allowed) return false
  if (amount > balances[from]!) return false
  if (kind === 'transferFrom') allowances.set(key, allowed - amount)
  balances[from]! -= amount
  if (kind !== 'burn') balances[to]! += amount
  return true
}

function perform({ kind, from, to, spender, amount }: Step): Promise<boolean> {
  const [payer, payee, third] = [holders[from]!, holders[to]!.address, holders[spender]!]
  if (kind === 'mint') return mined(chain, payer, 'mint', [payee, amount])
  if (kind === 'burn') return mined(chain, payer, 'burn', [amount])
  if (kind === 'approve') return mined(chain, payer, 'approve', [third.address, amount])
  if (kind === 'transfer') return mined(chain, payer, 'transfer', [payee, amount])
  return mined(chain, third, 'transferFrom', [payer.address, payee, amount])
}

const runs = sizeOf('SUPPLY_RUNS', { usual: 6, deep: 25 })

test('whatever is minted, burned and moved, the supply is the sum of the balances', async () => {
  const outcomes = { accepted: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const snapshot = await chain.client.snapshot()
      const books = opening()
      for (const each of steps) {
        const expected = book(books, each)
        expect([each, await perform(each)]).toEqual([each, expected])
        outcomes[expected ? 'accepted' : 'refused']++
      }
      const balances = await Promise.all(
        holders.map(({ address }) =>
          chain.client.readContract({ ...chain.token, functionName: 'balanceOf', args: [address] }),
        ),
      )
      expect(balances).toEqual(books.balances)
      const supply = await chain.client.readContract({ ...chain.token, functionName: 'totalSupply' })
      expect(supply).toBe(books.balances.reduce((sum, balance) => sum + balance, 0n))
      await chain.client.revert({ id: snapshot })
    }),
    // Shrinking would start on a chain that the failed run left changed.
    { seed: 20_240_607, numRuns: runs, endOnFailure: true },
  )
  expect(outcomes.accepted).toBeGreaterThan(4 * runs)
  expect(outcomes.refused).toBeGreaterThan(2 * runs)
})
