import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { newId } from '#lib/ids'
import { systemClock } from '#lib/time'
import { checkLedger } from '#testing/builders/ledger-checks'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { sizeOf } from '#testing/runner/size'
import { type Hold, InsufficientFunds, placeHolds, resolveHolds } from './holds/index.ts'
import { balancesOf, type Posting, post, reversePostings } from './index.ts'
import { seedTokens } from './tokens/index.ts'

const { blockchain } = baseSepolia
const tokens = baseSepolia.tokens.map((token) => token.id)
const addresses = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`)
const nowMs = systemClock.nowMs()
const sequences = sizeOf('LEDGER_SEQUENCES', { usual: 50, deep: 1_000 })
let test: TestDatabase

beforeAll(async () => {
  test = await openTestDatabase()
  await seedTokens(test.database, [baseSepolia], nowMs)
})
afterAll(async () => {
  await checkLedger(test.database)
  await test.close()
})

/** Accounts are numbered 0 to 5: three addresses, two tokens. */
const account = fc.integer({ min: 0, max: 5 })
const small = fc.bigInt({ min: 1n, max: 60n })
const index = fc.nat({ max: 50 })
const movement = fc.record({ from: fc.option(account), to: account, amount: small })
const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('block' as const),
      moves: fc.array(movement, { maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('undo' as const), index }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('hold' as const),
      holds: fc.array(fc.record({ account, amount: small }), { minLength: 1, maxLength: 3 }),
      regardless: fc.nat({ max: 9 }).map((die) => die === 0),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('resolve' as const),
      index,
      outcomes: fc.array(fc.constantFrom('posted' as const, 'voided' as const), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
  },
)
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never

/** The expected books, kept by plain arithmetic. */
type Model = {
  posted: bigint[]
  held: bigint[]
  blocks: { hash: string; effect: bigint[]; undone: boolean }[]
  intents: { id: string; holds: { account: number; amount: bigint }[]; open: boolean }[]
}

const nameOf = (number: number) => ({ address: addresses[number % 3]!, tokenId: tokens[number < 3 ? 0 : 1]! })

async function run(entityId: string, model: Model, step: Command): Promise<void> {
  if (step.kind === 'block') return applyBlock(entityId, model, step.moves)
  if (step.kind === 'undo') return undoBlock(model, step.index)
  if (step.kind === 'hold') return hold(entityId, model, step)
  const intent = model.intents[step.index % Math.max(1, model.intents.length)]
  if (!intent) return
  // Concurrently: one resolves, and the others find it done or are refused by the key of the resolution.
  await Promise.allSettled(
    step.outcomes.map((outcome) =>
      test.database.tx((tx) => resolveHolds(tx, nowMs, [{ entityId, intentId: intent.id, outcome }])),
    ),
  )
  if (intent.open) for (const { account: number, amount } of intent.holds) model.held[number]! -= amount
  intent.open = false
}

async function applyBlock(
  entityId: string,
  model: Model,
  moves: readonly { from: number | null; to: number; amount: bigint }[],
): Promise<void> {
  const hash = `0x${randomUUID()}`
  const effect = model.posted.map(() => 0n)
  const postings = moves.map(({ from, to, amount }, number): Posting => {
    const source = from === null ? undefined : (from % 3) + (to < 3 ? 0 : 3)
    effect[to]! += amount
    if (source !== undefined) effect[source]! -= amount
    const entries = [
      { kind: 'address' as const, ...nameOf(to), amountAtomic: amount },
      source === undefined
        ? { kind: 'outside' as const, tokenId: nameOf(to).tokenId, amountAtomic: -amount }
        : { kind: 'address' as const, ...nameOf(source), amountAtomic: -amount },
    ]
    return { entityId, blockchain, blockHash: hash, fact: `log:${number}`, entries }
  })
  await test.database.tx((tx) => post(tx, nowMs, postings))
  for (const [number, amount] of effect.entries()) model.posted[number]! += amount
  model.blocks.push({ hash, effect, undone: false })
}

async function undoBlock(model: Model, at: number): Promise<void> {
  const block = model.blocks[at % Math.max(1, model.blocks.length)]
  if (!block) return
  await test.database.tx((tx) => reversePostings(tx, nowMs, blockchain, block.hash))
  if (!block.undone) for (const [number, amount] of block.effect.entries()) model.posted[number]! -= amount
  block.undone = true
}

async function hold(
  entityId: string,
  model: Model,
  { holds, regardless }: { holds: { account: number; amount: bigint }[]; regardless: boolean },
): Promise<void> {
  const id = randomUUID()
  const after = [...model.held]
  for (const { account: number, amount } of holds) after[number]! += amount
  const covered = holds.every(({ account: number }) => model.posted[number]! >= after[number]!)
  const rows = holds.map(
    ({ account: number, amount }): Hold => ({
      entityId,
      blockchain,
      ...nameOf(number),
      intentId: id,
      purpose: 'amount',
      amountAtomic: amount,
    }),
  )
  const placed = await test.database
    .tx((tx) => placeHolds(tx, nowMs, rows, { regardless }))
    .then(
      () => true,
      (error) => {
        if (error instanceof InsufficientFunds) return false
        throw error
      },
    )
  expect(placed).toBe(regardless || covered)
  if (!placed) return
  model.held = after
  model.intents.push({ id, holds, open: true })
}

async function compare(entityId: string, model: Model): Promise<void> {
  const rows = await balancesOf(test.database, entityId, blockchain, addresses)
  const found = model.posted.map((_, number) => {
    const { address, tokenId } = nameOf(number)
    const row = rows.find((item) => item.address === address && item.tokenId === tokenId)
    return [row?.postedAtomic ?? 0n, row?.heldAtomic ?? 0n]
  })
  expect(found).toEqual(model.posted.map((posted, number) => [posted, model.held[number]!]))
}

describe('property 6: books whose holds are posted and voided at the same moment', () => {
  it('property 4: have the balances of plain arithmetic after random blocks, reorgs, holds and resolutions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 12 }), async (steps) => {
        const entityId = newId(nowMs)
        const zeros = () => Array.from({ length: 6 }, () => 0n)
        const model: Model = { posted: zeros(), held: zeros(), blocks: [], intents: [] }
        for (const step of steps) {
          await run(entityId, model, step)
          await compare(entityId, model)
        }
      }),
      { numRuns: sequences },
    )
  })
})
