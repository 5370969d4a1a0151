import { randomBytes } from 'node:crypto'
import type { Ctx } from '#engines/ctx'
import {
  isListedEmail,
  newDeviceSecret,
  openJson,
  sealText,
  userOfCommandLogin,
} from '#identity/command-logins/index'
import {
  beginSession,
  type Device,
  enterLoginCode,
  openTokenKey,
  readCodeHead,
  readDeviceToken,
  useLoginCode,
  withDeviceKey,
} from '#identity/index'
import { addDeviceOfLogin, storeKeyChange } from '#identity/user-keys/index'
import { ApiError, invalid } from '#lib/errors'

type SealedEntry = { deviceToken: string; encrypt: string; emails?: string[] }

/** Opens what the tool sealed, and checks the code in it. A code that a page asked for counts too, so the list is of its address. */
export async function enterSealedCode(ctx: Ctx, { body }: { body: SealedEntry }) {
  const device = await readDeviceToken(ctx, body.deviceToken)
  if (device.entity.id !== ctx.entity.id) throw new ApiError('deviceTokenInvalid')
  const entry = await withDeviceKey(ctx, device, (key) => openJson(key, body.encrypt))
  const { otp, otpToken } = entry ?? {}
  if (typeof otp !== 'string' || typeof otpToken !== 'string') throw new ApiError('sealedBodyRefused')
  const digits = requireDigits(otp, otpToken)
  const code = await enterLoginCode(ctx, { otpToken, deviceId: device.deviceId, otp: digits })
  if (body.emails && !isListedEmail(body.emails, code.email)) throw new ApiError('proxyAddressRefused')
  return { device, code, signingKey: await openTokenKey(ctx) }
}

/** The six digits of an entry such as B1X-123456, whose letters are those of its token. */
function requireDigits(otp: string, otpToken: string): string {
  const [, head, digits] = /^(?:([A-Z0-9]{3})-)?(\d{6})$/i.exec(otp) ?? []
  if (digits === undefined)
    throw invalid({
      at: 'otp',
      reason: 'must be the six digits of the mail, with or without the letters before them',
      kind: 'otpInvalid',
    })
  if (head !== undefined && head.toUpperCase() !== readCodeHead(otpToken))
    throw invalid({ at: 'otp', reason: 'has the letters of another request', kind: 'otpInvalid' })
  return digits
}

type EnteredCode = Awaited<ReturnType<typeof enterSealedCode>>

/**
 * Begins the session of the user whose code was entered, and gives the device a secret of its own, which opens the user's key from
 * now on.
 */
export async function logInByCommand(ctx: Ctx, _: unknown, { device, code, signingKey }: EnteredCode) {
  await useLoginCode(ctx, code)
  const user = await userOfCommandLogin(ctx, code.email)
  const { userId: userID } = user
  const session = await beginSession(ctx, user, device.deviceId, signingKey)
  const { shown, secret } = newDeviceSecret()
  const { deviceId } = device
  const change = await addDeviceOfLogin(ctx, user.id, { deviceId, secret }).finally(() => secret.fill(0))
  if (change) await storeKeyChange(ctx, change)
  const storageKey = randomBytes(32).toString('base64')
  return sealAnswer(ctx, device, { ...session, userID, userSecret: shown, storageKey })
}

/** The tool encrypts the secret once more for its own storage, with `storageKey`. */
const sealAnswer = (ctx: Ctx, device: Device, answer: object) =>
  withDeviceKey(ctx, device, (key) => ({ encrypt: sealText(key, JSON.stringify(answer)) }))
