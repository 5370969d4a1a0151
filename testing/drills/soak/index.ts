/** The soak: every product under load and faults for a long time, on processes as they run in production. */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import type { Drill } from '../drill.ts'

const usage = `npm run drill -- soak [options]

Runs two API processes and two workers on a PostgreSQL and local chains of its own, lets customers use every product, and lets
nodes, webhook endpoints, connections, clocks and processes fail by a plan that a seed draws. Then the load stops, and everything
that was accepted has to end as it was promised: books that equal the chains, and nothing left. The memory of each process has to
be flat; a short run cannot tell, and says so.

  --hours N      how long load and faults last (default 1)
  --minutes N    the same in minutes
  --rate N       acts of customers in a minute (default 60)
  --faults N     seconds between two faults on average; 0 for none (default 45)
  --seed N       draws acts and faults (default: a random one, printed)
  --block-ms N   milliseconds between two blocks of a chain that has nothing else to include (default 1000)
  --json FILE    writes the samples to a file
  --help         this text

Exits with 1 when something accepted did not end, was paid twice or not at all, when books and chains differ, an alarm stays, a
process ends by itself, or memory grows.
`

export const soakDrill: Drill = {
  about: 'all products under load and faults for hours',
  usage,
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        hours: { type: 'string' },
        minutes: { type: 'string' },
        rate: { type: 'string', default: '60' },
        faults: { type: 'string', default: '45' },
        seed: { type: 'string', default: String(randomInt(1, 2 ** 31)) },
        'block-ms': { type: 'string', default: '1000' },
        json: { type: 'string' },
      },
    })
    const number = (name: string, text: string) => {
      if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
      throw new Error(`--${name} must be a number, not "${text}"`)
    }
    const minutes = values.minutes
      ? number('minutes', values.minutes)
      : 60 * number('hours', values.hours ?? '1')
    // Waits of the builders end later than any fault.
    process.env['TEST_PATIENCE_MS'] ??= '900000'
    const { runSoak } = await import('./run.ts')
    await runSoak({
      forMs: minutes * 60_000,
      perMinute: number('rate', values.rate),
      faultEveryMs: number('faults', values.faults) * 1_000,
      seed: number('seed', values.seed),
      blockMs: number('block-ms', values['block-ms']),
      json: values.json,
    })
  },
}
