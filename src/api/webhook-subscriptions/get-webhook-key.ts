import { findWebhookKey } from '#custody/installation/index'
import type { Ctx } from '#engines/ctx'
import { notFound } from '#lib/errors'

/** The public keys of an id, which every entity may read: they are those of the installation. */
export async function getWebhookKey(ctx: Ctx, id: string) {
  const found = await findWebhookKey(ctx.db, id)
  if (!found) throw notFound('key', id, 'webhookKeyNotFound')
  return {
    id: found.id,
    algorithm: 'ECDSA_SHA_256',
    publicKey: found.publicKey.toString('base64'),
    createDate: found.createDate,
    standardWebhooksKey: `whpk_${found.ed25519PublicKey.toString('base64')}`,
  }
}
