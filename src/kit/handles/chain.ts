import { type Ask, pathOf } from '../ask.ts'

/** A local chain as it is now. */
export type TestChainState = {
  blockchain: string
  chainId: number
  rpcUrl: string
  headNumber: number
  headHash: string
  mining: 'each_transaction' | 'interval' | 'paused'
  isPaused: boolean
  intervalS?: number
  unmined: number
  /** Absent where the chain has no base fee. */
  baseFeeGwei?: string
  /** Whether the sandbox simulates the node, because none of the network can be installed. */
  isSimulated: boolean
  /** The operations that the chain has: `baseFee`, `reorg` and `impersonate` are refused where it lacks them. */
  operations: string[]
}

export type ChainReorg = {
  orphaned: string[]
  returned: string[]
  replaced: { txHash: string; by: string }[]
  dropped: string[]
  head: { number: number; hash: string }
}

/** A transaction that the sandbox has sent. */
export type TestTransaction = {
  txHash: string
  status: 'mined' | 'reverted' | 'unmined'
  blockNumber?: number
}

export type TestCoin = 'NATIVE' | 'USDC' | 'EURC'

export type ChainHandle = {
  blockchain: string
  chainId: number
  /** The address of its node: JSON-RPC over HTTP and WebSocket, or the REST interface of Aptos. */
  rpcUrl: string
  /** The contracts of the stablecoins. */
  tokens: { USDC: string; EURC: string }
  read(): Promise<TestChainState>
  /** Mines one block, or several whose times are `intervalS` apart. */
  mine(blocks?: number, options?: { intervalS?: number }): Promise<TestChainState>
  /** Mines nothing by itself until `resume`. */
  pause(): Promise<TestChainState>
  resume(): Promise<TestChainState>
  /** Mines a block every so many seconds; 0: for each transaction. */
  interval(seconds: number): Promise<TestChainState>
  /** Sets what the next block, or the next `blocks`, ask for gas. */
  baseFee(gwei: string, options?: { blocks?: number }): Promise<TestChainState>
  /** Replaces the newest blocks; resolves when the platform has followed. */
  reorg(options: {
    depth: number
    transactions?: 'return' | 'drop' | 'replace'
    newBlocks?: number
  }): Promise<ChainReorg>
  /** Removes a transaction that no block includes from the memory of the node. */
  drop(txHash: string): Promise<TestChainState>
  /** Sends a payment or a call from any address, without its key. */
  impersonate(
    address: string,
    act:
      | { transfer: { to: string; token: TestCoin; amount: string } }
      | { call: { to: string; data: string; value?: string } },
  ): Promise<TestTransaction>
}

type KnownChain = Pick<ChainHandle, 'blockchain' | 'chainId' | 'rpcUrl' | 'tokens'>

export function chainOf({ lab }: Ask, known: KnownChain): ChainHandle {
  const { blockchain } = known
  const act = <Data>(verb: string, body: object = {}) =>
    lab<Data>('POST', pathOf`/sandbox/chains/${blockchain}/${verb}`, body)
  return {
    ...known,
    read: async () => {
      const chains = await lab<TestChainState[]>('GET', '/sandbox/chains')
      return chains.find((chain) => chain.blockchain === blockchain)!
    },
    mine: (blocks = 1, options) => act('mine', { blocks, ...options }),
    pause: () => act('pause'),
    resume: () => act('resume'),
    interval: (seconds) => act('interval', { seconds }),
    baseFee: (gwei, options) => act('base-fee', { gwei, ...options }),
    reorg: (options) => act('reorg', options),
    drop: (txHash) => act('drop', { txHash }),
    impersonate: (address, sent) => act('impersonate', { address, ...sent }),
  }
}
