import type { Address, TxId } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import type { TokenSymbol } from '#chains/network'
import type { Intercept } from './proxy.ts'

/** The cause of blocks: each transaction, a number of seconds that passes, or the operation that mines alone. */
export type BlockPace = 'each_transaction' | 'paused' | number

export type LocalHead = { number: number; hash: string }

/** A transaction with the addresses that it comes from, goes to, or moves coins of. */
export type TouchingTransaction = { txHash: string; addresses: readonly string[] }

export const fates = ['return', 'drop', 'replace'] as const
/** The fate of the transactions of replaced blocks. */
export type Fate = (typeof fates)[number]

/** Puts `newBlocks` empty blocks, at least as many, in the place of the newest `depth`. */
export type BranchRequest = { depth: number; newBlocks: number; transactions: Fate }

/** The blocks that were replaced, newest first, and what became of their transactions. */
export type Replaced = {
  orphaned: string[]
  returned: string[]
  replaced: { txHash: string; by: string }[]
  dropped: string[]
}

/** Changes a chain to another branch. */
export type Branches = {
  /** The fates that its transactions can have. */
  fates: readonly Fate[]
  /** Runs `work` while the chain mines nothing by itself. */
  withoutMining<T>(work: () => Promise<T>): Promise<T>
  /** Of a chain of this height, how many of the newest blocks can be replaced, and why no more. */
  replaceable(height: number): { blocks: number; reason: string }
  replace(asked: BranchRequest): Promise<Replaced>
}

/** The acts of the lab that chains of all families have. */
export type ChainControls = {
  head(): Promise<LocalHead & { timestampS: number }>
  /** The hash of a block; throws where the chain has none of that number. */
  hashAt(number: number): Promise<string>
  pace(): Promise<BlockPace>
  setPace(pace: BlockPace): Promise<void>
  /** Mines blocks, of which the first include what waits. Their times are `intervalS` apart. */
  mine(blocks: number, intervalS?: number): Promise<void>
  /** Number of transactions that wait for a block. */
  waiting(): Promise<number>
  /** The block of a transaction, and whether it did what it says; undefined while no block includes it. */
  outcomeOf(txHash: string): Promise<{ blockNumber: number; isSuccess: boolean } | undefined>
  /** Removes a transaction from the pool; a number is that of the block which includes it already. */
  drop(txHash: string): Promise<'dropped' | 'unknown' | number>
  /** The transactions of a block; none of a block that is gone. */
  transactionsIn(blockHash: string): Promise<TouchingTransaction[]>
  /** Sets the time of the next blocks, after that of the newest one. */
  setTime(nowMs: number, isFrozen: boolean): Promise<void>
  /** Lets the time of blocks stand still, as far as a chain can. */
  freezeTime(): Promise<void>
  releaseTime(): Promise<void>
  /** Lets the account of the faucet have this much of the native coin, where it pays from an account. */
  refillFaucet(amountAtomic: bigint): Promise<void>
  /** Replaces blocks by those of another branch; absent where blocks are final, and of EVM, whose node is asked for each step. */
  branches?: Branches
  /** Pays new coins by the node itself; absent where the account of the faucet mints them by a transaction that it signs. */
  mint?(to: Address, amountAtomic: bigint, token: Address | undefined): Promise<TxId>
}

/** An EVM chain, whose node has methods of JSON-RPC for what other families lack. */
export type EvmLocalChain = ChainControls & {
  blockchain: Blockchain
  /** Makes one call past the hook, recorded as one through `rpcUrl` is; rejects with the message of the node. */
  ask<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
  /** The newest block that the node loaded in place of mining it: it can reorganise the later ones only. */
  loadedTo(): number
  /** Runs `work` while the chain mines nothing by itself. */
  withoutMining<T>(work: () => Promise<T>): Promise<T>
}

export type LocalChain = ChainControls & {
  blockchain: Blockchain
  chainId: number
  /** The published address: that of JSON-RPC over HTTP and WebSocket, or of a REST interface. Changes made through it survive restarts. */
  rpcUrl: string
  /** The address behind it, which a restart of the node may change; changes made through it are lost if the node is killed. */
  readonly nodeUrl: string
  /** The process that runs the node, which may change with a restart: this one, where the node is simulated. */
  readonly pid: number
  /** Whether a program of this project stands in for the node of the network. */
  isSimulated: boolean
  tokens: Record<TokenSymbol, Address>
  /** Sets a hook that can delay, drop or answer every request to `rpcUrl`; undefined removes it. */
  intercept(hook: Intercept | undefined): void
  /** Time between blocks that the chain was started with; undefined where it mines each transaction at once. */
  blockTimeMs: number | undefined
  /** The directory with the files of the chain; undefined of one that keeps none, of which there are no snapshots. */
  directory: string | undefined
  /** The same chain, where it is one of EVM. */
  evm: EvmLocalChain | undefined
  /** Copies the files that give the chain as it is now to a new directory. */
  copyTo(directory: string): Promise<void>
  /** Copies the files of the chain as it began to a directory. */
  copyGenesisTo(directory: string): Promise<void>
  /**
   * Ends the node and closes the files, so that others can take their place. Requests wait until the returned function has started
   * a node on those, behind the same address.
   */
  halt(): Promise<() => Promise<void>>
}

/** A chain with what its owner does to it. */
export type StartedChain = {
  chain: LocalChain
  /** Writes its state now. */
  persist(): Promise<void>
  /** Writes its state, and ends its node. */
  stop(): Promise<void>
}
