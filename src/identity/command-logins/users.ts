import type { IdentityCtx } from '../identity.ts'
import { userOfIdentity } from '../sessions.ts'
import { hasIdentityOf } from '../store/identities.ts'
import type { User } from '../store/users.ts'

/** The issuer of these identities. An address that logs in on the page of users is another user, whose key no login opens. */
const issuer = 'command-login'

/** The user behind a proven address, who is made at the first login by a command-line tool. */
export const userOfCommandLogin = (ctx: IdentityCtx, email: string): Promise<User> =>
  userOfIdentity(ctx, { issuer, subject: email })

/** Whether a login opens the key of this user. */
export const opensByLogin = ({ db, entity }: Pick<IdentityCtx, 'db' | 'entity'>, userId: string) =>
  hasIdentityOf(db, entity.id, issuer, userId)
