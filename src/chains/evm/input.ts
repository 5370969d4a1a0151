import type { CrosschainAddresses } from '../crosschain/crosschain.ts'
import type { Inspection } from '../facets/endpoints.ts'
import type { Network } from '../networks/index.ts'
import type { PinnedCode } from './accounts/contracts.ts'

/** The network of a chain and the nodes through which it is reached. */
export type EvmChainInput = {
  network: Network
  rpcUrl: string
  /** All endpoints when there are several, `rpcUrl` the first of them. */
  rpcUrls?: readonly string[] | undefined
  agree?: number | undefined
  inspection?: Inspection | undefined
  confirmations: number
  finalityDepth: number
  local: boolean
  inFlightMax?: number | undefined
  timeoutMs?: number | undefined
  batchMax?: number | undefined
  accountCode?: PinnedCode | undefined
  /** Gas of one call or estimate for a request. */
  callGasMax?: bigint | undefined
  /** A local chain has the contracts at their known addresses. */
  crosschain?: CrosschainAddresses | undefined
}
