import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Network } from '#chains/networks/index'
import { attesterAccount } from '../constants.ts'
import { genesisOf } from './genesis.ts'
import { poolMined } from './mining.ts'
import { startNode } from './node.ts'
import { createGate } from './read-write-lock.ts'
import { requestKindOf, requestsIn, waitsForBlock } from './requests.ts'
import { postToNode } from './rpc.ts'
import type { StateKeeper } from './state-keeper.ts'

/** Creates a keeper that persists nothing: a node that dies restarts with the same empty chain. `directory` is temporary. */
export function ephemeralKeeper(
  network: Network,
  directory: string,
  gasLimit: bigint,
  onSpawn: (spawned: { pid: number }) => void,
): StateKeeper {
  const cacheDir = join(directory, network.blockchain)
  const genesisPath = join(cacheDir, 'genesis.json')
  mkdirSync(cacheDir, { recursive: true })
  const genesis = genesisOf(network, {
    timestampS: Math.floor(Date.now() / 1000),
    gasLimit,
    attester: attesterAccount.address,
  })
  writeFileSync(genesisPath, JSON.stringify(genesis))
  const gate = createGate()
  return {
    open: async (mining) => {
      const source = { init: genesisPath }
      const node = await startNode({ network, gasLimit, cacheDir, source, onSpawn })
      await mining.begin(node.url)
      return node
    },
    write: (node, body) => {
      const methods = (requestsIn(body) ?? []).map(({ method }) => method)
      if (methods.some(waitsForBlock)) return postToNode(node.url, body)
      const kinds = new Set(methods.map(requestKindOf))
      if (!kinds.has('admin') && !kinds.has('replacement'))
        return gate.shared(() => postToNode(node.url, body))
      return gate.alone(async () => {
        await poolMined(node.url)
        return postToNode(node.url, body)
      })
    },
    alone: gate.alone,
    loadedTo: () => 0,
    persist: async () => {},
    copyTo: async () => {
      throw new Error(`the chain ${network.blockchain} keeps no files to copy`)
    },
    abandon: async () => {},
    close: async () => {},
  }
}
