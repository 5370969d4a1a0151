import { setTimeout as delay } from 'node:timers/promises'
import { type RpcRequest, requestsIn } from './requests.ts'
import { call, callMany } from './rpc.ts'

/** Whether a request sets the mining mode. */
export function setsMining(request: RpcRequest): boolean {
  return /^(evm|anvil|hardhat)_set(Automine|IntervalMining)$/.test(request.method)
}

/** Whether a body sets the mining mode; most are not parsed for it. */
export const setsMiningIn = (body: Buffer): boolean =>
  (body.includes('utomine') || body.includes('Mining')) && requestsIn(body)?.some(setsMining) === true

/** Controls mining. The node's own timer counts whole seconds; other intervals are driven by a timer here. */
export type Mining = {
  /** Starts mining: at once for each transaction, or every `blockTimeMs`. */
  begin(url: string): Promise<void>
  /** Stops the timer here, after a request has set another mining mode on the node. */
  release(): void
  /** Stops the timer here and waits for its block under way. Returns whether the timer was running. */
  pause(): Promise<boolean>
  /** Whether the timer here mines: the node itself is then set to mine nothing. */
  isTimed(): boolean
}

export function miningEvery(blockTimeMs: number | undefined): Mining {
  let timer: NodeJS.Timeout | undefined
  let block = Promise.resolve()
  const release = () => {
    clearInterval(timer)
    timer = undefined
  }
  const begin = async (url: string) => {
    release()
    if (blockTimeMs === undefined) return void (await call(url, 'evm_setAutomine', [true]))
    if (blockTimeMs % 1000 === 0) return void (await call(url, 'evm_setIntervalMining', [blockTimeMs / 1000]))
    let isMining = false
    timer = setInterval(() => {
      if (isMining) return
      isMining = true
      block = call(url, 'evm_mine')
        .then(() => {})
        .catch(() => {})
        .finally(() => {
          isMining = false
        })
    }, blockTimeMs)
    timer.unref()
  }
  const pause = async () => {
    const wasTimed = timer !== undefined
    release()
    await block
    return wasTimed
  }
  return { begin, release, pause, isTimed: () => timer !== undefined }
}

/**
 * Runs `work` while the chain mines nothing by itself. The node alone is told, past the journal, so that a chain that is
 * killed meanwhile starts again in the mode that it was in.
 */
export async function withoutMining<T>(url: string, mining: Mining, work: () => Promise<T>): Promise<T> {
  const wasTimed = await mining.pause()
  const modes = [
    { method: 'anvil_getAutomine', params: [] },
    { method: 'anvil_getIntervalMining', params: [] },
  ]
  const [automine, interval] = await callMany(url, modes)
  await poolMined(url)
  await call(url, 'evm_setIntervalMining', [0])
  try {
    return await work()
  } finally {
    if (wasTimed) await mining.begin(url)
    else if (automine?.result === true) await call(url, 'evm_setAutomine', [true])
    else if (typeof interval?.result === 'number') await call(url, 'evm_setIntervalMining', [interval.result])
  }
}

const stuckAfterMs = 100

/**
 * Waits until an automining node has mined its pool, which takes a moment after its answer. A request that replaces the
 * chain must not overtake this: the node would put the block of the old state on top of the new one.
 */
export async function poolMined(url: string): Promise<void> {
  if (!(await call<boolean>(url, 'anvil_getAutomine'))) return
  let height: unknown
  let changedMs = performance.now()
  while (performance.now() - changedMs < stuckAfterMs) {
    const [pool, latest] = await callMany(url, [
      { method: 'txpool_status', params: [] },
      { method: 'eth_blockNumber', params: [] },
    ])
    if (Number((pool?.result as { pending: string } | undefined)?.pending ?? 0) === 0) return
    if (latest?.result !== height) changedMs = performance.now()
    height = latest?.result
    await delay(2)
  }
}
