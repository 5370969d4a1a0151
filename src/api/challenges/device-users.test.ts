/** Users who log in by e-mail: a secret of their device takes the place of a PIN. */
import { randomBytes, randomUUID } from 'node:crypto'
import { verifyMessage } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshEmail, logIn } from '#testing/builders/users'
import { type World, worldOf } from '#testing/builders/world'
import {
  approve,
  approved,
  askPage,
  type Field,
  newSession,
  type PageSession,
  sealFields,
  shownChallenge,
} from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { askUser } from '#testing/requests/challenge-requests'

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness({ engines: false })
  world = worldOf(harness)
})
afterAll(() => harness?.close())

const email = freshEmail()
const recovery = randomBytes(32)
const secretOf: Record<'phone' | 'laptop', Field> = {
  phone: ['D', randomBytes(32)],
  laptop: ['D', randomBytes(32)],
}
const session = async (): Promise<PageSession> => ({ userId: '', ...(await logIn(world, email)) })

async function walletOf({ userToken }: PageSession) {
  const { body } = await harness.http('GET', '/v1/w3s/wallets', { headers: { 'X-User-Token': userToken } })
  return body.data.wallets[0] as { id: string; address: `0x${string}`; userId: string }
}

async function signedBy(on: PageSession, secret: Field): Promise<boolean> {
  const { id: walletId, address } = await walletOf(on)
  const id = await askUser(world, on, 'sign/message', { walletId, message: 'hello' })
  const { result } = await approved(world, on, id, [secret])
  return verifyMessage({ address, message: 'hello', signature: result.signature })
}

it('approve with the secret of their device, and on another one after the recovery secret', async () => {
  const phone = await session()
  const id = await askUser(world, phone, 'initialize', { blockchains: ['BASE-SEPOLIA'] })
  expect((await shownChallenge(world, phone, id)).needs).toBe('setDevice')
  await approved(world, phone, id, [secretOf.phone, ['R', recovery]])
  expect(await signedBy(phone, secretOf.phone)).toBe(true)

  const laptop = await session()
  const { id: walletId } = await walletOf(laptop)
  const asked = await askUser(world, laptop, 'sign/message', { walletId, message: 'hello' })
  const { user, needs } = await shownChallenge(world, laptop, asked)
  expect(needs).toBe('addDevice')
  const early = sealFields(laptop, [user.id, asked, 'openWithDevice'], [secretOf.phone])
  const refused = await askPage(world, laptop, 'POST', `${asked}/approval`, {
    purpose: 'openWithDevice',
    submission: early,
  })
  expect([refused.status, refused.body.code]).toEqual([400, 155117])
  const add = async (secret: Buffer) => {
    const fields: Field[] = [['R', secret], secretOf.laptop]
    const submission = sealFields(laptop, [user.id, asked, 'addDevice'], fields)
    const { status, body } = await askPage(world, laptop, 'POST', `${asked}/device`, { submission })
    return [status, body.code ?? body.data.needs]
  }
  expect(await add(randomBytes(32))).toEqual([400, 155113])
  expect(await add(recovery)).toEqual([200, 'openWithDevice'])
  const wrong = await approve(world, laptop, asked, [secretOf.phone])
  expect([wrong.status, wrong.body.code]).toEqual([400, 155113])
  expect((await approved(world, laptop, asked, [secretOf.laptop])).challenge.status).toBe('COMPLETE')
  expect(await signedBy(phone, secretOf.phone)).toBe(true)
})

it('have no PIN, and the app cannot approve for them', async () => {
  const phone = await session()
  const { userId, id: walletId } = await walletOf(phone)
  const minted = await newSession(world, userId)
  for (const { userToken } of [phone, minted])
    for (const [method, path] of [
      ['POST', 'pin'],
      ['PUT', 'pin'],
      ['POST', 'pin/restore'],
    ]) {
      const { status, body } = await harness.http(method!, `/v1/w3s/user/${path}`, {
        body: { idempotencyKey: randomUUID() },
        headers: { 'X-User-Token': userToken },
      })
      expect([path, status, body.code]).toEqual([path, 403, 155122])
    }
  const id = await askUser(world, minted, 'sign/message', { walletId, message: 'x' })
  const { status, body } = await askPage(world, minted, 'GET', id)
  expect([status, body.code]).toEqual([400, 155113])
})

it('get no PIN from the app before they approve anything', async () => {
  const { userToken } = await logIn(world, freshEmail())
  const claims = JSON.parse(Buffer.from(userToken.split('.')[1]!, 'base64url').toString('utf8'))
  const minted = await newSession(world, claims.sub)
  const ask = (path: string) =>
    harness.http('POST', `/v1/w3s/user/${path}`, {
      body: { idempotencyKey: randomUUID() },
      headers: { 'X-User-Token': minted.userToken },
    })
  const answers = [await ask('initialize'), await ask('pin')]
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
    [400, 155113],
    [403, 155122],
  ])
  const early = await harness.http('POST', '/v1/w3s/user/wallets', {
    body: { idempotencyKey: randomUUID(), blockchains: ['BASE-SEPOLIA'] },
    headers: { 'X-User-Token': userToken },
  })
  expect([early.status, early.body.code]).toEqual([400, 155110])
  expect(early.body.message).toContain('/v1/w3s/user/initialize')
  // Made by the user's own session, and taken over by the app's.
  const own = await askUser(world, { userToken }, 'initialize')
  const { status, body } = await askPage(world, minted, 'GET', own)
  expect([status, body.code]).toEqual([400, 155113])
})
