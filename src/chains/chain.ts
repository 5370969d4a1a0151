import type { Hex } from '#lib/hex'
import type { Effects } from './effects.ts'
import type { Network } from './network.ts'

/** Addresses are lower case everywhere inside; hashes too. Amounts are base units. */
export type Address = Hex

export type BlockRef = { number: number; hash: Hex; parentHash: Hex; timeMs: number }

export type ChainTransaction = {
  hash: Hex
  from: Address
  to: Address | undefined
  valueAtomic: bigint
  nonce: number
}

/** A transfer log of a token contract, by the position of its log in the block. */
export type TransferLog = {
  txHash: Hex
  logIndex: number
  token: Address
  from: Address
  to: Address
  amountAtomic: bigint
}

/** A whole block whose parts were checked against each other. */
export type Block = BlockRef & {
  transactions: ChainTransaction[]
  transfers: TransferLog[]
  /** Stands for all of it, when endpoints are compared; of a local chain there is none. */
  contentHash?: Hex
}

export type Receipt = {
  txHash: Hex
  success: boolean
  gasUsed: bigint
  feeAtomic: bigint
  blockHash: Hex
  blockNumber: number
}

/** What a transaction does, before nonce and fee are known. */
export type Call = { to: Address; valueAtomic: bigint; data: Hex }

/** Everything that is signed. Fees per gas in wei; `gasPrice` only on chains without EIP-1559. */
export type UnsignedTransaction = Call & {
  nonce: number
  gasLimit: bigint
  maxFeeAtomic: bigint
  priorityFeeAtomic: bigint
}

/** What a node suggests now: the base fee and a priority fee for each level. */
export type FeeSuggestion = {
  baseFeeAtomic: bigint
  priorityFeeAtomic: { LOW: bigint; MEDIUM: bigint; HIGH: bigint }
}

/** `accepted`: in the pool or known to it. `refused`: listed, certain, before the pool. `unknown`: maybe sent. */
export type BroadcastOutcome =
  | { kind: 'accepted' }
  | { kind: 'refused'; reason: RefusalReason; message: string }
  | { kind: 'unknown'; message: string }

export type RefusalReason =
  | 'nonce-too-low'
  | 'insufficient-funds'
  | 'underpriced'
  | 'replacement-underpriced'
  | 'gas-limit'
  | 'invalid'

/** `refused`: by a rule of the chain. `unknown`: the node did not get as far as to say, which says nothing of the call. */
export type GasEstimate =
  | { kind: 'estimated'; gas: bigint }
  | { kind: 'reverted' | 'insufficient-funds' | 'refused' | 'unknown'; message: string }

export type Signature = { r: Buffer; s: Buffer; recovery: 0 | 1 }

/** That `to` may take coins of `from`, once for each nonce of 32 bytes. */
export type Authorization = { from: Address; to: Address; amountAtomic: bigint; nonce: Hex }

/** `upTo`: the highest block that is agreed on. Without it, `said` tells what each endpoint said. */
export type Agreement = { upTo: number | undefined; said?: string[] }

/** `no tag`: nodes of this chain do not tell, or it is local and can be rewound. `unknown`: too few of them tell now. */
export type Finalized = { number: number; hash: Hex } | 'no tag' | 'unknown'

/** `outvoted`: enough endpoints say another thing, the same one. `open`: neither is said by enough of them. */
export type ContentAgreement = { verdict: 'agreed' | 'outvoted' | 'open'; said: string[] }

/** How one endpoint did lately: the share of calls that failed, recent ones counting most, and how long the others took. */
export type EndpointHealth = {
  host: string
  errorsRatio: number
  /** Recent calls count most. */
  latencyMs: number
  /** The times in which half of the latest calls, and 95 of 100, were answered; `undefined` before the first answer. */
  p50Ms: number | undefined
  p95Ms: number | undefined
}

/** An endpoint that is not of the network it is configured for, with what gave it away. */
export type RefusedEndpoint = {
  blockchain: string
  /** The host alone: the rest of an address may be a key. */
  endpoint: string
  reason: string
  token?: string
  address?: string
}

/** Has endpoints prove that they are of their network before they are used, and is told of those that are not. */
export type Inspection = {
  refused(endpoint: RefusedEndpoint): void
  /** One that was refused is of its network now, and is used. */
  accepted(endpoint: RefusedEndpoint): void
}

