import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '#testing/adversary/seeded-random'
import type { Book } from './book.ts'

export type Act = { name: string; weight: number; act(): Promise<void> }

/** Acts of one kind that may be under way: those that wait for a chain that is out of reach do not pile up. */
const underWayMax = 6

export type Load = {
  /** Acts that were left out because as many were under way. */
  leftOut(): number
  underWay(): number
  run(perMinute: number, signal: AbortSignal): Promise<void>
  /** Resolves when every act has ended. */
  ended(): Promise<void>
}

/** Customers who act at random moments, at a rate on average. */
export function openLoad(acts: readonly Act[], random: SeededRandom, book: Book): Load {
  const underWay = new Map<Act, number>()
  const running = new Set<Promise<void>>()
  const drawn = acts.flatMap((act) => Array.from({ length: act.weight }, () => act))
  let leftOut = 0
  const begin = () => {
    const chosen = random.pick(drawn)
    const count = underWay.get(chosen) ?? 0
    if (count >= underWayMax) {
      leftOut += 1
      return
    }
    underWay.set(chosen, count + 1)
    const acting = chosen
      .act()
      .then(
        () => book.finished(chosen.name),
        (error: Error) => book.gaveUp(chosen.name, error),
      )
      .finally(() => {
        underWay.set(chosen, underWay.get(chosen)! - 1)
        running.delete(acting)
      })
    running.add(acting)
  }
  return {
    leftOut: () => leftOut,
    underWay: () => running.size,
    run: async (perMinute, signal) => {
      while (!signal.aborted) {
        begin()
        await sleep(-Math.log(1 - random.next()) * (60_000 / perMinute), undefined, { signal }).catch(
          () => undefined,
        )
      }
    },
    ended: async () => {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
