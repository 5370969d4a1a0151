import { pino } from 'pino'
import { expect, it, vi } from 'vitest'
import { until } from '#testing/platform/until'
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

it('a loop without work rests longer after a quiet minute, until it has work or is woken', async () => {
  vi.useFakeTimers()
  try {
    let turns = 0
    let work = 0
    const loop = repeat(
      async () => {
        turns += 1
        return work-- > 0
      },
      logTrouble(pino({ enabled: false }), 'idling'),
    )
    const turnsWithin = async (ms: number) => {
      const before = turns
      await vi.advanceTimersByTimeAsync(ms)
      return turns - before
    }
    expect(await turnsWithin(60_000)).toBe(30)
    await turnsWithin(8_000)
    expect(await turnsWithin(32_000)).toBe(4)
    work = 1
    await turnsWithin(8_000)
    expect(await turnsWithin(8_000)).toBe(4)
    await turnsWithin(68_000)
    loop.wake()
    expect(await turnsWithin(4_000)).toBe(3)
    await loop.stop()
  } finally {
    vi.useRealTimers()
  }
})
