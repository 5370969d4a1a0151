import { setTimeout as delay } from 'node:timers/promises'
import type { Ask } from '../ask.ts'

/** Business time of a sandbox. */
export type ClockState = { now: string; offsetMs: number; isFrozen: boolean; isAdvancing: boolean }

/** The way of an advance. */
export type ClockAdvance = ClockState & {
  hops: number
  leapt: boolean
  fired: { timer: string; resourceId: string; dueDate: string }[]
  tookMs: number
}

export type ClockHandle = {
  read(): Promise<ClockState>
  /** Lets a duration pass, such as `P2D`, or time until an instant; resolves when everything that became due has happened. */
  advance(to: string | { to: string }): Promise<ClockAdvance>
  /** Lets time stand still, now or at a later instant, until `release`. */
  freeze(at?: string): Promise<ClockState>
  release(): Promise<ClockState>
}

const pauseMs = 100

export const clockOf = ({ lab }: Ask): ClockHandle => ({
  read: () => lab('GET', '/sandbox/clock'),
  advance: async (to) => {
    const body = typeof to === 'string' ? { by: to } : to
    let advance = await lab<ClockAdvance>('POST', '/sandbox/clock/advance', body)
    // One that takes long goes on after its answer.
    while (advance.isAdvancing) {
      await delay(pauseMs)
      advance = await lab('GET', '/sandbox/clock/advance')
    }
    return advance
  },
  freeze: (at) => lab('POST', '/sandbox/clock/freeze', at === undefined ? {} : { at }),
  release: () => lab('POST', '/sandbox/clock/release', {}),
})
