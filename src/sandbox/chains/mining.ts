import type { RpcRequest } from './requests.ts'
import { call } from './rpc.ts'

/** Whether a request sets how blocks come about. */
export function setsMining(request: RpcRequest): boolean {
  return /^(evm|anvil|hardhat)_set(Automine|IntervalMining)$/.test(request.method)
}

/** The node's own timer counts whole seconds; shorter or uneven times are ticked from here. */
export type Mining = {
  /** At once for each transaction, or every `blockTimeMs`. */
  begin(url: string): Promise<void>
  /** Leaves mining to whoever has just set it on the node. */
  release(): void
}

export function miningEvery(blockTimeMs: number | undefined): Mining {
  let timer: NodeJS.Timeout | undefined
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
      call(url, 'evm_mine')
        .catch(() => {})
        .finally(() => {
          isMining = false
        })
    }, blockTimeMs)
    timer.unref()
  }
  return { begin, release }
}
