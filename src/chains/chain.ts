import type { Hex } from '#lib/hex'
import type { Accounts } from './accounts.ts'
import type { Address, TxId } from './addresses/types.ts'
import type { ChainLog } from './chain-log.ts'
import type { AbiError, Contracts } from './contracts.ts'
import type { Crosschain, CrosschainAddresses } from './crosschain/crosschain.ts'
import type { CrosschainSetup, CrosschainTerms } from './crosschain/setup.ts'
import type { Effects } from './effects.ts'
import type { GasEstimate } from './gas-estimate.ts'
import type { Network } from './network.ts'
import type { NodeReadMethod, NodeReadOutcome } from './node-read.ts'
import type { Tokens } from './tokens.ts'

export type { Address, TxId } from './addresses/types.ts'
export type { ChainLog } from './chain-log.ts'
export type { GasEstimate } from './gas-estimate.ts'

/** The place of a block in its chain. Hashes are canonical strings; amounts are base units everywhere. */
export type BlockRef = { number: number; hash: Hex; parentHash: Hex; timeMs: number }

export type ChainTransaction = {
  hash: TxId
  from: Address
  to: Address | undefined
  valueAtomic: bigint
  nonce: number
  /** The input of a call of the contract that executes the operations of smart accounts; absent for all others. */
  bundle?: Hex
}

/** Asks for the logs of one event of one contract in the blocks `from` to `to`. */
export type LogQuery = { address: Address; topic: Hex; from: number; to: number }

/** A log with its block. */
export type PlacedLog = ChainLog & { blockHash: Hex; blockNumber: number; blockTimeMs: number }

/** `last`: the last block of the range. `refused`: nodes refuse a range of this size. */
export type LogHistory =
  | { kind: 'read'; logs: PlacedLog[]; last: BlockRef }
  | { kind: 'refused'; message: string }

/** A transfer log of a listed token, by the position of its log in the block. */
export type TransferLog = {
  txHash: TxId
  logIndex: number
  token: Address
  from: Address
  to: Address
  amountAtomic: bigint
}

/** A whole block whose parts were checked against each other. */
export type Block = BlockRef & {
  transactions: ChainTransaction[]
  /** The logs of all contracts, in block order. */
  logs: ChainLog[]
  /** The transfers of the network's listed tokens among them. */
  transfers: TransferLog[]
  /** Hash of the whole content, to compare endpoints; absent for a local chain. */
  contentHash?: Hex
}

export type Receipt = {
  txHash: TxId
  success: boolean
  gasUsed: bigint
  feeAtomic: bigint
  blockHash: Hex
  blockNumber: number
}

/** The call of a transaction, before nonce and fee are known. Without `to`, its data creates a contract. */
export type Call = { to: Address | undefined; valueAtomic: bigint; data: Hex }

/** All signed fields. Fees per gas in wei; `maxFeeAtomic` is the `gasPrice` on chains without EIP-1559. */
export type UnsignedTransaction = Call & {
  nonce: number
  gasLimit: bigint
  maxFeeAtomic: bigint
  priorityFeeAtomic: bigint
}

/** A signed transaction, and the address whose key signed it. */
export type SignedTransaction = { from: Address; transaction: UnsignedTransaction }

/** Current fees suggested by a node: the base fee and a priority fee for each level. */
export type FeeSuggestion = {
  baseFeeAtomic: bigint
  priorityFeeAtomic: { LOW: bigint; MEDIUM: bigint; HIGH: bigint }
}

/** `accepted`: in the pool or known to it. `refused`: a listed, certain refusal before the pool. `unknown`: maybe sent. */
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

/** The bytes of a signature, as custody returns them for the family: for EVM r, s and the recovery (0 or 1), 65 bytes. */
export type Signature = Buffer

/** Permission for `to` to take coins of `from`, once for each nonce of 32 bytes. */
export type Authorization = { from: Address; to: Address; amountAtomic: bigint; nonce: Hex }

/** The stored hash of the block at a height; `undefined` where none is stored. */
export type HashAt = (number: number) => Promise<string | undefined>