/** One blockchain through its node. Every call may throw when the node is away; none is retried here. */
export type Chain = {
  network: Network
  /** Hosts of its endpoints, for messages: the rest of an address may be a key. */
  hosts: readonly string[]
  /** How each of its endpoints did lately, in the order of `hosts`. */
  health(): readonly EndpointHealth[]
  /** Has each endpoint inspected that is not yet; gives those that are refused. None is of a chain without inspection. */
  inspect(): Promise<readonly RefusedEndpoint[]>
  /** Blocks on top of a block, its own included, from which it has its confirmations. */
  completeDepth: number
  /** The same, from which it is final where nodes know no `finalized` block. */
  finalityDepth: number
  /** Started by us and rewound at will: a reorg of any depth is healed instead of stopping the chain. */
  local: boolean
  head(): Promise<BlockRef>
  /** The block with everything in it; `undefined` when the node does not have it. */
  blockByNumber(number: number): Promise<Block | undefined>
  blockByHash(hash: Hex): Promise<Block | undefined>
  /** Receipts of the given transactions of one block, in any order. */
  receiptsOf(blockHash: Hex, txHashes: readonly Hex[]): Promise<Receipt[]>
  /** How many transactions of `address` are in blocks up to the head. */
  nonceOf(address: Address): Promise<number>
  /** How many transactions of `address` pools hold before they are in a block: one when it delegates to code (EIP-7702). */
  inFlightMaxOf(address: Address): Promise<number>
  balanceOf(address: Address, token?: Address, atBlock?: Hex): Promise<bigint>
  /** Whether there is a contract at an address. */
  hasCode(address: Address): Promise<boolean>
  /** How much of a token there is in all. */
  totalSupplyOf(token: Address): Promise<bigint>
  fees(): Promise<FeeSuggestion>
  /** Never throws for a node that is away: that is `unknown`. */
  estimateGas(from: Address, call: Call): Promise<GasEstimate>
  /** The least gas limit with which a block can take a call with this data. */
  intrinsicGas(data: Hex): bigint
  /** The call that moves `amountAtomic` of `token` (of the native coin when absent) to `to`. */
  transferCall(to: Address, amountAtomic: bigint, token?: Address): Call
  /** What a token mixes into everything that is signed for it: the same for ever. */
  domainSeparatorOf(token: Address): Promise<Hex>
  /** The 32 bytes that the owner of coins signs to let somebody else take them. */
  authorizationDigest(domainSeparator: Hex, authorization: Authorization): Buffer
  /** The call by which he takes them. Nobody else can make it. */
  authorizedTransferCall(token: Address, authorization: Authorization, signature: Signature): Call
  /**
   * The data that calls the function with this signature, `name(type,…)`, with values as in JSON.
   * Throws ValueProblem, which names `abiFunctionSignature` or the value.
   */
  encodeCall(signature: string, values: readonly unknown[]): Hex
  /** How many bytes of data a call may have. */
  callDataBytesMax: number
  /** Why a call reverted in that block, made again around it; `undefined` when that does not tell. */
  explainRevert(from: Address, call: Call, gasLimit: bigint, blockHash: Hex): Promise<string | undefined>
  /** What a call really does, for policy to ask about; never throws. */
  decodeCall(call: Call): Effects
  /** The 32 bytes to sign. */
  digestOf(transaction: UnsignedTransaction): Buffer
  attachSignature(transaction: UnsignedTransaction, signature: Signature): { raw: Hex; hash: Hex }
  /** Sends signed bytes, one outcome each, in order. */
  broadcast(raws: readonly Hex[]): Promise<BroadcastOutcome[]>
  /**
   * Whether enough endpoints name the block that we know at `number`, or one below it that they all have reached.
   * `hashAt` gives what we know; a chain with one endpoint agrees with itself.
   */
  agreedUpTo(number: number, hashAt: (number: number) => Promise<string | undefined>): Promise<Agreement>
  /** The highest block that enough endpoints call finalized. */
  finalized(): Promise<Finalized>
  /** How many endpoints have to agree before something is concluded that cannot be undone. */
  agreeing: number
  /** Whether so many endpoints say the same of this block as was applied. Who is outvoted is not read for a while. */
  agreedContent(blockHash: Hex, contentHash: Hex): Promise<ContentAgreement>
  /** Calls `onHead` soon after a new head is there; may call it for nothing. Returns how to stop. */
  watchHeads(onHead: () => void): () => void
  close(): Promise<void>
}

/** The chains this process is connected to. */
export type Chains = {
  list(): readonly Chain[]
  /** The chain, or `undefined` when this server is not connected to it. */
  find(blockchain: string): Chain | undefined
}
