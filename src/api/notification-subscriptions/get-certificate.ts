import { findSigningCertificate } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { ApiError } from '#lib/errors'

/** `<id>.pem` as PEM. */
export async function getCertificate(ctx: Ctx, name: string): Promise<string> {
  const found = await findSigningCertificate(ctx.db, name.replace(/\.pem$/, ''))
  if (!found) throw new ApiError('certificateNotFound')
  return found.certificate
}
