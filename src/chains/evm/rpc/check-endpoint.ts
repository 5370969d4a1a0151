import { encodeFunctionData } from 'viem'
import type { Address } from '../../addresses/types.ts'
import type { CrosschainAddresses } from '../../crosschain/crosschain.ts'
import type { RefusedEndpoint } from '../../facets/endpoints.ts'
import { stablecoinsOf, tokenAddress } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { stablecoinAbi } from '../abi/stablecoin.ts'
import { boundedCall, decimalsIn, isFaultOfContract } from '../contracts/bounded-calls.ts'
import { hasNativeBalances } from './check-native-contract.ts'
import { bytes, readInteger } from './quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from './rpc.ts'

const timeoutMs = 5_000
const decimalsCall = encodeFunctionData({ abi: stablecoinAbi, functionName: 'decimals' })

/**
 * Checks the chain id of an endpoint, that there is a contract at the address of each listed token of the network and at each
 * address that the configuration names for cross-chain messages and unified balances, and that each token has the decimals by which
 * its amounts are read, and that the contract of a native coin has its balances. Returns the mismatch, if there is one. Throws `NodeUnreachable` when the endpoint gives no answer: it may
 * only be down.
 */
export async function inspectEndpoint(
  rpc: Rpc,
  network: Network,
  crosschain?: CrosschainAddresses,
): Promise<RefusedEndpoint | undefined> {
  const { blockchain, chainId } = network
  const tokens = stablecoinsOf(network)
  const expected = expectedContracts(network, crosschain)
  const [id, ...answers] = await rpc.batch<unknown>(
    [
      { method: 'eth_chainId', params: [] },
      ...expected.map(({ address }) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
      ...tokens.map((token) => boundedCall({ to: tokenAddress(token), data: decimalsCall })),
    ],
    { timeoutMs },
  )
  const codes = answers.splice(0, expected.length)
  const refusal = [id, ...codes].find((answer) => answer instanceof RpcError)
  if (refusal) throw new NodeUnreachable(`${rpc.host} does not tell which chain it is of: ${refusal.message}`)
  const given = readInteger(id, 'chain id')
  const of = { blockchain, endpoint: rpc.host }
  if (given !== chainId)
    return { ...of, reason: `it is a node of chain ${given}, and ${blockchain} is chain ${chainId}` }
  const missing = expected.find((_, index) => codes[index] === '0x')
  if (missing) {
    const reason = `it has no contract where ${missing.token ?? missing.contract} of ${blockchain} is`
    return { ...of, reason, ...missing }
  }
  const told = answers.map((answer) => decimalsOf(rpc, answer))
  const wrong = tokens.findIndex(({ decimals }, index) => told[index] !== decimals)
  const token = tokens[wrong]
  if (!token)
    return (await hasNativeBalances(rpc, network)) ? undefined : { ...of, ...foreignContract(network) }
  const { symbol, address, decimals } = token
  const reason = `${symbol} of ${blockchain} has ${told[wrong] ?? 'no'} decimals there, and its amounts are read with ${decimals}: correct its address if it is from BEZANT_OWN_NETWORKS, or take ${blockchain} out of BEZANT_NETWORKS`
  return { ...of, reason, token: symbol, address }
}

/** Says that the contract that should move the native coin moves another one. */
function foreignContract({ blockchain, nativeToken: { symbol, contract } }: Network) {
  const reason = `${symbol} pays for gas on ${blockchain}, and the contract ${contract?.address} there has other balances than the native coin: leave usdcIsNative out in BEZANT_OWN_NETWORKS, or correct the address`
  return { reason, token: symbol, address: contract?.address ?? '' }
}

/** The decimals that a contract tells; `undefined` where it tells none. */
function decimalsOf({ host }: Rpc, answer: unknown): number | undefined {
  if (!(answer instanceof RpcError)) return decimalsIn(bytes(answer, 'decimals of a token'))
  if (isFaultOfContract(answer)) return undefined
  throw new NodeUnreachable(`${host} does not tell the decimals of a token: ${answer.message}`)
}

type ExpectedContract = { address: string; token?: string; contract?: string }

const expectedContracts = (
  network: Network,
  crosschain: CrosschainAddresses | undefined,
): ExpectedContract[] => [
  ...stablecoinsOf(network).map(({ symbol: token, address }) => ({ token, address })),
  ...Object.entries<Address>(crosschain ?? {}).map(([contract, address]) => ({ contract, address })),
]
