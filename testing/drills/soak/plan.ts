import type { SeededRandom } from '#testing/adversary/seeded-random'

/** A fault at a time of the run, drawn from its seed. Durations are milliseconds. */
export type PlannedFault = { atMs: number } & (
  | { kind: 'kill' | 'restart'; process: number }
  | { kind: 'clock'; process: number; byMs: number }
  | { kind: 'freeze'; process: number; forMs: number }
  | { kind: 'node'; chain: number; endpoint: number; fault: number; forMs: number }
  | { kind: 'outage'; chain: number; forMs: number }
  | { kind: 'reorg'; chain: number; depth: number }
  | { kind: 'connections'; share: number }
  | { kind: 'endpoint'; endpoint: number; as: 'dead' | 'slow'; forMs: number }
)

/** The first process of each kind is never killed, so that its memory is that of the whole run. */
const mortal = [1, 3] as const

const kinds = [
  'kill',
  'kill',
  'restart',
  'clock',
  'freeze',
  'node',
  'node',
  'node',
  'outage',
  'reorg',
  'reorg',
  'connections',
  'connections',
  'endpoint',
  'endpoint',
] as const

/** The faults of a run of so many milliseconds, one in each interval on average, and none at its very end. */
export function planOf(random: SeededRandom, forMs: number, everyMs: number): PlannedFault[] {
  const plan: PlannedFault[] = []
  for (
    let atMs = everyMs / 2;
    atMs < forMs - everyMs / 4;
    atMs += random.between(everyMs / 2, (everyMs * 3) / 2)
  )
    plan.push({ ...drawn(random), atMs })
  return plan
}

type Unplaced = PlannedFault extends infer Fault ? Omit<Fault & { atMs: number }, 'atMs'> : never

function drawn(random: SeededRandom): Unplaced & PlannedFault {
  const kind = random.pick(kinds)
  const forMs = random.between(5_000, 45_000)
  const chain = random.below(3)
  const fault = (() => {
    switch (kind) {
      case 'kill':
      case 'restart':
        return { kind, process: random.pick(mortal) }
      case 'clock':
        return {
          kind,
          process: random.pick(mortal),
          byMs: random.pick([-3_600_000, -20_000, 20_000, 3_600_000]),
        }
      case 'freeze':
        return { kind, process: random.below(4), forMs: random.between(2_000, 20_000) }
      case 'node':
        return { kind, chain, endpoint: random.below(3), fault: random.below(1_000), forMs }
      case 'outage':
        return { kind, chain, forMs: random.between(3_000, 20_000) }
      case 'reorg':
        return { kind, chain: random.below(2), depth: random.between(1, 3) }
      case 'connections':
        return { kind, share: random.between(1, 3) }
      case 'endpoint':
        return { kind, endpoint: random.between(1, 2), as: random.pick(['dead', 'slow'] as const), forMs }
    }
  })()
  return fault as Unplaced & PlannedFault
}
