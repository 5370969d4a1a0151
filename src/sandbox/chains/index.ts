import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { ChainFamily } from '#chains/network'
import type { Network } from '#chains/networks/index'
import type { Log } from '#runtime/log/log'
import { startWatchdog } from '../end-processes-after-kill.ts'
import { startAptosChain } from './aptos-chain.ts'
import { startChain } from './chain.ts'
import { ephemeralKeeper } from './ephemeral.ts'
import { evmChain } from './evm-chain.ts'
import { linkNetworks } from './link-networks.ts'
import type { LocalChain, StartedChain } from './local-chain.ts'
import { persistentKeeper } from './persistent.ts'
import { type PortFile, portFileIn } from './port-file.ts'
import { startSolanaChain } from './solana-chain.ts'
import type { StateKeeper } from './state-keeper.ts'

export type { BlockPace, LocalChain } from './local-chain.ts'
export type { Intercept } from './proxy.ts'

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

/** Starts one node per network, all at once, each with its official chain id, its stablecoins and coins to give away. */
export async function startLocalChains(options: LocalChainsOptions): Promise<LocalChains> {
  const keepers = options.ephemeral ? ephemeralKeepers(options) : persistentKeepers(options)
  const { log } = options
  const results = await Promise.allSettled(
    options.networks.map(async (network) => starterOf(network)(network, options, keepers)),
  )
  const started = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const stop = async () => {
    const stopped = await Promise.allSettled(started.map((each) => each.stop()))
    keepers.release()
    for (const result of stopped) if (result.status === 'rejected') throw result.reason
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) {
    await stop().catch((error) => log.warn({ err: error }, 'A local chain did not stop in order'))
    throw failed.reason
  }
  return {
    chains: started.map(({ chain }) => chain),
    persist: async () => void (await Promise.all(started.map((each) => each.persist()))),
    stop,
  }
}

type Starter = (network: Network, options: LocalChainsOptions, keepers: Keepers) => Promise<StartedChain>

/** How the chains of each family start. */
const starters: { readonly [family in ChainFamily]?: Starter } = {
  evm: async (network, { blockTimeMs, ephemeral, log }, { portOf, keeperOf, directoryOf }) => {
    const port = portOf(network)
    const keeper = keeperOf(network)
    const supervised = await startChain({ network, keeper, blockTimeMs, proxyPort: port.read(), log })
    port.write(Number(new URL(supervised.rpcUrl).port))
    if (!ephemeral)
      await linkNetworks(supervised).catch(async (error) => {
        await supervised.stop()
        throw error
      })
    return evmChain({ supervised, blockTimeMs, directory: directoryOf(network) })
  },
  aptos: (network, { blockTimeMs, log }, { directoryOf }) =>
    startAptosChain({ network, blockTimeMs, directory: directoryOf(network), log }),
  solana: (network, { blockTimeMs, log }, { directoryOf }) =>
    startSolanaChain({ network, blockTimeMs, directory: directoryOf(network), log }),
}

const starterOf = ({ blockchain, family }: Network): Starter => {
  const start = starters[family]
  if (start) return start
  throw new Error(`There is no local chain of ${blockchain}: leave it out of --chains`)
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
