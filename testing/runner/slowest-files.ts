import type { Reporter, TestModule } from 'vitest/node'

const shownMax = 10

/** Ends a run with its ten slowest test files, imports and hooks included. */
export function slowestFiles(): Reporter {
  return {
    onTestRunEnd: (modules) => {
      const rows = modules
        .map((module) => ({ name: module.relativeModuleId, seconds: secondsOf(module) }))
        .sort((a, b) => b.seconds - a.seconds)
        .slice(0, shownMax)
      if (modules.length <= 1) return
      const lines = rows.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`)
      process.stdout.write(`\nSlowest files\n${lines.join('\n')}\n`)
    },
  }
}

function secondsOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic()
  return (collectDuration + setupDuration + duration) / 1_000
}
