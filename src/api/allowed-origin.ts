import type { Ctx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import { isPageOrigin } from '#runtime/page-origins/page-origins'

/** Refuses a request of the page for a site that the entity does not list. Without a site no page is framed. */
export async function requireAllowedOrigin(ctx: Ctx, origin: string | undefined): Promise<void> {
  if (origin === undefined || (await isPageOrigin(ctx, origin, ctx.entity.id))) return
  throw new ApiError('pageOriginRefused')
}
