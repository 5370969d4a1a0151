/** The chains of a soak: real nodes, behind endpoints that fail when the plan says so. */
import { knownCrosschainAddresses } from '#chains/evm/crosschain/index'
import { tokenAddress } from '#chains/network'
import { networkOf } from '#chains/networks/index'
import { solDevnet } from '#chains/networks/sol-devnet'
import type { SolanaNode } from '#sandbox/chains/solana/index'
import { type HostileRpc, openHostileRpc } from '#testing/adversary/hostile-rpc'
import { type AlteredAnswers, openAlteredAnswers } from '#testing/nodes/altered-answers'
import { openLocalSolana } from '#testing/nodes/local-solana'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { rpc } from '#testing/platform/json-rpc'

const evmChains = ['BASE-SEPOLIA', 'ETH-SEPOLIA'] as const
/** Endpoints of each chain: more than half of them have to agree. */
const endpointsOfChain = 3

/** The address of USDC on Solana. */
export const solanaUsdc = tokenAddress(solDevnet.tokens[0]!)

export type SoakChains = {
  evm: readonly TestChain[]
  solana: SolanaNode
  /** The endpoints of each chain, by its name. */
  nodes: ReadonlyMap<string, readonly HostileRpc[]>
  /** The value of `BEZANT_NETWORKS`. */
  networks: string
  /** Replaces the newest blocks of a chain; their transactions return, as on a public chain. */
  reorganise(chain: TestChain, depth: number): Promise<void>
  /** Makes some blocks of every chain at once. */
  hurry(): Promise<void>
  close(): Promise<void>
}

export async function openChains(seed: number, blockMs: number): Promise<SoakChains> {
  const local = await startTestChains({ blockchains: evmChains })
  const { node: solana } = await openLocalSolana()
  const named = await openNamedSolana(solana.url)
  // The nodes themselves: the address of a sandbox before them is for its lab.
  const urls = [
    ...local.local.map(({ blockchain, nodeUrl }) => ({ blockchain, rpcUrl: nodeUrl })),
    { blockchain: solDevnet.blockchain, rpcUrl: named.url },
  ]
  const nodes = new Map<string, HostileRpc[]>()
  for (const { blockchain, rpcUrl } of urls) {
    const seeds = Array.from({ length: endpointsOfChain }, (_, index) => seed + index)
    nodes.set(blockchain, await Promise.all(seeds.map((each) => openHostileRpc(rpcUrl, { seed: each }))))
  }
  const mining = mineEvery(local.chains, solana, blockMs)
  const networks = [...nodes].map(([blockchain, each]) => ({
    blockchain,
    rpcUrls: each.map(({ url }) => url),
    crosschain: knownCrosschainAddresses(networkOf(blockchain)!),
  }))
  return {
    evm: local.chains,
    solana,
    nodes,
    networks: JSON.stringify(networks),
    reorganise: (chain, depth) => mining.paused(chain, () => reorganise(chain, depth)),
    hurry: async () => {
      for (const chain of local.chains) await chain.mine(5)
      for (let block = 0; block < 5; block++) solana.mine()
    },
    close: async () => {
      mining.stop()
      await Promise.all([...nodes.values()].flat().map((node) => node.close()))
      await named.close()
      await solana.close()
      await local.stop()
    },
  }
}

/** The local network under the name of the one that it stands for, by which processes in production know their endpoints. */
async function openNamedSolana(url: string): Promise<AlteredAnswers> {
  const named = await openAlteredAnswers(url)
  const own = await rpc<string>(url, 'getGenesisHash', [])
  named.alter((text) => text.replaceAll(own, solDevnet.genesisHash!))
  return named
}

/** Makes empty blocks at an interval beside those that each transaction makes. */
function mineEvery(chains: readonly TestChain[], solana: SolanaNode, blockMs: number) {
  const busy = new Set<TestChain>()
  const mine = async (chain: TestChain) => {
    if (busy.has(chain)) return
    busy.add(chain)
    await chain.mine(1).catch(() => undefined)
    busy.delete(chain)
  }
  const timer = setInterval(() => {
    for (const chain of chains) void mine(chain)
    solana.mine()
  }, blockMs)
  return {
    stop: () => clearInterval(timer),
    paused: async (chain: TestChain, act: () => Promise<void>) => {
      if (busy.has(chain)) return
      busy.add(chain)
      await act().finally(() => busy.delete(chain))
    },
  }
}

async function reorganise(chain: TestChain, depth: number): Promise<void> {
  await chain.setAutomine(false)
  try {
    const height = await chain.height()
    const lost: string[] = []
    for (let number = Math.max(1, height - depth + 1); number <= height; number++) {
      const block = await chain.rpc<{ transactions: string[] }>('eth_getBlockByNumber', [
        `0x${number.toString(16)}`,
        false,
      ])
      for (const hash of block.transactions)
        lost.push(await chain.rpc<string>('eth_getRawTransactionByHash', [hash]))
    }
    await chain.reorg(depth)
    // The server sends its own again too.
    for (const raw of lost) await chain.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined)
    await chain.mine(1)
  } finally {
    await chain.setAutomine(true)
    await chain.mine(1)
  }
}
