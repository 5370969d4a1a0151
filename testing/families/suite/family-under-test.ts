import type { Blockchain } from '#chains/blockchains'
import type { Network } from '#chains/networks/index'

/** A lie or failure of one endpoint; the others of its chain know nothing of it. */
export type EndpointFault = 'lags' | 'lies' | 'is of another chain' | 'is away'

/** A further address of the node. */
export type FamilyEndpoint = {
  url: string
  /** Has the fault until it is called without one. */
  fail(fault?: EndpointFault): Promise<void>
  close(): Promise<void>
}

/** A transaction as the chain has it. */
export type ChainTransaction = { sender: string; success: boolean }

/**
 * A family of chains as the suite sees it: its own node, whose blocks, faults and clock the suite controls, and an oracle that shares
 * no code with the program. An absent member is something that its chains do not have.
 */
export type FamilyUnderTest = {
  network: Network
  rpcUrl: string
  /** A blockchain of another family that no node is needed for: its addresses are none here. */
  foreign: Blockchain
  /** The native coins, in base units, that pay for some hundred transactions. */
  plentyAtomic: bigint
  /** Addresses that no transfer may name, with the reason in the words of the refusal. */
  badAddresses: readonly (readonly [text: string, reason: RegExp])[]
  /** A new address, of which nobody has the key. */
  stranger(): string
  /** The address that `send` pays from. */
  outsider: string
  /** Pays from outside; resolves with the hash once a block has the transaction. */
  send(to: string, amountAtomic: bigint, token?: string): Promise<string>
  /** The balance by the oracle. */
  balanceOf(address: string, token?: string): Promise<bigint>
  transactionOf(hash: string): Promise<ChainTransaction | undefined>
  blocks: {
    /** Makes no block until `release`, except by `mine`. */
    hold(): Promise<void>
    release(): Promise<void>
    mine(): Promise<void>
  }
  node: {
    /** Says to have taken each transaction, and keeps none, until it is called with false. */
    loseTransactions(isLosing: boolean): void
    /** Ends the connection in place of these answers from now on; it acts nevertheless. */
    dropAnswers(which: 'of submissions' | 'all' | 'none'): void
    /** The number of transactions that it was asked to take. */
    submissions(): number
    /** Whether its pool has the transaction. */
    isPending(hash: string): Promise<boolean>
  }
  /** Transactions expire. */
  lifetimes?: {
    /** Lets the life of what is signed now pass but for its last moments: the next block may have it still. */
    passMost(): Promise<void>
    /** Puts the clock of the chain beyond all lives, without a block; absent where no clock ends them. */
    passClock?(): void
    /** Lets all lives end, by blocks without what waits. */
    passAll(): Promise<void>
    /** Lets what is signed from now on expire later than what was. */
    passSome?(): Promise<void>
    /** Refuses each transaction as expired, or for a reason that no later block changes. */
    refuse(why: 'expired' | 'for good' | 'nothing'): void
  }
  /** The coins that the payer of the fee pays beside it for a new address that receives tokens. */
  newHolderAtomic: bigint
  /** Uses the next nonce of an address with its key, outside the program. */
  displace?(address: string): Promise<void>
  openEndpoint(): Promise<FamilyEndpoint>
  /** Ends all faults of the node, which makes blocks by itself again. */
  settle(): Promise<void>
  close(): Promise<void>
}
