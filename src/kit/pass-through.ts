import type { TimelineDocument } from './handles/operator.ts'

type MatchVerdict = { pass: boolean; message(): string }

/** Whether a movement entered these states in this order, whatever other states it had between them. */
export function passThrough(timeline: unknown, ...wanted: readonly string[]): MatchVerdict {
  const { movement, states } = (timeline ?? {}) as Partial<TimelineDocument>
  if (!movement || !Array.isArray(states))
    throw new TypeError('toPassThrough compares a timeline: expect(await sandbox.timeline(id))')
  const entered = states.map(({ state }) => state)
  let found = 0
  for (const state of entered) if (state === wanted[found]) found++
  const pass = found === wanted.length
  const list = (names: readonly string[]) => names.join(', ') || 'none'
  return {
    pass,
    message: () =>
      pass
        ? `expected ${movement.kind} ${movement.id} not to pass through ${list(wanted)}; it entered ${list(entered)}`
        : `expected ${movement.kind} ${movement.id} to pass through ${list(wanted)}; it entered ${list(entered)}, so ${wanted[found]} is missing${found > 0 ? ` after ${list(wanted.slice(0, found))}` : ''}`,
  }
}
