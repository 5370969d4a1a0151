import type { Crosschain } from './crosschain/crosschain.ts'
import type { CrosschainPlanner } from './crosschain/planned-contracts.ts'
import type { Accounts } from './facets/accounts.ts'
import type { Authorizations } from './facets/authorizations.ts'
import type { Balances } from './facets/balances.ts'
import type { Blocks } from './facets/blocks.ts'
import type { Contracts } from './facets/contracts.ts'
import type { BlockEffects } from './facets/effects.ts'
import type { NodeEndpoints } from './facets/endpoints.ts'
import type { Functions } from './facets/functions.ts'
import type { Gather } from './facets/gather.ts'
import type { Lane } from './facets/lane.ts'
import type { Lifetimes } from './facets/lifetimes.ts'
import type { NodeRead } from './facets/node-read.ts'
import type { Offers } from './facets/offers.ts'
import type { Payments } from './facets/payments.ts'
import type { Tokens } from './facets/tokens.ts'
import type { Network } from './networks/index.ts'

/**
 * One blockchain through its nodes, as facets: an engine takes the one that it needs. Every call may throw when no node is
 * reachable; none is retried here.
 */
export type Chain = {
  network: Network
  /** Whether this program started the chain and may rewind it: a reorg of any depth is followed instead of halting it. */
  local: boolean
  /** Number of confirmations, the block itself counted, after which a block is complete. */
  confirmations: number
  endpoints: NodeEndpoints
  blocks: Blocks
  effects: BlockEffects
  lane: Lane
  offers: Offers
  payments: Payments
  balances: Balances
  gather?: Gather
  authorizations?: Authorizations
  lifetimes?: Lifetimes
  tokens?: Tokens
  contracts?: Contracts
  functions?: Functions
  accounts?: Accounts
  /** Cross-chain messages and unified balances; absent where this server knows no contracts of them. */
  crosschain?: Crosschain | undefined
  crosschainPlanner?: CrosschainPlanner
  nodeRead?: NodeRead
  /**
   * The same chain for one asker, whose reads use connections that no engine uses and take turns with those of other askers.
   * They throw `ApiError` when too many wait.
   */
  onBehalfOf(asker: ReadAsker): Chain
  /** The chain itself, which is the same for all askers: the key of what they share, such as a price that is read once a second. */
  shared: Chain
}

/** The origin of reads, such as an entity. Its parts, such as the addresses that its pages ask from, take turns as well. */
export type ReadAsker = {
  name: string
  part?: string | undefined
  /** Limits the time that nodes spend on it. `require` throws when it is used up. */
  time?: { require(): void; spend(nodeMs: number): void } | undefined
}

/** The chains this process is connected to. */
export type Chains = {
  list(): readonly Chain[]
  /** The chain, or `undefined` when this server is not connected to it. */
  find(blockchain: string): Chain | undefined
  /** The same chains for one asker. */
  onBehalfOf(asker: ReadAsker): Chains
  /** The chains themselves: see `Chain.shared`. */
  shared: Chains
}
