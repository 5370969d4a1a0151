/**
 * Property 289 for each test file: the statements of one tenant that the program sent in it read one partition each.
 */
import { afterAll, expect } from 'vitest'
import { openRunPlanner, spreadStatements } from '#testing/databases/spread-statements'
import { collectStatements } from '#testing/databases/statements'

const { sent, stop } = collectStatements()
afterAll(async () => {
  stop()
  expect(await spreadStatements(sent.values(), openRunPlanner)).toEqual([])
})
