import { nativeForm } from '#chains/crosschain/native-address'
import { stablecoinNamed } from '#chains/network'
import { managedAmong } from '#custody/wallets/index'
import { directionsByEntity } from '#engines/movement'
import type { Db } from '#runtime/db/db'
import { tokenSymbol, type UnifiedChain } from './networks.ts'
import { insertEntityTransfers, type TransferLink } from './store/entity-transfers.ts'
import type { PricedIntent } from './verify.ts'

/** Lists a transfer among the movements of the entities whose addresses pay or receive, in the `tx` that records it. */
export async function linkTransfer(
  tx: Db,
  { id, createDate }: { id: string; createDate: string },
  { chain, blockchain }: UnifiedChain,
  intents: readonly PricedIntent[],
): Promise<void> {
  const token = stablecoinNamed(chain.network, tokenSymbol)!
  const paid = await sumsByEntity(
    tx,
    intents.map(({ source, depositor, spec }) => ({
      blockchain: source.blockchain,
      address: depositor,
      amountAtomic: spec.value,
    })),
  )
  const received = await sumsByEntity(
    tx,
    intents.map(({ spec }) => ({
      blockchain,
      address: nativeForm(spec.destinationRecipient),
      amountAtomic: spec.value,
    })),
  )
  const [first] = intents
  const links = [...directionsByEntity(paid.keys(), received.keys())].map(
    ([entityId, direction]): TransferLink => ({
      entityId,
      id,
      direction,
      blockchain,
      tokenId: token.id,
      amount: (paid.get(entityId) ?? received.get(entityId))!,
      fromAddress: first!.depositor,
      toAddress: nativeForm(first!.spec.destinationRecipient),
      createDate,
    }),
  )
  if (links.length > 0) await insertEntityTransfers(tx, links)
}

type ManagedShare = { blockchain: string; address: string; amountAtomic: bigint }

/** The amounts at addresses of each entity, with one query for each chain. */
async function sumsByEntity(tx: Db, parts: readonly ManagedShare[]): Promise<Map<string, bigint>> {
  const sums = new Map<string, bigint>()
  for (const blockchain of new Set(parts.map((part) => part.blockchain))) {
    const there = parts.filter((part) => part.blockchain === blockchain)
    const managed = await managedAmong(tx, blockchain, [...new Set(there.map(({ address }) => address))])
    for (const { entityId, address } of managed)
      for (const part of there)
        if (part.address === address) sums.set(entityId, (sums.get(entityId) ?? 0n) + part.amountAtomic)
  }
  return sums
}
