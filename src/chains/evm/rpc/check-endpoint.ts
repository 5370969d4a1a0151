import type { Address } from '../../addresses/types.ts'
import type { CrosschainAddresses } from '../../crosschain/crosschain.ts'
import type { RefusedEndpoint } from '../../facets/endpoints.ts'
import type { Network } from '../../networks/index.ts'
import { readInteger } from './quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from './rpc.ts'

const timeoutMs = 5_000

/**
 * Checks the chain id of an endpoint, and that there is a contract at the address of each listed token of the network and at each
 * address that the configuration names for cross-chain messages and unified balances. Returns the mismatch, if there is one.
 * Throws `NodeUnreachable` when the endpoint gives no answer: it may only be down.
 */
export async function inspectEndpoint(
  rpc: Rpc,
  network: Network,
  crosschain?: CrosschainAddresses,
): Promise<RefusedEndpoint | undefined> {
  const { blockchain, chainId } = network
  const expected = expectedContracts(network, crosschain)
  const answers = await rpc.batch<unknown>(
    [
      { method: 'eth_chainId', params: [] },
      ...expected.map(({ address }) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
    ],
    { timeoutMs },
  )
  const refusal = answers.find((answer) => answer instanceof RpcError)
  if (refusal) throw new NodeUnreachable(`${rpc.host} does not tell which chain it is of: ${refusal.message}`)
  const [id, ...codes] = answers
  const given = readInteger(id, 'chain id')
  const of = { blockchain, endpoint: rpc.host }
  if (given !== chainId)
    return { ...of, reason: `it is a node of chain ${given}, and ${blockchain} is chain ${chainId}` }
  const missing = expected.find((_, index) => codes[index] === '0x')
  if (!missing) return undefined
  const reason = `it has no contract where ${missing.token ?? missing.contract} of ${blockchain} is`
  return { ...of, reason, ...missing }
}

type ExpectedContract = { address: string; token?: string; contract?: string }

const expectedContracts = (
  { tokens }: Network,
  crosschain: CrosschainAddresses | undefined,
): ExpectedContract[] => [
  ...tokens.map(({ symbol: token, address }) => ({ token, address })),
  ...Object.entries<Address>(crosschain ?? {}).map(([contract, address]) => ({ contract, address })),
]
