/**
 * Property 283 for each test file: the statements that the program sent in it are of one kind each. A run of the whole suite judges
 * those of every engine and fault.
 */
import { afterAll, expect } from 'vitest'
import { refusedStatements } from '#testing/databases/refused-statements'
import { collectStatements } from '#testing/databases/statements'

const { sent, stop } = collectStatements()
afterAll(() => {
  stop()
  expect(refusedStatements(sent.keys())).toEqual([])
})