/** `upTo`: the highest block that is agreed on. Without it, `said` lists the answer of each endpoint. */
export type Agreement = { upTo: number | undefined; said?: string[] }

/** `no tag`: nodes of this chain lack the tag, or it is local and can be rewound. `unknown`: too few report a block now. */
export type Finalized = { number: number; hash: Hex } | 'no tag' | 'unknown'

/** `outvoted`: enough endpoints agree on other content. `open`: no content is reported by enough of them. */
export type ContentAgreement = { verdict: 'agreed' | 'outvoted' | 'open'; said: string[] }

/** Recent health of one endpoint: the share of failed calls, recent ones weighted most, and the latency of the others. */
export type EndpointHealth = {
  host: string
  errorsRatio: number
  /** Moving average; recent calls are weighted most. */
  latencyMs: number
  /** Percentiles of the latency of the latest calls; `undefined` before the first answer. */
  p50Ms: number | undefined
  p95Ms: number | undefined
  /** Its newest block; `undefined` while it is in backoff, and for the only endpoint of a chain. */
  headNumber: number | undefined
  /** Number of blocks by which it is behind the highest of them. */
  lagBlocks: number | undefined
}

/** An endpoint that is not of the network it is configured for, with the reason. */
export type RefusedEndpoint = {
  blockchain: string
  /** The host alone: the rest of the URL may hold a key. */
  endpoint: string
  reason: string
  /** The token, or the contract of the setting `crosschain`, that the endpoint lacks at the address. */
  token?: string
  contract?: string
  address?: string
}

/** Turns on the verification of endpoints before use, and receives its results. */
export type Inspection = {
  refused(endpoint: RefusedEndpoint): void
  /** Reports that a refused endpoint is of its network now, and is used. */
  accepted(endpoint: RefusedEndpoint): void
}

