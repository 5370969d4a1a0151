import type { Clock } from '#lib/time'

/** A clock that runs like the system's, and that a test can move forward or stop. */
export type MovableClock = Clock & {
  /** Moves the clock by this many milliseconds; it runs on from there. */
  moveMs(byMs: number): void
  /** Stops the clock at this instant until `release`. */
  hold(atMs?: number): void
  release(): void
}

export function movableClock(): MovableClock {
  let offsetMs = 0
  let heldAtMs: number | undefined
  const nowMs = () => heldAtMs ?? Date.now() + offsetMs
  return {
    nowMs,
    moveMs: (byMs) => {
      offsetMs += byMs
      if (heldAtMs !== undefined) heldAtMs += byMs
    },
    hold: (atMs = nowMs()) => {
      heldAtMs = atMs
    },
    release: () => {
      heldAtMs = undefined
    },
  }
}
