import { setTimeout as sleep } from 'node:timers/promises'

type Patience = { patienceMs: number; everyMs: number }

/**
 * Resolves when `check` holds; throws when it does not within `patienceMs`. Polls at a constant interval, because the moment is
 * a part of a figure: tests wait with growing pauses.
 */
export async function until(
  check: () => boolean | Promise<boolean>,
  what: string,
  { patienceMs, everyMs }: Patience,
): Promise<void> {
  const dueMs = performance.now() + patienceMs
  while (!(await check())) {
    if (performance.now() > dueMs) throw new Error(`not so after ${patienceMs / 1_000} s: ${what}`)
    await sleep(everyMs)
  }
}
