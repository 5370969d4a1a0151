import { ask, read } from '../api/ask.ts'
import type { LabClockState, Snapshot } from '../api/types.ts'
import { plural } from '../format/text.ts'
import { shownDuration } from '../format/time.ts'
import { chainsThat, localChains } from './local-chains.ts'

/** Acts that only a sandbox can do. Each returns the sentence that tells what happened. */

type Advance = LabClockState & { hops: number; fired: unknown[]; tookMs: number }

/** Moves business time forward, and waits for the end of a long way. */
export async function advanceClock(by: string): Promise<string> {
  let { data } = await ask<Advance>('POST', '/sandbox/clock/advance', { by })
  while (data.isAdvancing) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    data = await read<Advance>('/sandbox/clock/advance')
  }
  return `The clock is ${by.replace(/^PT?/, '').toLowerCase()} later: ${plural(data.fired.length, 'thing')} became due on the way.`
}

/** Freezes time, or lets it pass again: asks first, since what a page shows may be older than the last act. */
export async function turnClock(): Promise<string> {
  const { isFrozen } = await read<LabClockState>('/sandbox/clock')
  await ask('POST', `/sandbox/clock/${isFrozen ? 'release' : 'freeze'}`, {})
  return isFrozen ? 'Time passes again.' : 'Time stands still. Work goes on, dated with this instant.'
}

export async function mineEverywhere(): Promise<string> {
  const chains = await localChains.queryFn()
  await Promise.all(
    chains.map(({ blockchain }) => ask('POST', `/sandbox/chains/${blockchain}/mine`, { blocks: 1 })),
  )
  return `A block is mined on ${plural(chains.length, 'chain')}.`
}

export async function reorgEverywhere(): Promise<string> {
  const chains = chainsThat('reorg', await localChains.queryFn())
  const results = await Promise.allSettled(
    chains.map((blockchain) =>
      ask<{ returned: string[] }>('POST', `/sandbox/chains/${blockchain}/reorg`, { depth: 1 }),
    ),
  )
  const done = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.data] : []))
  const refused = results.find((result) => result.status === 'rejected')
  if (done.length === 0 && refused) throw refused.reason
  const returned = done.reduce((sum, each) => sum + each.returned.length, 0)
  return `The newest block of ${plural(done.length, 'chain')} is replaced; ${plural(returned, 'transaction')} went back to the pool.`
}

const listSnapshots = () => read<Snapshot[]>('/sandbox/snapshots')

export async function saveSnapshot(): Promise<string> {
  const names = (await listSnapshots()).map(({ name }) => name)
  let number = 1
  while (names.includes(`saved-${number}`)) number += 1
  const { data } = await ask<{ name: string; tookMs: number }>('POST', '/sandbox/snapshots', {
    name: `saved-${number}`,
  })
  return `Saved as ${data.name} in ${shownDuration(data.tookMs)}.`
}

/** The snapshot that a restore without a name takes: the newest of the reader's own. */
export const newestOf = (snapshots: readonly Snapshot[]): Snapshot | undefined =>
  snapshots.filter(({ name }) => !name.startsWith('@')).at(-1)

export async function restoreSnapshot(name: string): Promise<string> {
  const { data } = await ask<{ tookMs: number }>('POST', `/sandbox/snapshots/${name}/restore`, {})
  return `${name} is restored in ${shownDuration(data.tookMs)}. What it replaced is @auto-1.`
}

export async function restoreNewest(): Promise<string> {
  const newest = newestOf(await listSnapshots())
  if (!newest) throw new Error('There is no snapshot yet: save one first.')
  return restoreSnapshot(newest.name)
}
