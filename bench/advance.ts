import { randomUUID } from 'node:crypto'
import { startLab } from './lab.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench } from './run.ts'
import { median } from './statistics.ts'

/** An advance of business time over payment intents that expire, each at a date of its own, beside one over nothing. */
export const advanceBench: Bench = {
  name: 'advance',
  about: 'an advance of business time over due timers',
  measure: async (run) => {
    const { post, stop } = await startLab(run, ['--ephemeral', '--chains', 'BASE-SEPOLIA'])
    const timers = run.amount(100, 100, 3)
    const times = { due: [] as number[], empty: [] as number[] }
    const busy = measureBusyCores()
    for (let round = 0; round < run.amount(10, 3, 1); round++) {
      for (let made = 0; made < timers; made++) await post('/v1/paymentIntents', newIntent())
      const { seconds, data } = await post('/sandbox/clock/advance', { by: 'P2D' })
      const { hops, fired, isAdvancing } = data as { hops: number; fired: unknown[]; isAdvancing: boolean }
      if (isAdvancing || fired.length < timers)
        throw new Error(`${fired.length} of ${timers} timers were due`)
      const empty = await post('/sandbox/clock/advance', { by: 'P2D' })
      times.due.push(seconds)
      times.empty.push(empty.seconds)
      run.report(`${hops} stops in ${seconds.toFixed(2)} s, none in ${empty.seconds.toFixed(3)} s`)
    }
    const coresBusy = busy()
    await stop()
    return [
      {
        name: `advance of two days over ${timers} due timers, one chain`,
        measured: { value: median(times.due), unit: 's' },
        reference: { what: 'over none', value: median(times.empty), unit: 's' },
        ratio: median(times.due.map((seconds, round) => seconds / times.empty[round]!)),
        coresBusy,
      },
    ]
  },
}

const newIntent = () => ({
  idempotencyKey: randomUUID(),
  type: 'transient',
  amount: { amount: '3.14', currency: 'USD' },
  settlementCurrency: 'USD',
  paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
})
