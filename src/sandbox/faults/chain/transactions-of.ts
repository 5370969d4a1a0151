import { canonicalAddress } from '#chains/addresses/canonical'
import { managedAmong } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import type { LocalChain } from '../../chains/index.ts'

export type BlockTransaction = {
  txHash: string
  /** The addresses that it comes from, goes to, or moves coins of. */
  addresses: readonly string[]
  /** The entities that hold one of them. */
  entityIds: readonly string[]
}

type BlockReceipt = {
  transactionHash: string
  from: string
  to: string | null
  contractAddress: string | null
  logs: readonly { topics: readonly string[] }[]
}

/** The transactions of a block; none of a block that is gone. */
export async function transactionsOf(
  { database }: EngineCtx,
  chain: LocalChain,
  hash: string,
): Promise<BlockTransaction[]> {
  const receipts = (await chain.ask<BlockReceipt[] | null>('eth_getBlockReceipts', [hash])) ?? []
  const found = receipts.map((receipt) => ({
    txHash: receipt.transactionHash,
    addresses: [...new Set(addressesOf(receipt).map((address) => canonicalAddress(address)))],
  }))
  const all = [...new Set(found.flatMap(({ addresses }) => addresses))]
  const managed = all.length === 0 ? [] : await managedAmong(database, chain.blockchain, all)
  return found.map((each) => ({
    ...each,
    entityIds: managed
      .filter(({ address }) => each.addresses.some((own) => own === address))
      .map(({ entityId }) => entityId),
  }))
}

/** A topic of a log that has an address has zeros before it. */
const addressTopic = /^0x0{24}([0-9a-f]{40})$/i

const addressesOf = ({ from, to, contractAddress, logs }: BlockReceipt): string[] => [
  from,
  ...[to, contractAddress].filter((address) => address !== null),
  ...logs.flatMap(({ topics }) =>
    topics.flatMap((topic) => {
      const address = addressTopic.exec(topic)?.[1]
      return address === undefined ? [] : [`0x${address}`]
    }),
  ),
]
