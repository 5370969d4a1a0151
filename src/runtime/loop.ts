export type Loop = {
  /** Makes the next turn start at once; a wake during a turn is not lost. */
  wake(): void
  /** Resolves when the turn that is under way has ended. */
  stop(): Promise<void>
}

/** How long a loop rests when nobody wakes it: what a lost notice costs. */
const safetyMs = 1_000

/** Runs `turn` again and again while it did something, then when woken or after a while. A failing turn is tried again. */
export function repeat(
  turn: () => Promise<boolean>,
  onError: (error: unknown) => void,
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
  const run = async () => {
    while (!stopped) {
      woken = false
      const did = await turn().catch((error) => {
        if (!stopped) onError(error)
        return false
      })
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
