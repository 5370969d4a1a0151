import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { answerExport, digestMaxMs } from './export-text.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const file = { name: 'journal', format: 'csv', columns: ['about'] } as const

/** Records of a character more than a chunk has, each of which takes a minute. */
function slowRecords() {
  let made = 0
  async function* recordsOf() {
    for (; ; made += 1) {
      vi.advanceTimersByTime(60_000)
      yield { about: 'x'.repeat(65_537) }
    }
  }
  return { recordsOf, made: () => made }
}

it('stops making an export whose client is gone', async () => {
  const { recordsOf, made } = slowRecords()
  const isWaitedFor = () => made() < 2
  await expect(answerExport({ isWaitedFor }, file, recordsOf)).rejects.toThrow('The client is gone.')
  expect(made()).toBe(2)
})

it('refuses an export that takes too long, and names what to ask for', async () => {
  const { recordsOf, made } = slowRecords()
  await expect(answerExport({ isWaitedFor: () => true }, file, recordsOf)).rejects.toMatchObject({
    fields: [
      { location: 'to', message: expect.stringContaining('fewer days, or for the statement of one address') },
    ],
  })
  expect(made()).toBe(digestMaxMs / 60_000)
})
