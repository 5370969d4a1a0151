import { addMember, grantRole, hashPassword } from '#identity/members/index'
import type { MemberRole } from '#runtime/scope'
import { httpAs } from '#testing/platform/tenant'
import { nextCount, type World } from './world.ts'

/** The texts that a member signs in with. */
type SignInText = { name: string; password: string; code?: string; entityId?: string }

const password = 'correct horse battery staple'

/** Adds a member with a role in the entity, as `bezant members add` does. */
export async function makeMember(
  { harness: { ctx }, tenant }: World,
  role: MemberRole = 'operator',
): Promise<{ name: string; password: string }> {
  const name = `member-${nextCount()}`
  const hashed = await hashPassword(password)
  await ctx.database.tx(async (db) => {
    const scope = { db, clock: ctx.clock, actor: 'test' }
    const member = await addMember(scope, { name, password: hashed })
    await grantRole(scope, member!, tenant.entityId, role)
  })
  return { name, password }
}

/** Signs in as a browser does; `http` sends requests as the pages of the console do. */
export async function signInAs({ harness }: Pick<World, 'harness'>, body: SignInText) {
  const plain = httpAs(harness.url, undefined)
  const answer = await plain('POST', '/operator/session', { body })
  if (answer.status !== 201) throw new Error(`the sign-in was refused: ${answer.text}`)
  const cookie = cookieIn(answer.headers.get('set-cookie') ?? '')
  const headers = { cookie, 'x-bezant-console': answer.body.data.csrfToken as string }
  const http: typeof plain = (method, path, options = {}) =>
    plain(method, path, { ...options, headers: { ...headers, ...options.headers } })
  return { session: answer.body.data, headers, http }
}

/** The name and value of a cookie, as a browser sends them back. */
export const cookieIn = (header: string): string => header.split(';')[0]!
