import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertEntity } from '#runtime/auth/store'
import { sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { isDeep } from '#testing/runner/size'
import { mayEnter, type State, states } from './states.ts'
import { enterState } from './store/transactions.ts'

describe('state transitions', () => {
  it('start at INITIATED, reach every state, and never leave a refused one', () => {
    const reached = new Set<State>(['INITIATED'])
    for (const from of reached) for (const to of states) if (mayEnter(from, to)) reached.add(to)
    expect(reached).toEqual(new Set(states))
    for (const to of states) {
      expect(mayEnter(to, to) && to !== 'FAILED').toBe(false)
      expect(mayEnter(to, 'INITIATED')).toBe(false)
      expect(mayEnter('DENIED', to)).toBe(false)
      // Only an orphaned block reverts a cancellation.
      expect(mayEnter('CANCELLED', to) && to !== 'SENT').toBe(false)
    }
  })

  it('reach COMPLETE only through a block, and a block only when signed', () => {
    for (const from of states) expect(mayEnter(from, 'COMPLETE')).toBe(from === 'CONFIRMED')
    for (const from of ['INITIATED', 'CLEARED'] as const) {
      expect(mayEnter(from, 'SENT')).toBe(false)
      expect(mayEnter(from, 'CONFIRMED')).toBe(false)
    }
  })

  it('lead from every state to a final one', () => {
    const ends: readonly State[] = ['COMPLETE', 'FAILED', 'DENIED', 'CANCELLED']
    for (const from of states) {
      const reached = new Set<State>([from])
      for (const at of reached) for (const to of states) if (mayEnter(at, to)) reached.add(to)
      expect(ends.some((end) => reached.has(end))).toBe(true)
    }
  })
})

describe('a stored transaction', () => {
  let test: TestDatabase
  const entityId = randomUUID()

  beforeAll(async () => {
    test = await openTestDatabase()
    await insertEntity(test.database, { id: entityId, environment: 'TEST', name: 'States', nowMs: 0 })
  })
  afterAll(() => test?.close())

  async function insert(): Promise<string> {
    const id = randomUUID()
    await test.database.run(sql`insert into transactions (entity_id, id, blockchain, address, transaction_type,
        custody_type, state, operation, create_date, update_date)
      values (${entityId}, ${id}, 'BASE-SEPOLIA', '0x00', 'OUTBOUND', 'DEVELOPER', 'INITIATED', 'TRANSFER', now(), now())`)
    return id
  }

  it('enters only allowed states, and reports whether it did', async () => {
    const told = fc.array(fc.constantFrom(...states), { minLength: 1, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(told, async (path) => {
        const id = await insert()
        let expected: State = 'INITIATED'
        for (const to of path) {
          const entered = await enterState(test.database, Date.now(), to, [{ entityId, id }])
          expect(entered.length).toBe(mayEnter(expected, to) ? 1 : 0)
          if (mayEnter(expected, to)) expected = to
          const row = await test.database.one<{ state: State }>(
            sql`select state from transactions where id = ${id}`,
          )
          expect(row.state).toBe(expected)
        }
      }),
      { numRuns: isDeep ? 40 : 12 },
    )
  })

  it('enters a state once under concurrent updates', async () => {
    const id = await insert()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => enterState(test.database, Date.now(), 'CLEARED', [{ entityId, id }])),
    )
    expect(answers.flat()).toHaveLength(1)
  })
})
