import { setTimeout as sleep } from 'node:timers/promises'
import { sizeOf } from './size.ts'

/** Ends a wait for something that never comes, before the test's own limit does; a busy machine waits longer than a quiet one. */
const patienceMs = sizeOf('TEST_PATIENCE_MS', { usual: 240_000, deep: 1_800_000 })

const firstMs = 4
const longestMs = 250

/** Resolves when `check` holds, asking ever less often, so that waiting leaves the processors to what is waited for. */
export async function until(check: () => boolean | Promise<boolean>, what?: string): Promise<void> {
  const deadline = performance.now() + patienceMs
  for (let pauseMs = firstMs; !(await check()); pauseMs = Math.min(pauseMs * 2, longestMs)) {
    if (performance.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${what ?? check}`)
    await sleep(pauseMs)
  }
}

/** Waits until nothing is left, however much there is: fails when there is not less for a while. */
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
