import { join } from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import type { Figure } from './figures.ts'
import { startLab } from './lab.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench, Run } from './run.ts'
import { median } from './statistics.ts'

/** Seconds, on a small state with all chains. */
const promises = { save: 0.6, restore: 1 }

const forms = { ephemeral: 'ephemeral', durable: 'data kept' } as const

export const snapshotsBench: Bench = {
  name: 'snapshots',
  about: 'a sandbox with all chains saved and restored',
  measure: async (run) => {
    const figures: Figure[] = []
    for (const form of (['ephemeral', 'durable'] as const).slice(0, run.amount(2, 2, 1)))
      figures.push(...(await measure(run, form)))
    return figures
  },
}

async function measure(run: Run, form: keyof typeof forms): Promise<Figure[]> {
  const kept = form === 'ephemeral' ? ['--ephemeral'] : ['--data-dir', join(await run.directory(), 'data')]
  const { blockchains, post, stop } = await startLab(run, kept)
  for (const blockchain of blockchains)
    await post(`/sandbox/chains/${blockchain}/mine`, { blocks: run.amount(200, 20, 5) })
  const times = { save: [] as number[], restore: [] as number[] }
  const restMs = run.amount(3_000, 3_000, 300)
  const busy = measureBusyCores()
  for (let round = 0; round < run.amount(10, 3, 1); round++) {
    const save = await post('/sandbox/snapshots', { name: `round-${round}` })
    // The engines start again behind the answer.
    await rest(restMs)
    const restore = await post(`/sandbox/snapshots/round-${round}/restore`, {})
    await rest(restMs)
    times.save.push(save.seconds)
    times.restore.push(restore.seconds)
    run.report(
      `${forms[form]}: saved in ${save.seconds.toFixed(2)} s, restored in ${restore.seconds.toFixed(2)} s`,
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
