import { fund } from './chain.ts'
import { nodeOf, untilCaughtUp } from './drain/bench.ts'
import { startPlatform } from './drain/processes.ts'
import type { Figure } from './figures.ts'
import { accept } from './intake.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench } from './run.ts'
import { alternateRounds, median, ratioOf } from './statistics.ts'
import { openTenant } from './tenant.ts'

/** The settings that are compared with none. */
const settings = ['rows', 'bodies'] as const

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
    const intakeWith = (requestLog: 'off' | (typeof settings)[number]) => async () => {
      await platform.logRequests(requestLog)
      return accept(run, customer, count)
    }
    // Turns are short and many, so that other load on the machine weighs on all alike. The first transfers are slower than later ones.
    await intakeWith('off')()
    const busy = measureBusyCores()
    const rounds = await alternateRounds(run.amount(31, 9, 1), {
      off: intakeWith('off'),
      rows: intakeWith('rows'),
      bodies: intakeWith('bodies'),
    })
    return settings.map(
      (setting): Figure => ({
        name: `transfers accepted over HTTP while the request log keeps ${setting}`,
        measured: { value: median(rounds[setting]), unit: 'requests/s' },
        reference: { value: median(rounds.off), unit: 'requests/s', what: 'without the log' },
        ratio: ratioOf(rounds[setting], rounds.off),
        promise: { ratioMin: 0.97 },
        coresBusy: busy(),
      }),
    )
  },
}
