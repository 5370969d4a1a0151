import { signWithKeyInUse } from '#custody/installation/index'
import type { EngineCtx } from '#engines/ctx'
import type { Hex } from '#lib/hex'
import type { Db } from '#runtime/db/db'

/** Signs a digest as the burn signer of the wallet contracts, in the `tx` that records its subject. Throws without a key. */
export async function signAsBurnSigner(
  ctx: EngineCtx,
  tx: Db,
  subject: string,
  digest: Hex,
): Promise<Buffer> {
  const signatures = await signWithKeyInUse({ ...ctx, db: tx }, 'balance', [{ subject, digest }])
  if (!signatures) throw new Error('there is no attestation key for unified balances')
  return signatures[0]!
}
