import type { Network } from '#chains/networks/index'
import type { Log } from '#runtime/log/log'
import { miningEvery, setsMiningIn, withoutMining } from './mining.ts'
import { type ChainProxy, type Intercept, startProxy } from './proxy.ts'
import { mayChange } from './requests.ts'
import { postToNode, type Reply, rpcResult } from './rpc.ts'
import type { StateKeeper } from './state-keeper.ts'
import { superviseNode } from './supervised-node.ts'
import { watchPool } from './watch-pool.ts'

export type SupervisedChain = {
  network: Network
  rpcUrl: string
  nodeUrl(): string
  pid(): number
  /** Sets the hook that sees every request from now on; undefined removes it. */
  intercept(hook: Intercept | undefined): void
  /** Makes one call past the hook, recorded as one through `rpcUrl` is; rejects with the message of the node. */
  ask<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
  loadedTo(): number
  /** Whether the chain mines on a timer of this process, which the node does not know. */
  isTimed(): boolean
  /** Runs `work` while the chain mines nothing by itself. */
  withoutMining<T>(work: () => Promise<T>): Promise<T>
  persist(): Promise<void>
  /** Copies the files that give the chain as it is now to a new directory. */
  copyTo(directory: string): Promise<void>
  /**
   * Ends the node and closes the files, so that others can take their place. Requests wait until the returned function has started
   * a node on those, behind the same address.
   */
  halt(): Promise<() => Promise<void>>
  stop(): Promise<void>
}

type ChainOptions = {
  network: Network
  keeper: StateKeeper
  blockTimeMs: number | undefined
  proxyPort: number | undefined
  log: Log
}

const endGraceMs = 1000

/** Starts one local chain: a supervised node behind a published address. */
export async function startChain(options: ChainOptions): Promise<SupervisedChain> {
  const { network, keeper, log } = options
  const mining = miningEvery(options.blockTimeMs)
  let hook: Intercept | undefined
  let isStopping = false
  const supervised = await superviseNode({ blockchain: network.blockchain, keeper, mining, log })
  const { ready, newest } = supervised
  const url = async () => (await ready()).url
  const pool = watchPool({ url, alone: keeper.alone })

  const write = async (body: Buffer) => {
    if (setsMiningIn(body)) mining.release()
    pool.wrote()
    return keeper.write(await ready(), body)
  }
  let proxy: ChainProxy
  try {
    proxy = await startProxy({ target: url, write, intercept: () => hook, port: options.proxyPort })
  } catch (error) {
    supervised.release()
    await pool.stop()
    await newest().end(0)
    throw error
  }
  const stop = async () => {
    if (isStopping) return
    isStopping = true
    supervised.release()
    await pool.stop()
    mining.release()
    await proxy.close()
    const last = await ready().catch(newest)
    try {
      await keeper.close(last)
    } finally {
      await last.end(endGraceMs)
    }
  }
  return {
    network,
    rpcUrl: proxy.url,
    nodeUrl: () => newest().url,
    pid: () => newest().pid,
    intercept: (next) => {
      hook = next
    },
    ask: askThrough(write, url),
    loadedTo: keeper.loadedTo,
    isTimed: mining.isTimed,
    withoutMining: async (work) => withoutMining(await url(), mining, work),
    persist: async () => keeper.persist(await ready()),
    copyTo: async (directory) => {
      await ready()
      await keeper.copyTo(directory)
    },
    halt: supervised.halt,
    stop,
  }
}

/** Makes calls as the proxy does, past its hook. */
const askThrough =
  (write: (body: Buffer) => Promise<Reply>, url: () => Promise<string>) =>
  async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    return rpcResult<T>(method, mayChange(body) ? await write(body) : await postToNode(await url(), body))
  }
