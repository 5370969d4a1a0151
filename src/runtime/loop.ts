import type { Log } from './log/log.ts'

export type Loop = {
  /** Starts the next turn at once; a wake during a turn is not lost. */
  wake(): void
  /** Stops the loop; resolves when the current turn has ended. */
  stop(): Promise<void>
}

/** Pause of a loop that is not woken: the delay caused by a lost notification. */
const safetyMs = 2_000

/** Callbacks for the outcome of each turn. */
export type TurnCallbacks = { failed(error: unknown): void; went?(): void }

/**
 * Logs the first failure of a task, each change of its error, and its recovery. An unreachable node fails every turn, which
 * warrants one line, not one per second.
 */
export function logTrouble(log: Log, what: string, about: object = {}): Required<TurnCallbacks> {
  let failing: string | undefined
  return {
    failed: (error) => {
      const reason = String(error)
      if (reason !== failing) log.error({ err: error, ...about }, `${what} failed; retrying`)
      failing = reason
    },
    went: () => {
      if (failing !== undefined) log.info(about, `${what} resumed`)
      failing = undefined
    },
  }
}

/** Runs `turn` repeatedly while it reports work done, then when woken or after `restMs`. A failing turn is retried. */
export function repeat(
  turn: () => Promise<boolean>,
  outcome: TurnCallbacks,
  restMs: number = safetyMs,
): Loop {
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
