import { canonicalAddress } from '#chains/addresses/canonical'
import { findWallet, findWalletByAddress, type Wallet } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid, notFound } from '#lib/errors'
import { usableBy } from '#runtime/owner'

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
    throw invalid(
      'walletAddress',
      'cannot be combined with walletId',
      walletAddress,
      'walletIdWithSourceAddress',
      'not_required',
    )
  }
  if (walletId === undefined && walletAddress === undefined)
    throw invalid(
      'walletId',
      'is missing: send it, or walletAddress with blockchain',
      undefined,
      'invalidRequest',
      'required',
    )
  if (walletAddress !== undefined && blockchain === undefined)
    throw invalid(
      'blockchain',
      'is missing: send it with walletAddress',
      undefined,
      'invalidRequest',
      'required',
    )
  const { db } = ctx
  const wallet =
    walletId !== undefined
      ? await findWallet(db, owner, walletId)
      : await byAddress(db, owner, blockchain!, canonicalAddress(walletAddress!))
  if (!wallet) throw walletUnknown({ walletId, walletAddress })
  if (blockchain !== undefined && blockchain !== wallet.blockchain) {
    throw invalid(
      'blockchain',
      `does not match the wallet, which is on ${wallet.blockchain}`,
      blockchain,
      'walletOnOtherChain',
    )
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
    throw invalid(
      field,
      'is a smart account, which cannot do this: use a wallet with accountType EOA',
      id,
      'accountTypeUnsupported',
    )
}
