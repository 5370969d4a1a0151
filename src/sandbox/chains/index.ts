import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Blockchain } from '#chains/blockchains'
import type { Network, TokenSymbol } from '#chains/network'
import type { Log } from '#runtime/log/log'
import { type Chain, startChain } from './chain.ts'
import { ephemeralKeeper } from './ephemeral.ts'
import type { Intercept } from './proxy.ts'
import { startWatchdog } from './watchdog.ts'

export type { Intercept } from './proxy.ts'

export type LocalChain = {
  blockchain: Blockchain
  chainId: number
  /** The published address, HTTP and WebSocket. What is sent here survives restarts. */
  rpcUrl: string
  /** The node itself; what is sent here is lost if the node is killed. It changes when a node is started again. */
  readonly nodeUrl: string
  /** The node's process; it changes too. */
  readonly pid: number
  tokens: Record<TokenSymbol, `0x${string}`>
  /** Puts a hook before every request to `rpcUrl`, to delay, drop or answer it; undefined takes it away. */
  intercept(hook: Intercept | undefined): void
}

export type LocalChains = {
  chains: LocalChain[]
  /** Writes every chain's state and ends the nodes. */
  stop(): Promise<void>
  /** Writes every chain's state now. */
  persist(): Promise<void>
}

export type LocalChainsOptions = {
  networks: readonly Network[]
  /** State is kept in `<dataDir>/chains/<blockchain>/`. Not touched when `ephemeral`. */
  dataDir: string
  ephemeral: boolean
  /** Time between blocks; each transaction is mined at once when left out. */
  blockTimeMs?: number | undefined
  /** Gas of one block, 30 million when left out. */
  gasLimit?: bigint | undefined
  log: Log
}

const defaultGasLimit = 30_000_000n

/** Starts one node per network, all at once, each with its official chain id, its stablecoins and a funded faucet. */
export async function startLocalChains(options: LocalChainsOptions): Promise<LocalChains> {
  const gasLimit = options.gasLimit ?? defaultGasLimit
  const directory = mkdtempSync(join(tmpdir(), 'bezant-chains-'))
  const watchdog = startWatchdog(directory)
  const pids = new Map<string, number>()
  const starting = options.networks.map((network) => {
    const onSpawn = ({ pid }: { pid: number }) => {
      pids.set(network.blockchain, pid)
      watchdog.watch([...pids.values()])
    }
    const keeper = ephemeralKeeper(network, directory, gasLimit, onSpawn)
    const { blockTimeMs, log } = options
    return startChain({ network, keeper, blockTimeMs, proxyPort: undefined, log })
  })
  const release = () => {
    watchdog.dismiss()
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  }
  const results = await Promise.allSettled(starting)
  const chains = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) {
    await Promise.allSettled(chains.map((chain) => chain.stop()))
    release()
    throw failed.reason
  }
  return {
    chains: chains.map(published),
    persist: async () => void (await Promise.all(chains.map((chain) => chain.persist()))),
    stop: async () => {
      const stopped = await Promise.allSettled(chains.map((chain) => chain.stop()))
      release()
      for (const result of stopped) if (result.status === 'rejected') throw result.reason
    },
  }
}

function published(chain: Chain): LocalChain {
  const { network } = chain
  return {
    blockchain: network.blockchain,
    chainId: network.chainId,
    rpcUrl: chain.rpcUrl,
    get nodeUrl() {
      return chain.nodeUrl()
    },
    get pid() {
      return chain.pid()
    },
    tokens: Object.fromEntries(
      network.tokens.map((token) => [token.symbol, token.address]),
    ) as LocalChain['tokens'],
    intercept: chain.intercept,
  }
}
