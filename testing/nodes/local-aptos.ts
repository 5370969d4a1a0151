import { aptosTestnet } from '#chains/networks/aptos-testnet'
import { openAptosNode } from '#sandbox/chains/aptos/index'

/** Opens a simulated node that keeps nothing, and the input of a harness or a worker that connects to it. */
export async function openLocalAptos(clock: () => number = Date.now) {
  const { chainId, blockchain } = aptosTestnet
  const node = await openAptosNode({ chainId, directory: undefined, clock })
  return { node, connected: { blockchain, rpcUrl: node.url, local: true } }
}
