import type { CrosschainAddresses } from '../../crosschain/crosschain.ts'
import type { Inspection } from '../../facets/endpoints.ts'
import type { Network } from '../../networks/index.ts'
import { inspectEndpoint } from './check-endpoint.ts'
import type { Health } from './endpoint-health.ts'
import { readInteger } from './quantities.ts'
import { type Rpc, RpcUnreachable } from './rpc.ts'

export type RpcEndpoint = { rpc: Rpc; health: Health }

type VerifyInput = {
  network: Network
  inspection?: Inspection | undefined
  crosschain?: CrosschainAddresses | undefined
}

/** Backoff of an endpoint of another network: doubles with each refusal, up to one request per minute. */
const refusedRestMs = { first: 1_000, most: 60_000 }

/**
 * Verifies endpoints before use: the first time, and after each failure, since a URL may lead to another chain, also later.
 * Concurrent calls to the same endpoint wait for one verification.
 */
export function openVerifier(input: VerifyInput): (endpoint: RpcEndpoint) => Promise<void> {
  const underWay = new Map<RpcEndpoint, Promise<void>>()
  return async (endpoint) => {
    if (endpoint.health.isVerified) return
    let verifying = underWay.get(endpoint)
    if (!verifying) {
      verifying = verify(endpoint, input).finally(() => underWay.delete(endpoint))
      underWay.set(endpoint, verifying)
    }
    await verifying
  }
}

async function verify(
  { rpc, health }: RpcEndpoint,
  { network, inspection, crosschain }: VerifyInput,
): Promise<void> {
  if (inspection) {
    const refusal = await inspectEndpoint(rpc, network, crosschain)
    if (refusal) {
      if (health.refusal?.reason !== refusal.reason) inspection.refused(refusal)
      health.refusal = refusal
      const restMs = Math.min(refusedRestMs.most, refusedRestMs.first * 2 ** Math.min(health.refusals, 10))
      health.refusals += 1
      throw new RpcUnreachable(wordsOf(refusal), restMs)
    }
    if (health.refusal) inspection.accepted(health.refusal)
    health.refusal = undefined
    health.refusals = 0
  } else checkChainId(rpc, await rpc.call('eth_chainId', []), network.chainId)
  health.isVerified = true
}

export function checkChainId(rpc: Rpc, answer: unknown, chainId: number): void {
  const given = readInteger(answer, 'chain id')
  if (given !== chainId)
    throw new RpcUnreachable(`${rpc.host} is a node of chain ${given}, not of ${chainId}`)
}

/** Throws during the backoff of an endpoint of another network. */
export function requireAccepted({ health }: RpcEndpoint): void {
  if (health.refusal && performance.now() < health.restsUntilMs)
    throw new RpcUnreachable(wordsOf(health.refusal))
}

const wordsOf = ({ endpoint, reason }: { endpoint: string; reason: string }) =>
  `${endpoint} is not used: ${reason}`
