/** Logins and approvals of a command-line tool, written from the description of its protocol. */
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  publicEncrypt,
  randomBytes,
  randomUUID,
} from 'node:crypto'
import { freshEmail, type SentLogin, sentCode } from './users.ts'
import type { World } from './world.ts'

export function sealForCommand(key: string, value: object): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key, 'base64'), nonce)
  const sealed = [nonce, cipher.update(JSON.stringify(value)), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(sealed).toString('base64')
}

// biome-ignore lint/suspicious/noExplicitAny: every answer has its own members
export function openForCommand(key: string, text: string): any {
  const bytes = Buffer.from(text, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key, 'base64'), bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(-16))
  return JSON.parse(`${decipher.update(bytes.subarray(12, -16))}${decipher.final()}`)
}

export type CommandSession = {
  deviceId: string
  userToken: string
  encryptionKey: string
  userSecret: string
  userID: string
}

/** The body of a login, whose code was mailed. */
export const sealedEntry = ({ deviceToken, deviceEncryptionKey, otp, otpToken }: SentLogin) => ({
  deviceToken,
  encrypt: sealForCommand(deviceEncryptionKey, { otp, otpToken, idempotencyKey: randomUUID() }),
})

/** The session of a user who has logged in with a command-line tool. */
export async function logInByCommand(world: World, email = freshEmail()): Promise<CommandSession> {
  const sent = await sentCode(world, email)
  const { encrypt } = await world.call('POST', '/v1/w3s/sdk/users/email/verifyOTP', sealedEntry(sent))
  return { deviceId: sent.deviceId, ...openForCommand(sent.deviceEncryptionKey, encrypt) }
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

const askAs = (
  { tenant }: World,
  { userToken }: CommandSession,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
) => tenant.http(method, `/v1/w3s${path}`, { ...(body && { body }), headers: { 'X-User-Token': userToken } })

/** The body that approves a challenge; `secret` is what the tool derives from the secret of its login. */
export async function sealedApproval(
  world: World,
  session: CommandSession,
  challengeId: string,
  secret = sha256(sha256(session.userSecret).toString('base64')),
): Promise<{ encrypt: string }> {
  const { body } = await askAs(world, session, 'GET', `/sdk/user/challenges/${challengeId}`)
  const { publicKey } = openForCommand(session.encryptionKey, body.data.encrypt)
  const key = randomBytes(32)
  const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }
  const nested = {
    pinhash_struct: sealForCommand(key.toString('base64'), { pinhash: secret.toString('base64') }),
    otkey: publicEncrypt({ key: publicKey, ...padding }, key).toString('base64'),
  }
  const pinhash = Buffer.from(JSON.stringify(nested)).toString('base64')
  return { encrypt: sealForCommand(session.encryptionKey, { pinhash, idempotencyKey: randomUUID() }) }
}

export const sendApproval = (world: World, session: CommandSession, challengeId: string, body: object) =>
  askAs(world, session, 'POST', `/sdk/user/challenges/${challengeId}/approve`, body)

/** Approves a challenge, and returns its result. */
export async function approveByCommand(world: World, session: CommandSession, challengeId: string) {
  const sealed = await sealedApproval(world, session, challengeId)
  const answer = await sendApproval(world, session, challengeId, sealed)
  if (answer.status !== 200) throw new Error(`not approved: ${answer.text}`)
  return openForCommand(session.encryptionKey, answer.body.data.encrypt)
}
