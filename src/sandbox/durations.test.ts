import { expect, it } from 'vitest'
import { parseDuration } from './durations.ts'

it.each([
  ['PT1S', 1_000],
  ['PT0.25S', 250],
  ['P3DT4H', 273_600_000],
  ['P1WT1M', 604_860_000],
  ['PT90S', 90_000],
  ['P0D', 0],
])('reads %s', (text, ms) => expect(parseDuration(text)).toBe(ms))

it.each([
  '',
  'P',
  'PT',
  'P1DT',
  '1D',
  'P1Y',
  'P1M',
  '-P1D',
  'P-1D',
  'P1.5D',
  'pt1s',
  'PT1S ',
  `P${'9'.repeat(20)}D`,
])('refuses %j', (text) => expect(parseDuration(text)).toBeUndefined())
