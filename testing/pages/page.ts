import { createCipheriv, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { makeUser } from '#testing/builders/users'
import type { World } from '#testing/builders/world'
import { type HttpAnswer, httpAs } from '#testing/platform/tenant'

/** The parts of a world that pages need. */
export type PageWorld = Pick<World, 'call'> & { harness: Pick<World['harness'], 'url'> }

/** What a page knows of its user. */
export type PageSession = { userId: string; userToken: string; encryptionKey: string }

/** A field of a submission, such as `['P', '258014']`. */
export type Field = readonly [kind: string, value: string | Buffer]

export const pin = '258014'
export const questions: readonly Field[] = [
  ['Q', 'Which street did you grow up in?'],
  ['A', 'Elm Street'],
  ['Q', 'What was your first pet?'],
  ['A', 'Bruno'],
]

/** A session of the user, or of a new one. */
export async function newSession(world: PageWorld, userId?: string): Promise<PageSession> {
  const user = userId ?? (await makeUser(world)).id
  return { userId: user, ...(await world.call('POST', '/v1/w3s/users/token', { userId: user })) }
}

/** The page's requests, which send no API key. */
export const askPage = (
  { harness }: PageWorld,
  { userToken }: Pick<PageSession, 'userToken'>,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<HttpAnswer> =>
  httpAs(harness.url, undefined)(method, `/page/challenges/${path}`, {
    ...(body && { body }),
    headers: { 'X-User-Token': userToken },
  })

// biome-ignore lint/suspicious/noExplicitAny: the tests look at its shape
type Shown = any

/** What the page shows of a challenge. */
export async function shownChallenge(world: PageWorld, session: PageSession, id: string): Promise<Shown> {
  const { status, body, text } = await askPage(world, session, 'GET', id)
  expect(status, text).toBe(200)
  return body.data
}

/** Encrypts fields as a page does. */
export function sealFields(
  { encryptionKey }: Pick<PageSession, 'encryptionKey'>,
  bound: readonly [userId: string, challengeId: string, purpose: string],
  fields: readonly Field[],
): string {
  const plain = Buffer.concat(
    fields.flatMap(([kind, value]) => {
      const bytes = Buffer.from(value)
      return [Buffer.from(kind), Buffer.of(bytes.length >> 8, bytes.length & 255), bytes]
    }),
  )
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(encryptionKey, 'base64'), nonce)
  cipher.setAAD(Buffer.from(['bezant submission 1', ...bound].join('\n')))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.of(1), nonce, sealed, cipher.getAuthTag()]).toString('base64')
}

/** Approves a challenge with these fields, by default with the PIN. */
export async function approve(
  world: PageWorld,
  session: PageSession,
  id: string,
  fields: readonly Field[] = [['P', pin]],
): Promise<HttpAnswer> {
  const { user, needs } = await shownChallenge(world, session, id)
  const submission = sealFields(session, [user.id, id, needs], fields)
  return askPage(world, session, 'POST', `${id}/approval`, { purpose: needs, submission })
}

/** Approves a challenge, which must succeed; returns what the page shows then. */
export async function approved(
  world: PageWorld,
  session: PageSession,
  id: string,
  fields?: readonly Field[],
): Promise<Shown> {
  const { status, body, text } = await approve(world, session, id, fields)
  expect(status, text).toBe(200)
  return body.data
}
