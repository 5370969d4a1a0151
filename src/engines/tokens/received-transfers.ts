import type { ObservedTokenTransfer } from '#engines/indexer/observed/index'
import type { knownTokens } from '#engines/ledger/tokens/index'
import type { ReceivedTransfer } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'

export type FollowedTransfer = ObservedTokenTransfer & {
  token: Awaited<ReturnType<typeof knownTokens>>[number]
}

/**
 * One received transfer for each log: a batch names several items. `covered`: the ids of transfers that a balance shows.
 * Logs of amount zero have negative ordinals of their own, so that they never shift the ordinals of the others.
 */
export function receivedIn(
  transfers: readonly FollowedTransfer[],
  covered: ReadonlySet<string>,
): Omit<ReceivedTransfer, 'screening'>[] {
  const logs = new Map<string, FollowedTransfer[]>()
  for (const transfer of transfers) {
    if (transfer.direction !== 'in') continue
    const key = [transfer.entityId, transfer.logIndex].join()
    logs.set(key, [...(logs.get(key) ?? []), transfer])
  }
  const counts = new Map<string, number>()
  return [...logs.values()].map((all) => {
    const moved = all.filter(({ amount }) => amount > 0n)
    const isEmpty = moved.length === 0
    const group = isEmpty ? all : moved
    const [first] = group as [FollowedTransfer]
    const { entityId, txHash, address, token } = first
    const key = [entityId, txHash, address, token.id, isEmpty].join()
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    // The logs of a token that is listed by now need no proof.
    const isProven = token.listed || moved.every(({ id }) => covered.has(id))
    const unproven = isEmpty || !isProven
    const isReadable = isEmpty || token.decimalsKnown
    return {
      ...first,
      tokenId: token.id,
      ownerId: first.walletId,
      ordinal: isEmpty ? -1 - count : count,
      amounts: isReadable ? group.map(({ amount }) => formatAmount(amount, token.decimals)) : null,
      itemIds: first.itemId === null ? null : group.map(({ itemId }) => String(itemId)),
      unproven,
      announced: !unproven && !token.lookAlike,
    }
  })
}
