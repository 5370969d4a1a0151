import { claimedStandard } from '#chains/facets/tokens'
import { managedAmong } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import type { Step } from '#engines/indexer/index'
import {
  coveredIn,
  observedTokenTransfersOf,
  observedTransactionsOf,
  undecideClaims,
} from '#engines/indexer/observed/index'
import { undoOpeningBalances } from '#engines/indexer/reconciliation/index'
import { driftedAt } from '#engines/ledger/index'
import { insertItems, knownTokens, unlistedTokenId } from '#engines/ledger/tokens/index'
import { complete, failReceived, recordUnlistedReceived } from '#engines/transactions/index'
import type { Db } from '#runtime/db/db'
import { compareListedNow } from './hand-to-indexer.ts'
import { type FollowedTransfer, receivedIn } from './received-transfers.ts'
import { compareNow, compareSenders, followable, forgetRises, keyOf } from './store.ts'

/** Applies one step of the feed: lists what wallets received, and marks the balances that may have changed. */
export async function followStepForTokens(ctx: EngineCtx, tx: Db, step: Step): Promise<void> {
  const { blockchain, blockHash } = step
  const transfers = await knownTransfers(tx, step)
  const moved = await ofFollowed(
    tx,
    blockchain,
    transfers.filter(({ amount }) => amount > 0n),
  )
  const items = moved.filter(({ itemId }) => itemId !== null)
  const nowMs = ctx.clock.nowMs()
  await insertItems(
    tx,
    nowMs,
    items.map((item) => ({ id: unitOf(item), collectionId: item.token.id, itemId: item.itemId! })),
  )
  await compareNow(
    tx,
    blockchain,
    moved.map((transfer) => ({ ...transfer, tokenId: unitOf(transfer) })),
  )
  if (step.kind === 'undone') {
    await forgetRises(tx, blockchain, step.blockNumber)
    await undecideClaims(tx, blockchain, blockHash)
    await compareNow(tx, blockchain, await driftedAt(tx, blockchain, blockHash))
    await compareListedNow(tx, blockchain, await undoOpeningBalances(tx, nowMs, blockchain, blockHash))
    await compareSenders(tx, blockchain, await observedTransactionsOf(tx, blockchain, blockHash))
    return failReceived(ctx, tx, step)
  }
  // Read with the balances locked: a comparison decides these transfers either before or when they are recorded.
  const covered = await coveredIn(tx, blockchain, blockHash)
  const isDescribed = transfers.every(({ token }) => token.decimalsKnown)
  const described = isDescribed ? transfers : await knownTransfers(tx, step)
  const followed = new Set(moved.map(({ id }) => id))
  // A transfer that no comparison will ever prove is no transaction.
  const received = described.filter(
    ({ id, amount, token }) => amount === 0n || token.listed || followed.has(id),
  )
  await recordUnlistedReceived(ctx, tx, receivedIn(await ofWallets(tx, blockchain, received), covered))
  await complete(ctx, tx, step)
}

/** Selects the transfers of balances that are followed: strangers push tokens to a wallet without end. */
async function ofFollowed(
  tx: Db,
  blockchain: string,
  moved: readonly FollowedTransfer[],
): Promise<FollowedTransfer[]> {
  const balances = moved.map((transfer) => ({ ...transfer, tokenId: unitOf(transfer) }))
  const followed = await followable(tx, blockchain, balances)
  return moved.filter((_, index) => followed.has(keyOf(balances[index]!)))
}

/**
 * The transfers of wallets whose keys are held here. What a modular wallet receives is not listed as a transaction; it
 * changes balances all the same.
 */
async function ofWallets(
  tx: Db,
  blockchain: string,
  transfers: readonly FollowedTransfer[],
): Promise<FollowedTransfer[]> {
  if (transfers.length === 0) return []
  const managed = await managedAmong(tx, blockchain, [...new Set(transfers.map(({ address }) => address))])
  const wallets = new Set(managed.flatMap((row) => (row.purpose === 'wallet' ? [row.ownerId] : [])))
  return transfers.filter(({ walletId }) => wallets.has(walletId))
}

/**
 * Transfers of nothing, and of tokens that were unlisted when the block was indexed. A contract is of the standard of its
 * first transfer: others are not followed.
 */
async function knownTransfers(tx: Db, { blockchain, blockHash }: Step): Promise<FollowedTransfer[]> {
  const transfers = await observedTokenTransfersOf(tx, blockchain, blockHash)
  if (transfers.length === 0) return []
  const known = await knownTokens(tx, blockchain, [...new Set(transfers.map((row) => row.tokenAddress))])
  const byAddress = new Map(known.map((token) => [token.address, token]))
  return transfers.flatMap((transfer) => {
    const token = byAddress.get(transfer.tokenAddress)
    return token && claimedStandard(token.standard) === transfer.standard ? [{ ...transfer, token }] : []
  })
}

/** The id under which the balance is booked: that of the token, or of the item. */
const unitOf = ({ blockchain, token, itemId }: FollowedTransfer): string =>
  itemId === null ? token.id : unlistedTokenId(blockchain, token.address, itemId)
