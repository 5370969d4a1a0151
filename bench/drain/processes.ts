import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { NetworkName } from '#chains/networks/index'
import type { RequestLogSetting } from '#runtime/config'
import type { BlockPace } from '#sandbox/chains/index'
import { compiled, profiling, root } from '../processes.ts'
import type { Run, RunNode } from '../run.ts'
import type { PlatformCommand, Ready } from './platform.ts'
import type { WorkerCommand } from './worker.ts'

export const blockTimeMs = 1_000
const gasLimit = 1_000_000_000n

/** A platform whose node makes a block every second, and worker processes, whose engines are not started yet. */
export async function startPlatform(
  run: Run,
  workerCount = 1,
  blockchain: NetworkName = 'BASE-SEPOLIA',
  node: RunNode = 'anvil',
) {
  const dataDir = await run.directory()
  const platform = await startChild(
    run,
    'platform',
    [dataDir, String(blockTimeMs), String(gasLimit), blockchain],
    profiling(),
  )
  const ready = platform.ready as Ready
  const stub =
    node === 'stub' &&
    (await startChild(run, 'stubNode', [ready.nodeUrl, ready.usdc, String(blockTimeMs)], profiling()))
  if (stub) ready.nodeUrl = (stub.ready as { url: string }).url
  const workers = await Promise.all(
    Array.from({ length: workerCount }, () =>
      startChild(run, 'worker', [JSON.stringify(ready)], ['--expose-gc', ...profiling()]),
    ),
  )
  return {
    ready,
    /** The process of the API, whose children are the database and the node. */
    pid: platform.pid,
    workerPids: workers.map(({ pid }) => pid),
    /** The process of the stub of the node, where there is one. */
    stubPid: stub ? stub.pid : undefined,
    /** Submits a backlog without HTTP. */
    accept: (count: number, walletIds: readonly string[]) =>
      platform.order({ accept: { count, walletIds } } satisfies PlatformCommand),
    /** Pays from the faucet; resolves with the hash once the node has taken it. */
    pay: async (address: string, token: 'NATIVE' | 'USDC', amountAtomic: bigint) =>
      String(
        await platform.order({
          pay: { address, token, amountAtomic: String(amountAtomic) },
        } satisfies PlatformCommand),
      ),
    /** Sets when the node makes blocks. */
    setPace: (pace: BlockPace) => platform.order({ pace } satisfies PlatformCommand),
    /** Sets what the request log keeps from the next request on. */
    logRequests: (requestLog: RequestLogSetting) => platform.order({ requestLog } satisfies PlatformCommand),
    /** Resolves when every worker has carried out the order; for `heap` and `cpu`, with the number of the largest. */
    order: async (order: WorkerCommand) => {
      const answers = await Promise.all(workers.map((worker) => worker.order(order)))
      return Math.max(0, ...(answers as number[]))
    },
  }
}

/** Forks a program of this folder; `order` resolves with its answer. */
async function startChild(
  run: Run,
  name: 'platform' | 'worker' | 'stubNode',
  args: string[],
  execArgv: string[] = [],
) {
  const child = fork((await compiled())[name], args, {
    cwd: root,
    execArgv,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const order = async (what: PlatformCommand | WorkerCommand): Promise<unknown> => {
    child.send(what)
    return messageOf(child, name)
  }
  run.atEnd(async () => {
    if (child.exitCode !== null || !child.connected) return
    const exited = once(child, 'exit')
    await order('end')
    child.disconnect()
    await exited
  })
  return { ready: await messageOf(child, name), order, pid: child.pid! }
}

async function messageOf(child: ChildProcess, name: string): Promise<unknown> {
  const waiting = new AbortController()
  const { signal } = waiting
  const failed = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the ${name} ended with ${code}`)
  })
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), failed])
    return message
  } finally {
    waiting.abort()
    failed.catch(() => undefined)
  }
}
