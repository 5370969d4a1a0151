import { join } from 'node:path'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import { compiled, startProgram } from './processes.ts'
import type { Bench, Run } from './run.ts'
import { median } from './statistics.ts'

/** Seconds, on a small state with all chains. */
const promises = { save: 0.6, restore: 1 }

const forms = { ephemeral: 'ephemeral', durable: 'data kept' } as const

export const snapshotsBench: Bench = {
  name: 'snapshots',
  about: 'a sandbox with all chains saved and restored',
  measure: async (run) => [...(await measure(run, 'ephemeral')), ...(await measure(run, 'durable'))],
}

async function measure(run: Run, form: keyof typeof forms): Promise<Figure[]> {
  const { bezant } = await compiled()
  const kept = form === 'ephemeral' ? ['--ephemeral'] : ['--data-dir', join(await run.directory(), 'data')]
  const { line, stop } = await startProgram(run, {
    args: [bezant, 'sandbox', '--json', '--port', '0', ...kept],
    env: { DATABASE_URL: '' },
    readyOn: 'stdout',
    isReady: (text) => text.startsWith('{'),
  })
  const { url, chains } = JSON.parse(line) as { url: string; chains: { blockchain: string }[] }
  for (const { blockchain } of chains)
    await post(`${url}/sandbox/chains/${blockchain}/mine`, { blocks: run.amount(200, 20, 5) })
  const times = { save: [] as number[], restore: [] as number[] }
  const busy = measureBusyCores()
  for (let round = 0; round < run.amount(10, 3, 1); round++) {
    times.save.push(await post(`${url}/sandbox/snapshots`, { name: `round-${round}` }))
    times.restore.push(await post(`${url}/sandbox/snapshots/round-${round}/restore`, {}))
    run.report(
      `${forms[form]}: saved in ${times.save.at(-1)!.toFixed(2)} s, restored in ${times.restore.at(-1)!.toFixed(2)} s`,
    )
  }
  const coresBusy = busy()
  await stop()
  return (['save', 'restore'] as const).map((kind) => ({
    name: `snapshot: ${kind}, all chains of ${run.amount(200, 20, 5)} blocks (${forms[form]})`,
    measured: { value: median(times[kind]), unit: 's' },
    ...(form === 'ephemeral' && { promise: { max: promises[kind] } }),
    coresBusy,
  }))
}

/** Sends a request, and returns the seconds until its answer. */
async function post(url: string, body: object): Promise<number> {
  const startedMs = performance.now()
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`)
  return (performance.now() - startedMs) / 1000
}
