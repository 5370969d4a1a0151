import { canonicalAddress } from '#chains/addresses/canonical'
import { findWallet, findWalletByAddress, type Wallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid, notFound } from '#lib/errors'
import { usableBy } from '#runtime/row-owner'

export type SourceFields = { walletId?: string; walletAddress?: string; blockchain?: string }

/**
 * The wallet that pays or signs: by id, or by address and blockchain, as `byAddress` finds it. By default one that the
 * request may act with: a developer does not act with the wallets of users.
 */
export async function requireSource(
  ctx: Ctx,
  { walletId, walletAddress, blockchain }: SourceFields,
  byAddress = findWalletByAddress,
  owner = usableBy(ctx),
): Promise<Wallet> {
  if (walletId !== undefined && walletAddress !== undefined) {
    throw invalid({
      at: 'walletAddress',
      reason: 'cannot be combined with walletId',
      value: walletAddress,
      kind: 'walletIdWithSourceAddress',
      error: 'not_required',
    })
  }
  if (walletId === undefined && walletAddress === undefined)
    throw invalid({
      at: 'walletId',
      reason: 'is missing: send it, or walletAddress with blockchain',
      error: 'required',
    })
  if (walletAddress !== undefined && blockchain === undefined)
    throw invalid({ at: 'blockchain', reason: 'is missing: send it with walletAddress', error: 'required' })
  const { db } = ctx
  const wallet =
    walletId !== undefined
      ? await findWallet(db, owner, walletId)
      : await byAddress(db, owner, blockchain!, canonicalAddress(walletAddress!))
  if (!wallet) throw walletUnknown({ walletId, walletAddress })
  if (blockchain !== undefined && blockchain !== wallet.blockchain) {
    throw invalid({
      at: 'blockchain',
      reason: `does not match the wallet, which is on ${wallet.blockchain}`,
      value: blockchain,
      kind: 'walletOnOtherChain',
    })
  }
  if (wallet.state === 'FROZEN') throw new ApiError('walletFrozen')
  return wallet
}

/** The error for a wallet that cannot be found, by the one field of the request that names it. */
export function walletUnknown(named: Record<string, string | undefined>) {
  const [field, value] = Object.entries(named).find(([, given]) => given !== undefined)!
  return notFound('wallet', value, 'walletNotFound', field)
}

/** Refuses a smart account where only the key of an account can act (155515). */
export function requireKeyAccount({ accountType, id }: Wallet, field: string): void {
  if (accountType === 'SCA')
    throw invalid({
      at: field,
      reason: 'is a smart account, which cannot do this: use a wallet with accountType EOA',
      value: id,
      kind: 'accountTypeUnsupported',
    })
}
