import type { EngineCtx } from '#engines/ctx'
import {
  type ObservedTokenTransfer,
  observedTokenTransfersOf,
  observedTransactionsOf,
  type Step,
} from '#engines/indexer/index'
import { driftedAt, insertItems, knownTokens, unlistedTokenId } from '#engines/ledger/index'
import {
  complete,
  failReceived,
  type ReceivedTransfer,
  recordUnlistedReceived,
} from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'
import type { Db } from '#runtime/db/db'
import { compareNow, compareSenders } from './store.ts'

type Known = Awaited<ReturnType<typeof knownTokens>>[number]
type FollowedTransfer = ObservedTokenTransfer & { token: Known }

/** Applies one step of the feed: lists what wallets received, and marks the balances that may have changed. */
export async function followStep(ctx: EngineCtx, tx: Db, step: Step): Promise<void> {
  const { blockchain, blockHash } = step
  const transfers = await knownTransfers(tx, step)
  const items = transfers.filter(({ itemId }) => itemId !== null)
  const nowMs = ctx.clock.nowMs()
  await insertItems(
    tx,
    nowMs,
    items.map((item) => ({ id: unitOf(item), collectionId: item.token.id, itemId: item.itemId! })),
  )
  await compareNow(
    tx,
    blockchain,
    transfers.map((transfer) => ({ ...transfer, tokenId: unitOf(transfer) })),
  )
  if (step.kind === 'undone') {
    await compareNow(tx, blockchain, await driftedAt(tx, blockchain, blockHash))
    await compareSenders(tx, blockchain, await observedTransactionsOf(tx, blockchain, blockHash))
    return failReceived(ctx, tx, step)
  }
  await recordUnlistedReceived(ctx, tx, receivedIn(transfers))
  await complete(ctx, tx, step)
}

/** Transfers of unlisted tokens. A contract is of the standard of its first transfer: others are not followed. */
async function knownTransfers(tx: Db, { blockchain, blockHash }: Step): Promise<FollowedTransfer[]> {
  const transfers = await observedTokenTransfersOf(tx, blockchain, blockHash)
  if (transfers.length === 0) return []
  const known = await knownTokens(tx, blockchain, [...new Set(transfers.map((row) => row.tokenAddress))])
  const byAddress = new Map(known.map((token) => [token.address, token]))
  return transfers.flatMap((transfer) => {
    const token = byAddress.get(transfer.tokenAddress)
    return token && !token.listed && token.standard === transfer.standard ? [{ ...transfer, token }] : []
  })
}

/** The id under which the balance is booked: that of the token, or of the item. */
const unitOf = ({ blockchain, token, itemId }: FollowedTransfer): string =>
  itemId === null ? token.id : unlistedTokenId(blockchain, token.address, itemId)

/** One received transfer for each log: a batch names several items. */
function receivedIn(transfers: readonly FollowedTransfer[]): ReceivedTransfer[] {
  const logs = new Map<string, FollowedTransfer[]>()
  for (const transfer of transfers) {
    if (transfer.direction !== 'in') continue
    const key = [transfer.entityId, transfer.logIndex].join()
    logs.set(key, [...(logs.get(key) ?? []), transfer])
  }
  const counts = new Map<string, number>()
  return [...logs.values()].map((group) => {
    const [first] = group as [FollowedTransfer]
    const { entityId, txHash, address, token } = first
    const key = [entityId, txHash, address, token.id].join()
    const ordinal = counts.get(key) ?? 0
    counts.set(key, ordinal + 1)
    return {
      ...first,
      tokenId: token.id,
      ownerId: first.walletId,
      ordinal,
      amounts: group.map(({ amount }) => formatAmount(amount, token.decimals)),
      itemIds: first.itemId === null ? null : group.map(({ itemId }) => String(itemId)),
      announced: !token.lookAlike,
    }
  })
}
