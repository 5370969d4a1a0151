import { ApiError, invalid } from '#lib/errors'
import { parseDuration } from './durations.ts'

/** Requests that wait for items of one kind, such as messages, and are answered when one arrives. */
export type Arrivals<Item> = {
  /** Ends the waits that this item matches. */
  arrived(item: Item): void
  /** Resolves when an item arrives that matches, after `waitMs`, or when the sandbox stops. */
  until(matches: (item: Item) => boolean, waitMs: number): Promise<void>
  /** Ends all waits now. */
  endAll(): void
  /** Whether as many wait as may. */
  isCrowded(): boolean
}

const waitsMax = 1_000

export function openArrivals<Item>(ending: AbortSignal): Arrivals<Item> {
  const waits = new Set<{ matches: (item: Item) => boolean; end: () => void }>()
  const endAll = () => {
    for (const { end } of waits) end()
  }
  ending.addEventListener('abort', endAll)
  const isCrowded = () => waits.size >= waitsMax
  return {
    isCrowded,
    endAll,
    arrived: (item) => {
      for (const wait of waits) if (wait.matches(item)) wait.end()
    },
    until: async (matches, waitMs) => {
      if (ending.aborted || waitMs <= 0) return
      if (isCrowded())
        throw new ApiError('tooManyRequests', `${waitsMax} requests wait already: try again in a moment.`)
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer)
          waits.delete(wait)
          resolve()
        }
        const wait = { matches, end }
        const timer = setTimeout(end, waitMs)
        waits.add(wait)
      })
    },
  }
}

const waitMaxMs = 30_000
export const waitText =
  'A duration up to PT30S, such as PT5S: the request waits until there is a match, and returns an empty list when there is none by then.'

/** Reads the parameter `wait`. */
export const waitOf = (text: string | undefined): number =>
  text === undefined ? 0 : durationWithin('wait', text, waitMaxMs)

/** Reads a duration that is at most `maxMs`; throws the error of the field `at`. */
export function durationWithin(at: string, text: string, maxMs: number): number {
  const ms = parseDuration(text)
  if (ms !== undefined && ms <= maxMs) return ms
  throw invalid({
    at,
    reason: `must be a duration from PT0S to PT${maxMs / 1_000}S, such as PT5S`,
    value: text,
  })
}
