import { fund } from './chain.ts'
import { nodeOf, untilCaughtUp } from './drain/bench.ts'
import { startPlatform } from './drain/processes.ts'
import type { Figure } from './figures.ts'
import { accept } from './intake.ts'
import { measureBusyCores } from './machine.ts'
import { cpuMsOfTree } from './process-tree.ts'
import type { Bench } from './run.ts'
import { alternateRounds, median, ratioOf } from './statistics.ts'
import { openTenant } from './tenant.ts'

/** The settings that are compared with none. */
const settings = ['rows', 'bodies'] as const
type Setting = 'off' | (typeof settings)[number]

export const requestLogBench: Bench = {
  name: 'request-log',
  about: 'transfers accepted over HTTP with the request log, against without it',
  measure: async (run) => {
    const count = run.amount(150, 60, 5)
    const platform = await startPlatform(run)
    const customer = await openTenant(platform.ready)
    await platform.order('start')
    await fund(nodeOf(platform), customer.wallet.address, 10n ** 13n, 10n ** 20n)
    await untilCaughtUp(nodeOf(platform), customer)
    await platform.order('stop')
    const costs: Record<Setting, number[]> = { off: [], rows: [], bodies: [] }
    const intakeWith = (setting: Setting) => async () => {
      await platform.logRequests(setting)
      const before = cpuMsOfTree(platform.pid)
      const perSecond = await accept(run, customer, count)
      // The last batch is written after the last answer.
      await new Promise((resolve) => setTimeout(resolve, 200))
      costs[setting].push((cpuMsOfTree(platform.pid) - before) / count)
      return perSecond
    }
    // The first transfers are slower than later ones.
    await intakeWith('off')()
    costs.off.length = 0
    const busy = measureBusyCores()
    // Turns are short and many, so that other load on the machine weighs on all alike.
    const rounds = await alternateRounds(run.amount(31, 9, 1), {
      off: intakeWith('off'),
      rows: intakeWith('rows'),
      bodies: intakeWith('bodies'),
    })
    return settings.flatMap((setting): Figure[] => [
      {
        name: `transfers accepted over HTTP while the request log keeps ${setting}`,
        measured: { value: median(rounds[setting]), unit: 'requests/s' },
        reference: { value: median(rounds.off), unit: 'requests/s', what: 'without the log' },
        ratio: ratioOf(rounds[setting], rounds.off),
        promise: { ratioMin: 0.97 },
        coresBusy: busy(),
      },
      {
        name: `time of cores for one of them, of the API and the database together, ${setting}`,
        measured: { value: median(costs[setting]), unit: 'ms' },
        reference: { value: median(costs.off), unit: 'ms', what: 'without the log' },
        ratio: ratioOf(costs[setting], costs.off),
        promise: { ratioMax: 1.03 },
        coresBusy: busy(),
      },
    ])
  },
}
