import { setTimeout as sleep } from 'node:timers/promises'
import { sizeOf } from '#testing/runner/size'

/** Time limit of a wait, below the test's own limit; a busy machine waits longer than a quiet one. */
export const patienceMs = sizeOf('TEST_PATIENCE_MS', { usual: 240_000, deep: 1_800_000 })

const firstMs = 4
const longestMs = 250

/** Resolves when `check` holds. Polls ever less often, which leaves the processors to the awaited work. */
export async function until(check: () => boolean | Promise<boolean>, what?: string): Promise<void> {
  const deadline = performance.now() + patienceMs
  for (let pauseMs = firstMs; !(await check()); pauseMs = Math.min(pauseMs * 2, longestMs)) {
    if (performance.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${what ?? check}`)
    await sleep(pauseMs)
  }
}

/**
 * Mines a block before each check, for an outcome that only a later block shows: the indexer reads the finalized block twice a
 * second, and records it with the block that comes next.
 */
export const mineUntil = (
  chain: { mine(): Promise<void> },
  check: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> =>
  until(async () => {
    await chain.mine()
    return check()
  }, what)

/** Waits until the count is zero: fails when it does not decrease for a while. */
export async function untilNone(count: () => Promise<number>, what: string): Promise<void> {
  for (let left = await count(); left > 0; ) {
    const before = left
    const isLess = async () => {
      left = await count()
      return left < before
    }
    await until(isLess, `${what}: ${before} are left`)
  }
}
