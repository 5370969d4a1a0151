import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openEventStreams, streamMs, takenBytesMin } from './event-streams.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const connection = () => Object.assign(new EventEmitter(), { socket: { bytesWritten: 0 }, destroyed: false })
const openedStreams = () => openEventStreams({ addHook: () => undefined } as never)
const download = { 'content-length': '5000000' }

it('ends a stream that a key or a session opened in time, and no other', async () => {
  const streams = openedStreams()
  const open = async (isAdmitted: boolean) => {
    const make = async () => ({ stream: new PassThrough() })
    return (await streams.open('key:1', connection() as never, make, { isAdmitted })).stream
  }
  const [admitted, listener] = [await open(true), await open(false)]
  await vi.advanceTimersByTimeAsync(streamMs - 1)
  expect([admitted.destroyed, listener.destroyed]).toEqual([false, false])
  await vi.advanceTimersByTimeAsync(1)
  expect([admitted.destroyed, listener.destroyed]).toEqual([true, false])
})

it('lets a download go on while its client takes it, and ends one that stands still', async () => {
  const response = connection()
  const make = async () => ({ stream: new PassThrough(), headers: download })
  const { stream } = await openedStreams().open('key:1', response as never, make, { isAdmitted: true })
  response.socket.bytesWritten = takenBytesMin
  await vi.advanceTimersByTimeAsync(streamMs)
  expect(stream.destroyed).toBe(false)
  response.socket.bytesWritten += takenBytesMin - 1
  await vi.advanceTimersByTimeAsync(streamMs)
  expect(stream.destroyed).toBe(true)
})

it('keeps the place of a download whose connection is gone until its work has ended', async () => {
  const streams = openedStreams()
  const ended: (() => void)[] = []
  const open = async (response = connection(), headers?: Record<string, string>) =>
    streams.open(
      'key:1',
      response as never,
      () => new Promise((resolve) => ended.push(() => resolve({ stream: new PassThrough(), headers }))),
      { isAdmitted: true },
    )
  const responses = Array.from({ length: 8 }, connection)
  const opening = responses.map((response) => open(response, download))
  for (const response of responses) {
    response.destroyed = true
    response.emit('close')
  }
  await expect(open()).rejects.toThrow('This key has 8 open streams: close one first.')
  for (const end of ended.splice(0)) end()
  const made = await Promise.all(opening)
  await vi.advanceTimersByTimeAsync(0)
  expect(made.every(({ stream }) => stream.destroyed)).toBe(true)

  // A stream of events holds nothing but its connection.
  const events = connection()
  const pages = Array.from({ length: 8 }, () => open(events))
  for (const end of ended.splice(0)) end()
  await Promise.all(pages)
  events.emit('close')
  const again = open()
  for (const end of ended) end()
  await expect(again).resolves.toBeDefined()
})
