import { setTimeout as delay } from 'node:timers/promises'
import type { Network } from '#chains/networks/index'
import type { Log } from '#runtime/log/log'
import { type Mining, miningEvery, setsMiningIn, withoutMining } from './mining.ts'
import type { LocalNode } from './node.ts'
import { type ChainProxy, type Intercept, startProxy } from './proxy.ts'
import { mayChange } from './requests.ts'
import { postToNode, type Reply, rpcResult } from './rpc.ts'
import { watchPool } from './watch-pool.ts'

/** Persistence of a chain's state beyond its node, if any. */
export type StateKeeper = {
  /** Starts a node with the persisted state and the right mining mode. */
  open(mining: Mining): Promise<LocalNode>
  /** Forwards a request that may change the chain, and records the data that a later `open` needs. */
  write(node: LocalNode, body: Buffer): Promise<Reply>
  /** Runs `work` while no other write and no persist runs. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** The newest block that the node loaded in place of mining it: it can reorganise the later ones only. */
  loadedTo(): number
  /** Writes the current state, so that it no longer depends on the journal. */
  persist(node: LocalNode): Promise<void>
  /** Persists for the last time and closes the files; the caller ends the node. */
  close(node: LocalNode): Promise<void>
}

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
  stop(): Promise<void>
}

type ChainOptions = {
  network: Network
  keeper: StateKeeper
  blockTimeMs: number | undefined
  proxyPort: number | undefined
  log: Log
}

const restartAttempts = 5
const endGraceMs = 1000

/** Starts one local chain: a supervised node behind a published address. */
export async function startChain(options: ChainOptions): Promise<SupervisedChain> {
  const { network, keeper, log } = options
  const mining = miningEvery(options.blockTimeMs)
  let hook: Intercept | undefined
  let isStopping = false
  let node = await keeper.open(mining)
  let ready = Promise.resolve(node)

  const watch = (started: LocalNode) => {
    node = started
    started.exited.then((reason) => {
      if (isStopping) return
      log.error(
        { blockchain: network.blockchain, reason },
        'The local node ended unexpectedly; starting it again',
      )
      ready = reopen(keeper, mining, log, () => isStopping)
      ready.then(watch, (error) =>
        log.error({ blockchain: network.blockchain, err: error }, 'The local chain is down'),
      )
    })
  }
  watch(node)
  const url = async () => (await ready).url
  const pool = watchPool({ url, alone: keeper.alone })

  const write = async (body: Buffer) => {
    if (setsMiningIn(body)) mining.release()
    pool.wrote()
    return keeper.write(await ready, body)
  }
  let proxy: ChainProxy
  try {
    proxy = await startProxy({ target: url, write, intercept: () => hook, port: options.proxyPort })
  } catch (error) {
    isStopping = true
    await pool.stop()
    await node.end(0)
    throw error
  }
  const stop = async () => {
    if (isStopping) return
    isStopping = true
    await pool.stop()
    mining.release()
    await proxy.close()
    const last = await ready.catch(() => node)
    try {
      await keeper.close(last)
    } finally {
      await last.end(endGraceMs)
    }
  }
  return {
    network,
    rpcUrl: proxy.url,
    nodeUrl: () => node.url,
    pid: () => node.pid,
    intercept: (next) => {
      hook = next
    },
    ask: askThrough(write, url),
    loadedTo: keeper.loadedTo,
    isTimed: mining.isTimed,
    withoutMining: async (work) => withoutMining(await url(), mining, work),
    persist: async () => keeper.persist(await ready),
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

async function reopen(
  keeper: StateKeeper,
  mining: Mining,
  log: Log,
  isStopping: () => boolean,
): Promise<LocalNode> {
  for (let attempt = 1; ; attempt++) {
    try {
      const node = await keeper.open(mining)
      if (isStopping()) await node.end(0)
      return node
    } catch (error) {
      if (attempt === restartAttempts || isStopping()) throw error
      log.warn({ err: error }, 'The local node could not be started again; trying once more')
      await delay(attempt * 500)
    }
  }
}
