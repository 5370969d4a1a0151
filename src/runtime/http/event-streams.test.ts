import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openEventStreams, streamMs } from './event-streams.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('ends a stream that a key or a session opened in time, and no other', async () => {
  const streams = openEventStreams({ addHook: () => undefined } as never)
  const open = (isAdmitted: boolean) =>
    streams.open('key:1', new EventEmitter() as never, async () => new PassThrough(), { isAdmitted })
  const [admitted, listener] = [await open(true), await open(false)]
  await vi.advanceTimersByTimeAsync(streamMs - 1)
  expect([admitted.destroyed, listener.destroyed]).toEqual([false, false])
  await vi.advanceTimersByTimeAsync(1)
  expect([admitted.destroyed, listener.destroyed]).toEqual([true, false])
})
