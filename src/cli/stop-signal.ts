const parentPollMs = 250

/**
 * Resolves at the first SIGTERM or SIGINT. A second one has no effect, since Ctrl-C reaches the whole process
 * group at once and must not cut an orderly stop short; a third exits at once with code 130.
 * Under npm the end of the parent process counts as a signal, because npm does not pass on a signal that it receives.
 */
export function waitForStopSignal({ underNpm }: { underNpm: boolean }): Promise<string> {
  return new Promise((resolve) => {
    let count = 0
    const onSignal = (signal: string) => {
      count += 1
      if (count === 1) resolve(signal)
      if (count >= 3) process.exit(130)
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
    if (!underNpm) return
    const parent = process.ppid
    const watch = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(watch)
      onSignal('parent ended')
    }, parentPollMs)
    watch.unref()
  })
}
