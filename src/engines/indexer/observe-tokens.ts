import type { Block, Chain } from '#chains/chain'
import type { ClaimedTransfer } from '#chains/tokens'
import type { ManagedAddress } from '#custody/index'
import { formatInstant } from '#lib/time'
import type { ObservedTokenTransfer } from './store/observed-tokens.ts'

/** Maximum number of transfers that are kept of one block: a contract can claim more than the block's other work takes. */
export const claimedMax = 20_000
/** Maximum number of transfers of nothing to one wallet that are kept of one block: they cost a stranger gas alone. */
export const emptyMax = 20

/**
 * The transfers of tokens that no network lists, as their contracts claim them, and then the transfers of nothing, which
 * cost their sender nothing but gas and are the first to be omitted.
 */
export function claimsOf(chain: Chain, block: Block, listed: ReadonlySet<string | null>): ClaimedTransfer[] {
  const claims = chain.tokens.claimedIn(block.logs)
  const isListed = ({ token }: ClaimedTransfer) => listed.has(token)
  return [
    ...claims.filter((claim) => claim.amountAtomic > 0n && !isListed(claim)),
    ...claims.filter(
      (claim) => claim.amountAtomic === 0n && (claim.standard === 'ERC20' || !isListed(claim)),
    ),
  ]
}

/**
 * The sides of these transfers that are wallets, and how many transfers of nothing are omitted. The sender of nothing need not
 * know of it.
 */
export function walletSides(
  blockchain: string,
  block: Block,
  claims: readonly ClaimedTransfer[],
  managed: ReadonlyMap<string, readonly ManagedAddress[]>,
): { rows: Omit<ObservedTokenTransfer, 'id'>[]; omitted: number } {
  const sides = (address: string) =>
    (managed.get(address) ?? []).filter(({ purpose }) => purpose === 'wallet' || purpose === 'modular')
  const emptyTo = new Map<string, number>()
  let omitted = 0
  const isKept = ({ amountAtomic, to }: ClaimedTransfer) => {
    if (amountAtomic > 0n) return true
    const count = (emptyTo.get(to) ?? 0) + 1
    emptyTo.set(to, count)
    if (count > emptyMax) omitted += sides(to).length
    return count <= emptyMax
  }
  const rows = claims.filter(isKept).flatMap((claim) => {
    const side = (direction: 'in' | 'out') => (wallet: ManagedAddress) => ({
      entityId: wallet.entityId,
      blockchain,
      blockHash: block.hash,
      blockNumber: block.number,
      txHash: claim.txHash,
      logIndex: claim.logIndex,
      position: claim.position,
      direction,
      tokenAddress: claim.token,
      standard: claim.standard,
      itemId: claim.itemId ?? null,
      fromAddress: claim.from,
      toAddress: claim.to,
      amount: claim.amountAtomic,
      address: wallet.address,
      walletId: wallet.ownerId,
      blockTime: formatInstant(block.timeMs),
    })
    const senders = claim.amountAtomic > 0n ? sides(claim.from) : []
    return [...senders.map(side('out')), ...sides(claim.to).map(side('in'))]
  })
  return { rows, omitted }
}
