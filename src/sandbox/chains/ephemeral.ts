import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Network } from '#chains/network'
import type { Keeper } from './chain.ts'
import { genesisOf } from './genesis.ts'
import { startNode } from './node.ts'
import { post } from './rpc.ts'

/** Keeps nothing: a node that dies comes back with the same empty chain. `directory` is temporary. */
export function ephemeralKeeper(
  network: Network,
  directory: string,
  gasLimit: bigint,
  onSpawn: (spawned: { pid: number }) => void,
): Keeper {
  const cacheDir = join(directory, network.blockchain)
  const genesisPath = join(cacheDir, 'genesis.json')
  mkdirSync(cacheDir, { recursive: true })
  const genesis = genesisOf(network, { timestampS: Math.floor(Date.now() / 1000), gasLimit })
  writeFileSync(genesisPath, JSON.stringify(genesis))
  return {
    open: async (mining) => {
      const source = { init: genesisPath }
      const node = await startNode({ chainId: network.chainId, gasLimit, cacheDir, source, onSpawn })
      await mining.begin(node.url)
      return node
    },
    write: (node, body) => post(node.url, body),
    persist: async () => {},
    close: async () => {},
  }
}
