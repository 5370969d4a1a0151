import { expect, it } from 'vitest'
import { createBudgets } from './budgets.ts'

it('gives a burst at once, and then as much in each second', () => {
  let nowMs = 0
  const budgets = createBudgets({ perSecond: 10, burst: 50, now: () => nowMs })
  budgets.spend(['a', 'key'], 49)
  expect(budgets.hasLeft(['a', 'key'])).toBe(true)
  budgets.spend(['a', 'key'], 11)
  expect([budgets.hasLeft(['a']), budgets.hasLeft(['b']), budgets.hasLeft(['b', 'key'])]).toEqual([
    false,
    true,
    false,
  ])
  nowMs = 1_000
  expect(budgets.hasLeft(['a'])).toBe(false)
  nowMs = 1_001
  expect(budgets.hasLeft(['a'])).toBe(true)
  budgets.spend(['a'], 1_000_000)
  nowMs += 5_001
  expect(budgets.hasLeft(['a'])).toBe(true)
})

it('keeps a bounded number of names', () => {
  const budgets = createBudgets({ perSecond: 1, burst: 1, now: () => 0 })
  for (let each = 0; each < 50_000; each++) budgets.spend([`address ${each}`], 1)
  expect(['address 49999', 'address 0'].map((name) => budgets.hasLeft([name]))).toEqual([false, true])
})
