import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '#runtime/db/db'
import type { Fault } from '#sandbox/faults/node/node-faults'
import { faults as nodeFaults } from '#sandbox/faults/node/node-faults'
import type { Endpoints } from './endpoints.ts'
import type { Ground } from './ground.ts'
import type { PlannedFault } from './plan.ts'
import type { PlatformProcess } from './processes.ts'

/** Faults that a node of any family can have. */
const ofAnyFamily: readonly Fault[] = [
  nodeFaults.slow(1_500),
  nodeFaults.acceptThenTimeOut,
  nodeFaults.timeOut,
  nodeFaults.resetAfter,
  nodeFaults.error502After,
  nodeFaults.rateLimited,
  nodeFaults.truncated,
]

/** Faults of one of three endpoints while the others are honest. */
const ofOneEndpoint: readonly Fault[] = [
  ...ofAnyFamily,
  nodeFaults.staleHead(5),
  nodeFaults.frozenHead(),
  nodeFaults.timeTravel(3),
  nodeFaults.nullReceipts(1_000),
  nodeFaults.emptyLogs,
  nodeFaults.otherBlocks,
  nodeFaults.halfOfBatch,
  nodeFaults.alreadyKnown,
  nodeFaults.swallowed,
  nodeFaults.internalErrorAfter,
  nodeFaults.says('header not found'),
]

type Victims = {
  ground: Ground
  processes: readonly PlatformProcess[]
  endpoints: Endpoints
  /** Told of each fault. */
  say(what: string): void
}

/** Carries the plan out until the signal; every fault has ended when it resolves. */
export async function injectFaults(
  victims: Victims,
  plan: readonly PlannedFault[],
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const startedMs = performance.now()
  const running = new Set<Promise<void>>()
  for (const fault of plan) {
    const waitMs = Math.max(0, fault.atMs - (performance.now() - startedMs))
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) break
    counts.set(fault.kind, (counts.get(fault.kind) ?? 0) + 1)
    const acting = inject(victims, fault)
      .catch((error: Error) => victims.say(`the fault ${fault.kind} failed: ${error.message}`))
      .finally(() => running.delete(acting))
    running.add(acting)
  }
  await Promise.all(running)
  return counts
}

async function inject(victims: Victims, fault: PlannedFault): Promise<void> {
  const { ground, processes, endpoints, say } = victims
  if ('process' in fault) {
    const victim = processes[fault.process]!
    say(`${fault.kind} ${victim.name}`)
    if (fault.kind === 'freeze') return victim.freeze(fault.forMs)
    if (fault.kind === 'clock') victim.nextClockOffMs(fault.byMs)
    return victim.signal(fault.kind === 'restart' ? 'SIGTERM' : 'SIGKILL')
  }
  if (fault.kind === 'connections') {
    say('database connections are cut')
    return void (await ground.database.run(sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'soak'
      and pid % 3 < ${fault.share}`))
  }
  if (fault.kind === 'endpoint') {
    say(`webhook endpoint ${fault.endpoint} is ${fault.as}`)
    return endpoints.meet(fault.endpoint, fault.as, fault.forMs)
  }
  if (fault.kind === 'reorg') {
    const { evm } = ground.chains
    const chain = evm[fault.chain % evm.length]!
    say(`${fault.depth} blocks of ${chain.blockchain} are replaced`)
    return ground.chains.reorganise(chain, fault.depth)
  }
  const all = [...ground.chains.nodes]
  const [blockchain, nodes] = all[fault.chain % all.length]!
  if (fault.kind === 'outage') {
    say(`${blockchain} is out of reach`)
    for (const node of nodes) node.play({ fault: nodeFaults.resetBefore })
    await sleep(fault.forMs)
    for (const node of nodes) node.play()
    return
  }
  const known = blockchain.startsWith('SOL') ? ofAnyFamily : ofOneEndpoint
  const chosen = known[fault.fault % known.length]!
  const node = nodes[fault.endpoint % nodes.length]!
  say(`endpoint ${fault.endpoint} of ${blockchain}: ${chosen.name}`)
  node.play({ fault: chosen })
  await sleep(fault.forMs)
  node.play()
}
