import { pino } from 'pino'
import { expect, it } from 'vitest'
import { until } from '../../testing/until.ts'
import { logTrouble, repeat } from './loop.ts'

it('a failing loop logs each new error once, and its recovery', async () => {
  const lines: { level: number; msg: string; err?: { message: string } }[] = []
  const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  let turns = 0
  const loop = repeat(
    async () => {
      turns += 1
      if (turns <= 3) throw new Error('the node is away')
      if (turns <= 6) throw new Error('the node is behind')
      return false
    },
    logTrouble(log, 'following', { blockchain: 'BASE' }),
    1,
  )
  await until(async () => turns > 9, 'it went some turns')
  await loop.stop()
  expect(lines.map(({ level, msg, err }) => [level, msg, err?.message])).toEqual([
    [50, 'following failed; retrying', 'the node is away'],
    [50, 'following failed; retrying', 'the node is behind'],
    [30, 'following resumed', undefined],
  ])
})
