/** Logins of command-line tools: whose keys they open, and whose they never open. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import {
  approveByCommand,
  type CommandSession,
  logInByCommand,
  openForCommand,
  sealedApproval,
  sealedEntry,
  sealForCommand,
  sendApproval,
} from '#testing/builders/command-logins'
import { freshEmail, logIn, sentCode } from '#testing/builders/users'
import { type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { askUser, makePinUser } from '#testing/requests/challenge-requests'

let harness: Harness
let world: World

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  world = worldOf(harness)
})
afterAll(() => harness?.close())

const onBase = () => ({ blockchains: [harness.chain().blockchain] })
const asUser = ({ userToken }: { userToken: string }) => ({ headers: { 'X-User-Token': userToken } })
const walletsOf = async (session: { userToken: string }): Promise<{ id: string }[]> =>
  (await harness.http('GET', '/v1/w3s/wallets', asUser(session))).body.data.wallets
const show = (session: { userToken: string }, id: string) =>
  harness.http('GET', `/v1/w3s/sdk/user/challenges/${id}`, asUser(session))
const refusal = ({ status, body }: { status: number; body: { code: number } }) => [status, body.code]

async function newUser(email = freshEmail()): Promise<CommandSession & { walletId: string }> {
  const session = await logInByCommand(world, email)
  const id = await askUser(world, session, 'initialize', onBase())
  expect((await approveByCommand(world, session, id)).status).toBe('COMPLETE')
  return { ...session, walletId: (await walletsOf(session))[0]!.id }
}
const askToSign = (session: CommandSession, walletId: string) =>
  askUser(world, session, 'sign/message', { walletId, message: 'hello' })

describe('property 270: a login opens a key', () => {
  it('of the user that such a login made, on every device that logs in', async () => {
    const email = freshEmail()
    const first = await newUser(email)
    const second = await logInByCommand(world, email.toUpperCase())
    expect(second.userID).toBe(first.userID)
    expect(second.userSecret).not.toBe(first.userSecret)
    const signatures = []
    for (const session of [first, second])
      signatures.push(await approveByCommand(world, session, await askToSign(session, first.walletId)))
    expect(signatures[0]!.data.signature).toMatch(/^0x[0-9a-f]{130}$/)
    expect(signatures[1]).toEqual(signatures[0])
    // The secret of one device opens nothing for another one.
    const id = await askToSign(second, first.walletId)
    const stolen = await sealedApproval(world, { ...second, userSecret: first.userSecret }, id)
    expect(refusal(await sendApproval(world, second, id, stolen))).toEqual([400, 155113])
  })

  it('no more after a log-out by an operator, until the next login', async () => {
    const email = freshEmail()
    const lost = await newUser(email)
    await harness.http('POST', `/operator/users/${lost.userID}/logOut`)
    expect((await harness.http('GET', '/v1/w3s/wallets', asUser(lost))).status).toBe(401)
    const found = await logInByCommand(world, email)
    const id = await askToSign(found, lost.walletId)
    const old = await sealedApproval(world, { ...found, userSecret: lost.userSecret }, id)
    expect(refusal(await sendApproval(world, found, id, old))).toEqual([400, 155113])
    expect((await approveByCommand(world, found, id)).status).toBe('COMPLETE')
  })

  it('of no user who has a secret: neither of the same address on the page of users nor with a PIN', async () => {
    const email = freshEmail()
    const [onPage, byCommand] = [await logIn(world, email), await newUser(email)]
    const idOf = async (session: { userToken: string }) =>
      (await harness.http('GET', '/v1/w3s/user', asUser(session))).body.data.id
    expect(await idOf(onPage)).not.toBe(await idOf(byCommand))
    expect(await walletsOf(onPage)).toEqual([])
    const asked = await askUser(world, onPage, 'initialize', onBase())
    expect(refusal(await show(onPage, asked))).toEqual([403, 178132])
    const pinUser = await makePinUser(world)
    const id = await askUser(world, pinUser, 'sign/message', { walletId: pinUser.wallet.id, message: 'hi' })
    expect(refusal(await show(pinUser, id))).toEqual([403, 178132])
    const body = { encrypt: sealForCommand(pinUser.encryptionKey, {}) }
    const sent = await harness.http('POST', `/v1/w3s/sdk/user/challenges/${id}/approve`, {
      ...asUser(pinUser),
      body,
    })
    expect(refusal(sent)).toEqual([403, 178132])
    expect(await walletsOf(pinUser)).toHaveLength(1)
    // An app that has the id of a user of such logins gets tokens, and no secret that approves.
    const minted = await world.call('POST', '/v1/w3s/users/token', { userId: byCommand.userID })
    const own = { ...byCommand, ...minted }
    const mintedId = await askToSign(own, byCommand.walletId)
    const approval = await sealedApproval(world, own, mintedId)
    expect(refusal(await sendApproval(world, own, mintedId, approval))).toEqual([400, 155113])
  })

  it('in the database too, whatever the program writes', async () => {
    const [pinUser, byCommand] = [await makePinUser(world), await newUser()]
    const kindsOf = async (userId: string) =>
      (
        await harness.database.all<{ kind: string }>(sql`select w.kind from user_key_wraps w
          join users u on u.entity_id = w.entity_id and u.id = w.user_id where u.user_id = ${userId} order by w.kind`)
      ).map(({ kind }) => kind)
    expect(await kindsOf(byCommand.userID)).toEqual(['device', 'login'])
    const copied = (userId: string, kind: string) =>
      harness.database.run(sql`insert into user_key_wraps select w.entity_id, w.user_id, ${kind}, '', w.sealed_key,
          null, null, null, w.create_date, w.update_date from user_key_wraps w
        join users u on u.entity_id = w.entity_id and u.id = w.user_id where u.user_id = ${userId} limit 1`)
    await expect(copied(pinUser.userId, 'login')).rejects.toThrow(/opens in one way/)
    await expect(copied(byCommand.userID, 'recovery')).rejects.toThrow(/opens in one way/)
    expect(await kindsOf(pinUser.userId)).toEqual(['answers', 'pin'])
  })
})

describe('property 271: an approval by a command-line tool', () => {
  it('works once, for one challenge, and only with the secret of the device', async () => {
    const session = await newUser()
    const [id, other] = [
      await askToSign(session, session.walletId),
      await askToSign(session, session.walletId),
    ]
    const sealed = await sealedApproval(world, session, id)
    const wrong = await sealedApproval(world, session, id, randomBytes(32))
    expect(refusal(await sendApproval(world, session, id, wrong))).toEqual([400, 155113])
    const [done, again] = await Promise.all([1, 2].map(() => sendApproval(world, session, id, sealed)))
    expect([done!.status, again!.status].toSorted()).toContain(200)
    const repeated = await sendApproval(world, session, id, sealed)
    expect(openForCommand(session.encryptionKey, repeated.body.data.encrypt).status).toBe('COMPLETE')
    const moved = await sendApproval(world, session, other, sealed)
    expect(refusal(moved)).toEqual([400, 155118])
  })

  it('is refused as a whole when it does not open', async () => {
    const session = await newUser()
    const id = await askToSign(session, session.walletId)
    const sealed = [
      'not base64',
      sealForCommand(session.encryptionKey, { pinhash: 'e30=' }),
      sealForCommand(randomBytes(32).toString('base64'), { pinhash: 'e30=' }),
    ]
    for (const encrypt of sealed)
      expect(refusal(await sendApproval(world, session, id, { encrypt }))).toEqual([400, 178131])
  })

  it('begins with a code that this device was sent, of the entity of the key', async () => {
    const email = freshEmail()
    const sent = await sentCode(world, email)
    const enter = async (changes: object, http = harness.http) =>
      refusal(
        await http('POST', '/v1/w3s/sdk/users/email/verifyOTP', {
          body: { ...sealedEntry(sent), ...changes },
        }),
      )
    const sealed = (fields: object) => ({
      encrypt: sealForCommand(sent.deviceEncryptionKey, {
        otp: sent.otp,
        otpToken: sent.otpToken,
        ...fields,
      }),
    })
    expect(await enter({ encrypt: sealForCommand(randomBytes(32).toString('base64'), {}) })).toEqual([
      400, 178131,
    ])
    expect(await enter(sealed({ otp: `AAA-${sent.otp}` }))).toEqual([400, 155133])
    expect(await enter({}, (await harness.newEntity()).http)).toEqual([400, 155144])
    const [, domain] = email.split('@')
    expect(await enter({ emails: [`x${email}`, `*@x${domain}`] })).toEqual([403, 178134])
    expect((await enter({ emails: [`x${email}`, `*@${domain}`] }))[0]).toBe(200)
    expect(await enter({})).toEqual([400, 155131])
  })
})
