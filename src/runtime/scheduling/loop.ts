import type { Log } from '../log/log.ts'

export type Loop = {
  /** Starts the next turn at once; a wake during a turn is not lost. */
  wake(): void
  /** Stops the loop; resolves when the current turn has ended. */
  stop(): Promise<void>
}

/** Pause of a loop that is not woken: the delay caused by a lost notification. */
const safetyMs = 2_000

/**
 * The same for a loop that has had no work, no failure and no wake for `quietAfterMs`: the loops of ten idle chains together
 * would take a fifth of a core.
 */
const quiet = { afterMs: 60_000, restMs: 8_000 } as const

/** The loops of this process that run: time that is moved concerns each of them. */
const running = new Set<Loop>()

/** Wakes every loop of this process, after a sandbox has moved business time. */
export function wakeLoops(): void {
  for (const loop of running) loop.wake()
}

/** Callbacks for the outcome of each turn. */
type TurnCallbacks = { failed(error: unknown): void; went?(): void }

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

/**
 * Runs `turn` repeatedly while it reports work done, then when woken or after `restMs`; without one, after two seconds, and
 * eight once it is quiet. A failing turn is retried.
 */
export function repeat(turn: () => Promise<boolean>, outcome: TurnCallbacks, restMs?: number): Loop {
  let stopped = false
  let woken = false
  let activeMs = performance.now()
  let wakeUp: () => void = () => undefined
  const wake = () => {
    woken = true
    activeMs = performance.now()
    wakeUp()
  }
  const nextRestMs = () => {
    if (restMs !== undefined) return restMs
    return performance.now() - activeMs < quiet.afterMs ? safetyMs : quiet.restMs
  }
  const rest = async () => {
    if (woken || stopped) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, nextRestMs())
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
  const went = (did: boolean) => {
    outcome.went?.()
    if (did) activeMs = performance.now()
    return did
  }
  const failed = (error: unknown) => {
    activeMs = performance.now()
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
  const ended = run()
  const loop: Loop = {
    wake,
    stop: async () => {
      stopped = true
      running.delete(loop)
      wakeUp()
      await ended
    },
  }
  running.add(loop)
  return loop
}
