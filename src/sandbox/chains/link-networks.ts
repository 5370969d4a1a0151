import type { SupervisedChain } from './chain.ts'
import { crosschainLinks } from './crosschain-contracts.ts'
import { callMany } from './rpc.ts'

const zeroWord = `0x${'0'.repeat(64)}`

/** Links the contracts of messages of a kept chain with networks that came after it began. */
export async function linkNetworks({ network, nodeUrl, ask }: SupervisedChain): Promise<void> {
  const links = Object.entries(crosschainLinks(network)).flatMap(([contract, words]) =>
    Object.entries(words).map(([slot, word]) => [contract, slot, word] as const),
  )
  const calls = links.map(([contract, slot]) => ({
    method: 'eth_getStorageAt',
    params: [contract, slot, 'latest'],
  }))
  const stored = await callMany(nodeUrl(), calls)
  for (const [index, link] of links.entries())
    if (stored[index]?.result === zeroWord) await ask('anvil_setStorageAt', link)
}
