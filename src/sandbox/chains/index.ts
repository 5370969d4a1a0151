import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Blockchain } from '#chains/blockchains'
import type { TokenSymbol } from '#chains/network'
import type { Network } from '#chains/networks/index'
import type { Log } from '#runtime/log/log'
import { startWatchdog } from '../end-processes-after-kill.ts'
import { type SupervisedChain, startChain } from './chain.ts'
import { ephemeralKeeper } from './ephemeral.ts'
import { persistentKeeper } from './persistent.ts'
import { type PortFile, portFileIn } from './port-file.ts'
import type { Intercept } from './proxy.ts'
import type { StateKeeper } from './state-keeper.ts'

export type { Intercept } from './proxy.ts'

export type LocalChain = {
  blockchain: Blockchain
  chainId: number
  /** The published address, HTTP and WebSocket. Changes made through it survive restarts. */
  rpcUrl: string
  /** The node's own address; changes made through it are lost if the node is killed. A restart of the node changes it. */
  readonly nodeUrl: string
  /** The node's process id; it changes with a restart too. */
  readonly pid: number
  tokens: Record<TokenSymbol, `0x${string}`>
  /** Sets a hook that can delay, drop or answer every request to `rpcUrl`; undefined removes it. */
  intercept(hook: Intercept | undefined): void
  /** Time between blocks that the chain was started with; undefined where it mines each transaction at once. */
  blockTimeMs: number | undefined
  /** The directory with the files of the chain; undefined of one that keeps none, of which there are no snapshots. */
  directory: string | undefined
} & Pick<SupervisedChain, 'ask' | 'loadedTo' | 'isTimed' | 'withoutMining' | 'copyTo' | 'halt'>

export type LocalChains = {
  chains: LocalChain[]
  /** Writes every chain's state and ends the nodes. */
  stop(): Promise<void>
  /** Writes every chain's state now. */
  persist(): Promise<void>
}

export type LocalChainsOptions = {
  networks: readonly Network[]
  /** State is kept in `<dataDir>/chains/<blockchain>/`; the caller holds the directory's lock. Unused when `ephemeral`. */
  dataDir: string
  ephemeral: boolean
  /** Whether ephemeral chains are journaled in a temporary directory, so that snapshots can be made of them. */
  journaled?: boolean
  /** Time between blocks; each transaction is mined at once when left out. */
  blockTimeMs?: number | undefined
  /** Gas of one block, 30 million when left out. */
  gasLimit?: bigint | undefined
  log: Log
}

const defaultGasLimit = 30_000_000n

/** Starts one node per network, all at once, each with its official chain id, its stablecoins and a funded faucet. */
export async function startLocalChains(options: LocalChainsOptions): Promise<LocalChains> {
  const { keeperOf, directoryOf, portOf, release } = options.ephemeral
    ? ephemeralKeepers(options)
    : persistentKeepers(options)
  const { blockTimeMs, log } = options
  const starting = options.networks.map(async (network) => {
    const port = portOf(network)
    const chain = await startChain({
      network,
      keeper: keeperOf(network),
      blockTimeMs,
      proxyPort: port.read(),
      log,
    })
    port.write(Number(new URL(chain.rpcUrl).port))
    return chain
  })
  const results = await Promise.allSettled(starting)
  const chains = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const stop = async () => {
    const stopped = await Promise.allSettled(chains.map((chain) => chain.stop()))
    release()
    for (const result of stopped) if (result.status === 'rejected') throw result.reason
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) {
    await stop().catch((error) => log.warn({ err: error }, 'A local chain did not stop in order'))
    throw failed.reason
  }
  return {
    chains: chains.map((chain) => published(chain, blockTimeMs, directoryOf(chain.network))),
    persist: async () => void (await Promise.all(chains.map((chain) => chain.persist()))),
    stop,
  }
}

type Keepers = {
  keeperOf(network: Network): StateKeeper
  directoryOf(network: Network): string | undefined
  portOf(network: Network): PortFile
  release(): void
}

function ephemeralKeepers(options: LocalChainsOptions): Keepers {
  const directory = mkdtempSync(join(tmpdir(), 'bezant-chains-'))
  const watched = watchNodes(directory)
  const { gasLimit = defaultGasLimit, journaled = false } = options
  const directoryOf = ({ blockchain }: Network) => join(directory, blockchain)
  return {
    keeperOf: (network) =>
      journaled
        ? keeperIn(options, network, directoryOf(network), watched.onSpawn(network))
        : ephemeralKeeper(network, directory, gasLimit, watched.onSpawn(network)),
    directoryOf: (network) => (journaled ? directoryOf(network) : undefined),
    portOf: () => ({ read: () => undefined, write: () => {} }),
    release: () => {
      watched.dismiss()
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** Ends the node of each network when this process is killed; a kept chain is replayed from its journal at the next start. */
function watchNodes(discard?: string) {
  const watchdog = startWatchdog(discard)
  const pids = new Map<string, number>()
  return {
    onSpawn:
      ({ blockchain }: Network) =>
      ({ pid }: { pid: number }) => {
        pids.set(blockchain, pid)
        watchdog.watch([...pids.values()])
      },
    dismiss: watchdog.dismiss,
  }
}

/** Returns the directory of a chain. */
export const chainDirectory = (dataDir: string, { blockchain }: Network): string =>
  resolve(dataDir, 'chains', blockchain)

const keeperIn = (
  { ephemeral, gasLimit = defaultGasLimit, blockTimeMs, log }: LocalChainsOptions,
  network: Network,
  directory: string,
  onSpawn: (spawned: { pid: number }) => void,
): StateKeeper =>
  persistentKeeper({
    network,
    directory,
    gasLimit,
    minesAtOnce: blockTimeMs === undefined,
    isDurable: !ephemeral,
    log: log.child({ blockchain: network.blockchain }),
    onSpawn,
  })

function persistentKeepers(options: LocalChainsOptions): Keepers {
  const directoryOf = (network: Network) => chainDirectory(options.dataDir, network)
  const watched = watchNodes()
  return {
    keeperOf: (network) => keeperIn(options, network, directoryOf(network), watched.onSpawn(network)),
    directoryOf,
    portOf: (network) => portFileIn(directoryOf(network)),
    release: watched.dismiss,
  }
}

function published(
  chain: SupervisedChain,
  blockTimeMs: number | undefined,
  directory: string | undefined,
): LocalChain {
  const { network, ask, loadedTo, isTimed, withoutMining, copyTo, halt } = chain
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
    blockTimeMs,
    ask,
    loadedTo,
    isTimed,
    withoutMining,
    directory,
    copyTo,
    halt,
  }
}
