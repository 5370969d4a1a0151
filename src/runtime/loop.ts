import type { Log } from './log/log.ts'

export type Loop = {
  /** Makes the next turn start at once; a wake during a turn is not lost. */
  wake(): void
  /** Resolves when the turn that is under way has ended. */
  stop(): Promise<void>
}

/** How long a loop rests when nobody wakes it: what a lost notice costs. */
const safetyMs = 2_000

/** Told how each turn ended. */
export type Outcome = { failed(error: unknown): void; went?(): void }

/**
 * Logs when `what` begins to fail, what it fails with since, and when it goes on. A node that is away fails every turn: that
 * is worth one line, not one a second.
 */
export function logTrouble(log: Log, what: string, about: object = {}): Required<Outcome> {
  let failing: string | undefined
  return {
    failed: (error) => {
      const reason = String(error)
      if (reason !== failing) log.error({ err: error, ...about }, `${what} failed; trying again`)
      failing = reason
    },
    went: () => {
      if (failing !== undefined) log.info(about, `${what} goes on`)
      failing = undefined
    },
  }
}

/** Runs `turn` again and again while it did something, then when woken or after a while. A failing turn is tried again. */
export function repeat(turn: () => Promise<boolean>, outcome: Outcome, restMs: number = safetyMs): Loop {
  let stopped = false
  let woken = false
  let wakeUp: () => void = () => undefined
  const wake = () => {
    woken = true
    wakeUp()
  }
  const rest = async () => {
    if (woken || stopped) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, restMs)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
  const went = (did: boolean) => {
    outcome.went?.()
    return did
  }
  const failed = (error: unknown) => {
    if (!stopped) outcome.failed(error)
    return false
  }
  const run = async () => {
    while (!stopped) {
      woken = false
      const did = await turn().then(went, failed)
      if (!did) await rest()
    }
  }
  const running = run()
  return {
    wake,
    stop: async () => {
      stopped = true
      wakeUp()
      await running
    },
  }
}
