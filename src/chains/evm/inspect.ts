import type { Network, NetworkToken } from '../network.ts'
import { integer } from './quantities.ts'
import { createRpc } from './rpc.ts'

/** The way in which an endpoint differs from its network: another chain id, or no contract at a listed token's address. */
export type Mismatch = { chainId: number } | { token: NetworkToken }

const timeoutMs = 5_000

/** Asks an endpoint whether it is of this network. Throws when it does not tell: it may only be away. */
export async function inspectEvmEndpoint(network: Network, url: string): Promise<Mismatch | undefined> {
  const rpc = createRpc(url, { timeoutMs })
  try {
    const chainId = integer(await rpc.call('eth_chainId', []), 'chain id')
    if (chainId !== network.chainId) return { chainId }
    const codes = await Promise.all(
      network.tokens.map(({ address }) => rpc.call<unknown>('eth_getCode', [address, 'latest'])),
    )
    const token = network.tokens.find((_, index) => codes[index] === '0x')
    return token && { token }
  } finally {
    rpc.close()
  }
}
