import type { Ctx } from '#engines/ctx'
import { merchantWalletIdOf } from '#engines/treasury/index'
import type { ErrorName } from '#lib/error-kinds'
import { invalid } from '#lib/errors'

/** Refuses every wallet id but that of the caller's main wallet; absent or empty means the main wallet. */
export function requireMainWallet(
  ctx: Ctx,
  location: string,
  walletId: string | undefined,
  kind: ErrorName,
): string {
  const own = merchantWalletIdOf(ctx.entity.id)
  if (walletId && walletId !== own)
    throw invalid({ at: location, reason: `must be ${own} or absent`, value: walletId, kind })
  return own
}
