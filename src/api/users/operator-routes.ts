import Type, { type Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { logOutUser, requireUser, setUserStatus, type User } from '#identity/index'
import { overrideLock } from '#identity/user-keys/index'
import { invalid } from '#lib/errors'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import { endUserShape, showUser, userParams } from './schema.ts'

const unlockBody = Type.Object(
  {
    secret: Type.Enum(['pin', 'answers'], {
      title: 'UserSecret',
      description: 'pin: the PIN. answers: those to the security questions.',
    }),
  },
  { title: 'UnlockUserRequest', description: 'The secret to accept again.', examples: [{ secret: 'pin' }] },
)

async function unlockUser(ctx: Ctx, user: User, { secret }: Static<typeof unlockBody>): Promise<void> {
  if (user[secret].status === 'UNSET')
    throw invalid({
      at: 'secret',
      reason: 'is one that the user has not set: nothing is locked',
      value: secret,
    })
  await overrideLock(ctx, { entityId: ctx.entity.id, userId: user.id, kind: secret })
}

/** Changes a user in the `tx` of the request, and shows the user as changed. */
async function change(ctx: Ctx, userId: string, act: (user: User) => Promise<void>) {
  await act(await requireUser(ctx, userId))
  return showUser(await requireUser(ctx, userId))
}

type ActText = Pick<Endpoint, 'operationId' | 'summary' | 'description'>

const shared = {
  method: 'POST',
  tag: 'Operator',
  auth: 'operator:write',
  params: userParams,
  response: endUserShape,
  errors: ['userNotFound'],
} as const

const acting = (verb: string, described: ActText, act: (ctx: Ctx, user: User) => Promise<void>) =>
  endpoint({
    ...shared,
    ...described,
    path: `/operator/users/{id}/${verb}`,
    verb: (ctx: Ctx, { params }) => change(ctx, params.id, (user) => act(ctx, user)),
  })

/** Decisions of operators about the users of the app. */
export const operatorUserEndpoints = [
  acting(
    'disable',
    {
      operationId: 'disableOperatorUser',
      summary: 'Disable a user',
      description: 'Lets a user get no tokens; those that exist do not count. Wallets and coins stay.',
    },
    (ctx, user) => setUserStatus(ctx, user, 'DISABLED'),
  ),
  acting(
    'enable',
    {
      operationId: 'enableOperatorUser',
      summary: 'Enable a user',
      description: 'Lets a disabled user get tokens again.',
    },
    (ctx, user) => setUserStatus(ctx, user, 'ENABLED'),
  ),
  acting(
    'logOut',
    {
      operationId: 'logOutOperatorUser',
      summary: 'Log a user out',
      description:
        'Ends all sessions and tokens of a user whose device was lost or stolen. No device approves until the user has logged in on it again and entered the recovery code.',
    },
    logOutUser,
  ),
  endpoint({
    ...shared,
    path: '/operator/users/{id}/unlock',
    operationId: 'unlockOperatorUser',
    summary: 'Unlock a secret of a user',
    description:
      'Ends the lock of a PIN or of the answers to the security questions, also the last one, which does not end by itself, and gives all tries back: make sure that it is the user who asks.',
    body: unlockBody,
    verb: (ctx: Ctx, { params, body }) => change(ctx, params.id, (user) => unlockUser(ctx, user, body)),
  }),
]
