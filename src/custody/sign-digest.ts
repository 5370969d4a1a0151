import { ApiError } from '#lib/errors'
import { walletPrivateKey } from './contexts.ts'
import type { EntitySecret } from './custody.ts'
import { withUnsealed } from './sealing.ts'
import { findKey } from './store/keys.ts'
import type { CustodyCtx, Signature } from './types.ts'

/** Signs 32 bytes in the request itself, with a wallet key that the entity secret opens; no grant is left. */
export async function signDigest(
  ctx: CustodyCtx,
  secret: EntitySecret,
  keyId: string,
  digest: Buffer,
): Promise<Signature> {
  const { entityId, walletKey } = secret
  const key = await findKey(ctx.db, entityId, keyId)
  if (key?.class !== 'wallet') throw new ApiError('walletNotFound')
  const { signer } = ctx.custody
  return withUnsealed(walletKey, walletPrivateKey(entityId, key.id), key.sealedPrivateKey, (privateKey) =>
    signer.sign(digest, privateKey),
  )
}
