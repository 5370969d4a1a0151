import type { Chain } from '#chains/chain'
import type { Block } from '#chains/facets/blocks'
import { type ClaimedTransfer, hasItems } from '#chains/facets/tokens'
import type { ManagedAddress } from '#custody/wallets/index'
import { formatInstant } from '#lib/time'
import type { ObservedTokenTransfer } from './store/tokens.ts'

/** Maximum number of transfers that are kept of one block: a contract can claim more than the block's other work takes. */
export const claimedMax = 20_000
/**
 * Maximum number of transfers of amount zero to one wallet that are kept for one block: they cost their sender only gas.
 */
const emptyMax = 20
/**
 * Maximum number of transfers of unlisted tokens that are kept of one block for one wallet, and for one entity: a stranger
 * makes thousands with a contract, and each costs rows.
 */
export const walletMax = 200
export const entityMax = 500

/**
 * The transfers of tokens that no network lists, as their contracts claim them, and then the transfers of nothing, which
 * cost their sender nothing but gas and are the first to be omitted.
 */
export function claimedTransfersOf(
  chain: Chain,
  block: Block,
  listed: ReadonlySet<string | null>,
): ClaimedTransfer[] {
  const claims = chain.tokens?.claimedIn(block) ?? []
  const isListed = ({ token }: ClaimedTransfer) => listed.has(token)
  return [
    ...claims.filter((claim) => claim.amountAtomic > 0n && !isListed(claim)),
    ...claims.filter((claim) => claim.amountAtomic === 0n && (!hasItems(claim.standard) || !isListed(claim))),
  ]
}

/**
 * The claim as the balance of a managed recipient can prove it: an account that is not the one of its balance stands for itself, and a
 * stranger's small payment into such an account covers no other one.
 */
export function toAccountOf(
  { tokens }: Chain,
  claim: ClaimedTransfer,
  managed: ReadonlyMap<string, unknown>,
): ClaimedTransfer {
  const { to, toAccount, token } = claim
  if (toAccount === undefined || !tokens?.isAccountOf || !managed.has(to)) return claim
  return tokens.isAccountOf(toAccount, to, token) ? claim : { ...claim, to: toAccount }
}

type Side = Omit<ObservedTokenTransfer, 'id'>

/**
 * The sides of these transfers that are wallets, within the limits of a block, and how many transfers are omitted. The sender
 * of nothing need not know of it.
 */
export function walletSides(
  blockchain: string,
  block: Block,
  claims: readonly ClaimedTransfer[],
  managed: ReadonlyMap<string, readonly ManagedAddress[]>,
): { rows: Side[]; omitted: number } {
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
  const kept = withinShares(rows)
  return { rows: kept, omitted: omitted + rows.length - kept.length }
}

/**
 * Keeps the shares of wallets and of entities in a block. The first transfer of each token comes before the second of any, so
 * that a flood of one token omits no other, and every balance is compared that the block may have changed.
 */
function withinShares(rows: readonly Side[]): Side[] {
  const walletOf = ({ entityId, address }: Side) => `${entityId} ${address}`
  const ranks = numbered(rows, (row) => `${walletOf(row)} ${row.tokenAddress}`)
  const byRank = rows
    .map((row, index) => ({ row, index, rank: ranks[index]! }))
    .sort((one, other) => one.rank - other.rank || one.index - other.index)
  const inWallet = numbered(byRank, ({ row }) => walletOf(row))
  const ofWallets = byRank.filter((_, index) => inWallet[index]! <= walletMax)
  const inEntity = numbered(ofWallets, ({ row }) => row.entityId)
  return ofWallets
    .filter((_, index) => inEntity[index]! <= entityMax)
    .sort((one, other) => one.index - other.index)
    .map(({ row }) => row)
}

/** Returns the number of each item among those of its key, from 1. */
function numbered<Item>(items: readonly Item[], keyOf: (item: Item) => string): number[] {
  const counts = new Map<string, number>()
  return items.map((item) => {
    const count = (counts.get(keyOf(item)) ?? 0) + 1
    counts.set(keyOf(item), count)
    return count
  })
}
