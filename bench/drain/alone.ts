import { setTimeout as sleep } from 'node:timers/promises'
import { openAsOwner, sql } from '#runtime/db/db'
import { rpc } from '#testing/platform/json-rpc'
import { countMined, type Node } from '../chain.ts'
import type { Figure, Value } from '../figures.ts'
import { measureBusyCores } from '../machine.ts'
import { cpuMsOf, processTree } from '../process-tree.ts'
import type { Run } from '../run.ts'
import type { Customer } from '../tenant.ts'
import { isAnyOpen } from './bench.ts'
import type { startPlatform } from './processes.ts'
import { untilMined } from './references.ts'

type Platform = Awaited<ReturnType<typeof startPlatform>>

/** What is counted before and after a backlog. */
type Counts = { workersMs: number; databaseMs: number; nodeMs: number; commits: number }

/**
 * Backlogs before a node that executes nothing: what the engines can do alone, and what a transfer takes of the cores. The engines have
 * caught up with the node behind it, and stand still.
 */
export async function measureAlone(
  run: Run,
  platform: Platform,
  node: Node,
  customers: readonly Customer[],
  count: number,
): Promise<Figure[]> {
  const { accept, order, ready } = platform
  const database = openAsOwner(ready.connection, 1)
  run.atEnd(database.close)
  const counts = async (): Promise<Counts> => {
    const { commits } = await database.one<{ commits: number }>(
      sql`select xact_commit::int as commits from pg_stat_database where datname = current_database()`,
    )
    const tree = processTree(process.pid)
    return {
      workersMs: cpuMsOf(tree.filter(({ pid }) => platform.workerPids.includes(pid))),
      databaseMs: cpuMsOf(tree.filter(({ name }) => name.startsWith('postgres'))),
      nodeMs: cpuMsOf(tree.filter(({ pid }) => pid === platform.stubPid)),
      commits,
    }
  }
  await rpc(node.url, 'stub_begin')
  const figures: Figure[] = []
  for (const { tenant, wallets } of customers) {
    const addresses = wallets.map(({ address }) => address)
    await accept(
      count,
      wallets.map(({ id }) => id),
    )
    const mined = await countMined(node, addresses)
    const [before, busy, startedMs] = [await counts(), measureBusyCores(), performance.now()]
    const perSecond = () => count / ((performance.now() - startedMs) / 1_000)
    await order('start')
    await untilMined(node, addresses, mined + count)
    const inBlocks = perSecond()
    while (await isAnyOpen(tenant)) await sleep(50)
    const complete = perSecond()
    const [after, coresBusy] = [await counts(), busy()]
    await order('stop')
    const each = (name: keyof Counts) => (after[name] - before[name]) / count
    const from = wallets.length === 1 ? 'one wallet' : `${wallets.length} wallets`
    const of = (what: string, value: number, unit: Value['unit']): Figure => ({
      name: `stub node, ${count.toLocaleString('en')} transfers from ${from}: ${what}`,
      measured: { value, unit },
      coresBusy,
    })
    figures.push(
      of('until the last is in a block', inBlocks, 'tx/s'),
      of('until the last is COMPLETE', complete, 'tx/s'),
      of('workers, for a transfer', each('workersMs'), 'ms'),
      of('PostgreSQL, for a transfer', each('databaseMs'), 'ms'),
      of('the stub, for a transfer', each('nodeMs'), 'ms'),
      of('commits for a transfer', each('commits'), 'commits'),
    )
  }
  return figures
}