/** One blockchain through its node. Every call may throw when the node is unreachable; none is retried here. */
export type Chain = {
  network: Network
  /** Hosts of its endpoints, for messages: the rest of a URL may hold a key. */
  hosts: readonly string[]
  /** Recent health of each endpoint, in the order of `hosts`. */
  health(): readonly EndpointHealth[]
  /** Inspects each endpoint not yet verified and returns the refused ones: none for a chain without inspection. */
  inspect(): Promise<readonly RefusedEndpoint[]>
  /** Number of confirmations, the block itself counted, after which a block is complete. */
  confirmations: number
  /** The same, after which it is final where nodes know no `finalized` block. */
  finalityDepth: number
  /** Whether this program started the chain and may rewind it: a reorg of any depth is followed instead of halting it. */
  local: boolean
  head(): Promise<BlockRef>
  /** The whole block; `undefined` when the node does not have it. */
  blockByNumber(number: number): Promise<Block | undefined>
  blockByHash(hash: Hex): Promise<Block | undefined>
  /** Reads the logs of one event in block order, over a range of blocks that are final. */
  logHistory(query: LogQuery): Promise<LogHistory>
  /** Receipts of the given transactions of one block, in any order. */
  receiptsOf(blockHash: Hex, txHashes: readonly TxId[]): Promise<Receipt[]>
  /** Number of transactions of `address` in blocks up to the head. */
  nonceOf(address: Address): Promise<number>
  /** Number of pending transactions of `address` that pools hold: one when it delegates to code (EIP-7702). */
  inFlightMaxOf(address: Address): Promise<number>
  balanceOf(address: Address, token?: Address, atBlock?: Hex): Promise<bigint>
  /** Whether there is a contract at an address. */
  hasCode(address: Address): Promise<boolean>
  totalSupplyOf(token: Address): Promise<bigint>
  fees(): Promise<FeeSuggestion>
  /** Never throws for an unreachable node: the estimate is `unknown`. A revert is also decoded with `errors`. */
  estimateGas(from: Address, call: Call, errors?: readonly AbiError[]): Promise<GasEstimate>
  /** The fee of a call for its data on the parent chain; `undefined` where it is none, or part of that for gas. */
  parentFee(call: Call, gasLimit: bigint): Promise<bigint | undefined>
  /** The lowest gas limit with which a block can include a call with this data. */
  intrinsicGas(call: Pick<Call, 'to' | 'data'>): bigint
  /** The call that moves `amountAtomic` of `token` (of the native coin when absent) to `to`. */
  transferCall(to: Address, amountAtomic: bigint, token?: Address): Call
  /** The EIP-712 domain separator of a token, part of every digest signed for it. It never changes. */
  domainSeparatorOf(token: Address): Promise<Hex>
  /** The 32 bytes that the owner of coins signs to let another account take them. */
  authorizationDigest(domainSeparator: Hex, authorization: Authorization): Buffer
  /** The call by which `to` takes them. No other account can make it. */
  authorizedTransferCall(token: Address, authorization: Authorization, signature: Signature): Call
  /**
   * The data that calls the function with this signature, `name(type,…)`, with values as in JSON.
   * Throws ValueProblem, which names `abiFunctionSignature` or the value.
   */
  encodeCall(signature: string, values: readonly unknown[]): Hex
  /** Maximum bytes of data of a call. */
  callDataBytesMax: number
  contracts: Contracts
  tokens: Tokens
  accounts: Accounts
  /** Cross-chain messages and unified balances; `undefined` where this server knows no contracts of them. */
  crosschain: Crosschain | undefined
  /** Plans the creation of these contracts; `undefined` where the network has no domain. Throws when the node is unreachable. */
  planCrosschain(terms: CrosschainTerms): Promise<CrosschainSetup | undefined>
  /** The addresses of the contracts of messages that a payer creates, the same on every chain. */
  crosschainAddressesOf(payer: Address): CrosschainAddresses
  /**
   * The reason why a call reverted in that block, found by a replay; `undefined` when the replay does not show it. `errors`
   * are those of the contract, decoded by name.
   */
  explainRevert(
    from: Address,
    call: Call,
    gasLimit: bigint,
    blockHash: Hex,
    errors?: readonly AbiError[],
  ): Promise<string | undefined>
  /** The decoded effects of a call, for policy to evaluate; never throws. */
  decodeCall(call: Call): Effects
  /** The 32 bytes to sign. */
  digestOf(transaction: UnsignedTransaction): Buffer
  attachSignature(transaction: UnsignedTransaction, signature: Signature): { raw: Hex; hash: TxId }
  /** Reads a signed transaction; `undefined` where the bytes are none of this network. */
  readSigned(raw: Hex): Promise<SignedTransaction | undefined>
  /** Broadcasts signed transactions; returns one outcome each, in order. */
  broadcast(raws: readonly Hex[]): Promise<BroadcastOutcome[]>
  /**
   * Returns the block that enough endpoints agree on: `number`, or the one below it that enough of them have reached.
   * `hashAt` gives the stored hash at a height; a chain with one endpoint agrees with itself.
   */
  agreedUpTo(number: number, hashAt: HashAt): Promise<Agreement>
  /** The highest block that enough endpoints report as finalized. */
  finalized(): Promise<Finalized>
  /** Number of endpoints that must agree before an irreversible conclusion. */
  agreeing: number
  /** Whether `agreeing` endpoints report the content of this block that was applied. Outvoted endpoints back off. */
  agreedContent(blockHash: Hex, contentHash: Hex): Promise<ContentAgreement>
  /** One read that a page asks for, with its parameters as they came. Throws `ValueProblem`, which names the parameter. */
  read(method: NodeReadMethod, params: readonly unknown[]): Promise<NodeReadOutcome>
  /** Calls `onHead` soon after each new head; spurious calls are possible. Returns a function that stops it. */
  watchHeads(onHead: () => void): () => void
  /**
   * The same chain for one asker, whose reads use connections that no engine uses and take turns with those of other askers.
   * They throw `ApiError` when too many wait.
   */
  onBehalfOf(asker: ReadAsker): Chain
  /** The chain itself, which is the same for all askers: the key of what they share, such as a price that is read once a second. */
  shared: Chain
  close(): Promise<void>
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
