import type { Ctx } from '#engines/ctx'
import { opensByLogin } from '#identity/command-logins/index'
import { requireUser } from '#identity/index'
import { userKeyStateOf } from '#identity/user-keys/index'
import { showUser } from './schema.ts'

/** The user of the token. Command-line tools take the status of the PIN for that of the key, also where a login opens it. */
export async function showOwnUser(ctx: Ctx) {
  const { db, entity, clock } = ctx
  const user = await requireUser(ctx, ctx.user!.userId)
  const shown = showUser(user)
  if (!(await opensByLogin(ctx, user.userId))) return shown
  const { opensWith } = await userKeyStateOf(db, { entityId: entity.id, userId: user.id }, clock.nowMs())
  return { ...shown, pinStatus: opensWith ? 'ENABLED' : 'UNSET' }
}
