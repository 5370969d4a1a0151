import { findSigningCertificate } from '#custody/installation/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'

/** `<id>.pem` as PEM. */
export async function getCertificate(ctx: Ctx, name: string): Promise<string> {
  const found = await findSigningCertificate(ctx.db, name.replace(/\.pem$/, ''))
  if (!found)
    throw invalid({
      at: 'name',
      reason: 'matches no certificate of this server',
      value: name,
      kind: 'certificateNotFound',
    })
  return found.certificate
}
