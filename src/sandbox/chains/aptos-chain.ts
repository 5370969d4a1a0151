import { canonicalAddress } from '#chains/addresses/canonical'
import type { Hex } from '#lib/hex'
import { readLongAddress } from './aptos/addresses.ts'
import { NodeError } from './aptos/errors.ts'
import { type AptosNode, openAptosNode } from './aptos/index.ts'
import { latestBlock } from './aptos/ledger.ts'
import type { StoreState } from './aptos/state.ts'
import {
  type HostedChainOptions,
  hashOfBlock,
  hostedChain,
  hostedNodeOptions,
  payNewCoins,
} from './hosted-chain.ts'
import { pacedControls } from './ledger-controls.ts'
import type { ChainControls, StartedChain, TouchingTransaction } from './local-chain.ts'

/** Starts a local chain of Aptos, whose node is simulated in this process. */
export async function startAptosChain(options: HostedChainOptions): Promise<StartedChain> {
  const node = await openAptosNode(hostedNodeOptions(options))
  return hostedChain(options, node, { controls: controlsOf(node), isSimulated: true })
}

function controlsOf(node: AptosNode): ChainControls {
  return {
    ...pacedControls(node, () => Number(latestBlock(node.ledger()).timestampUs / 1000n)),
    head: async () => {
      const { height, hash, timestampUs } = latestBlock(node.ledger())
      return { number: height, hash, timestampS: Number(timestampUs / 1_000_000n) }
    },
    hashAt: async (number) => hashOfBlock(node.ledger().blocks, number),
    waiting: async () => node.pool().length,
    outcomeOf: async (txHash) => {
      const found = node.ledger().byHash.get(canonicalAddress(txHash))
      return found?.kind === 'user'
        ? { blockNumber: found.height, isSuccess: found.outcome.isSuccess }
        : undefined
    },
    drop: async (txHash) => {
      const hash = canonicalAddress(txHash)
      if (node.pool().includes(hash)) {
        node.forgetPool(hash)
        return 'dropped'
      }
      return node.ledger().byHash.get(hash)?.height ?? 'unknown'
    },
    transactionsIn: async (blockHash) => transactionsIn(node, blockHash),
    refillFaucet: async () => undefined,
    mint: async (to, amountAtomic, token) =>
      payNewCoins(
        amountAtomic,
        () => node.fund(readLongAddress(to)!, amountAtomic, token as Hex | undefined),
        (error) => error instanceof NodeError,
      ),
  }
}

function transactionsIn(node: AptosNode, blockHash: string): TouchingTransaction[] {
  const { blocks, transactions } = node.ledger()
  const block = blocks.findLast(({ hash }) => hash === blockHash)
  if (!block) return []
  return transactions.slice(block.firstVersion, block.lastVersion + 1).flatMap((entry) => {
    if (entry.kind !== 'user') return []
    const { sender, feePayer } = entry.transaction
    const owners = entry.writes.flatMap(({ table, value }) =>
      table === 'stores' ? [(value as StoreState).owner] : [],
    )
    const addresses = new Set([sender, ...(feePayer ? [feePayer.address] : []), ...owners])
    return [{ txHash: entry.hash, addresses: [...addresses] }]
  })
}
