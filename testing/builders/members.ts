import { addMember, grantRole, hashPassword } from '#identity/members/index'
import { codeAt } from '#identity/members/one-time-code'
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

/** The present code of a secret, which is text in base 32 (RFC 4648); `later` is a number of periods. */
export const codeOf = (secret: string, later = 0): string =>
  codeAt(bytesOf(secret), Math.floor(Date.now() / 30_000) + later)

function bytesOf(text: string): Buffer {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...text].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
}
