import { setTimeout as sleep } from 'node:timers/promises'
import { Violation } from './caller.ts'

type Patience = { everyMs: number; patienceMs: number }

/** Asks again until there is an answer; a violation when there is none in time. `what` says what is waited for. */
export async function untilFound<Found>(
  what: string,
  { everyMs, patienceMs }: Patience,
  find: () => Promise<Found | undefined>,
): Promise<Found> {
  const endsMs = performance.now() + patienceMs
  while (performance.now() < endsMs) {
    const found = await find()
    if (found !== undefined) return found
    await sleep(everyMs)
  }
  throw new Violation(`${what}: not within ${patienceMs / 1_000} seconds`)
}
