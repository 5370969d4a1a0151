import type { RefusedEndpoint } from '../chain.ts'
import type { Network } from '../network.ts'
import { integer } from './quantities.ts'
import { type Rpc, RpcError, RpcUnreachable } from './rpc.ts'

const timeoutMs = 5_000

/**
 * Checks the chain id of an endpoint, and that there is a contract at the address of each listed token of the network.
 * Returns the mismatch, if there is one. Throws `RpcUnreachable` when the endpoint gives no answer: it may only be down.
 */
export async function inspectEndpoint(rpc: Rpc, network: Network): Promise<RefusedEndpoint | undefined> {
  const { blockchain, chainId, tokens } = network
  const answers = await rpc.batch<unknown>(
    [
      { method: 'eth_chainId', params: [] },
      ...tokens.map(({ address }) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
    ],
    { timeoutMs },
  )
  const refusal = answers.find((answer) => answer instanceof RpcError)
  if (refusal) throw new RpcUnreachable(`${rpc.host} does not tell which chain it is of: ${refusal.message}`)
  const [id, ...codes] = answers
  const given = integer(id, 'chain id')
  const of = { blockchain, endpoint: rpc.host }
  if (given !== chainId)
    return { ...of, reason: `it is a node of chain ${given}, and ${blockchain} is chain ${chainId}` }
  const missing = tokens.find((_, index) => codes[index] === '0x')
  if (!missing) return undefined
  const { symbol: token, address } = missing
  return { ...of, reason: `it has no contract where ${token} of ${blockchain} is`, token, address }
}
