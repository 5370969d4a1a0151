import type { Ctx } from '#engines/ctx'
import {
  beginSession,
  enterLoginCode,
  issueDeviceToken,
  keepAnswer,
  loginMs,
  makeLoginCode,
  openTokenKey,
  replaceLoginCode,
  type SentCode,
  type SigningKey,
  useLoginCode,
  userOfEmail,
} from '#identity/index'
import { ApiError, invalid } from '#lib/errors'
import type { Mailer } from '#runtime/mail/mailer'
import { openDevice, requireDeviceId, scopeOf } from './device-scope.ts'

/** The context of requests that send mails; a server without SMTP has no mailer. */
type MailCtx = Ctx & { mailer?: Mailer }

/** One @ and a dot behind it, without spaces, controls and the characters that separate addresses. */
const addressPattern =
  /^[^\s@"(),:;<>[\]\\\p{C}]{1,64}@[^\s@"(),:;<>[\]\\\p{C}]+\.[^\s@"(),:;<>[\]\\.\p{C}]+$/u

/** The address in lower case, in which it is counted and compared: letter case does not distinguish addresses. */
function requireEmail(text: string): string {
  if (!addressPattern.test(text))
    throw invalid({
      at: 'email',
      reason: 'must be an address such as ada@example.com',
      value: text,
      kind: 'emailInvalid',
    })
  return text.toLowerCase()
}

/** Sends the code once the request's `tx` has committed: a slow SMTP server holds neither it nor the answer. */
function sendCode(ctx: MailCtx, email: string, { code, head }: SentCode): void {
  const { mailer } = ctx
  if (!mailer) throw new ApiError('mailNotConfigured')
  const text = `Your code is ${code}. It works once, within ten minutes.\n\nA program that shows letters before the code shows ${head}. If it shows others, the code is not for it.\n\nIf you did not ask for it, ignore this mail.\n`
  const mail = { to: email, subject: `Your code is ${code}`, text }
  ctx.afterCommit.push(() => mailer.send(ctx.entity.id, mail))
}

/** Begins a login: a token for the device, and a code by mail. */
export async function createEmailToken(
  ctx: MailCtx,
  { body }: { body: { deviceId: string; email: string } },
  signingKey: SigningKey,
) {
  const [deviceId, email] = [requireDeviceId(body.deviceId), requireEmail(body.email)]
  const sent = await makeLoginCode(ctx, { email, deviceId }, signingKey)
  sendCode(ctx, email, sent)
  const { id, ...device } = await issueDeviceToken(ctx, deviceId, signingKey)
  const answer = { ...device, otpToken: sent.otpToken }
  await keepAnswer(ctx, id, answer, loginMs)
  return answer
}

/** Sends another code in place of an earlier one. */
export async function resendOtp(
  ctx: MailCtx,
  { body }: { body: { otpToken: string; email: string; deviceId: string } },
  signingKey: SigningKey,
) {
  const email = requireEmail(body.email)
  const sent = await replaceLoginCode(ctx, { ...body, email }, signingKey)
  sendCode(ctx, email, sent)
  const answer = { otpToken: sent.otpToken }
  await keepAnswer(ctx, sent.id, answer, loginMs)
  return answer
}

type Entered = {
  deviceToken: string
  deviceEncryptionKey: string
  otpToken: string
  otp: string
  origin?: string
}

/** Checks the entry of a page. */
export async function enterCode(ctx: Ctx, { body }: { body: Entered }) {
  const device = await openDevice(ctx, body)
  if (!/^\d{6}$/.test(body.otp))
    throw invalid({ at: 'otp', reason: 'must be the six digits of the mail', kind: 'otpInvalid' })
  const code = await enterLoginCode(scopeOf(ctx, device), { ...body, deviceId: device.deviceId })
  return { device, code, signingKey: await openTokenKey(ctx) }
}

/** Begins the session of the user whose code was entered. */
export async function logInByCode(
  ctx: Ctx,
  _: unknown,
  { device, code, signingKey }: Awaited<ReturnType<typeof enterCode>>,
) {
  const scope = scopeOf(ctx, device)
  await useLoginCode(scope, code)
  const user = await userOfEmail(scope, code.email)
  return beginSession(scope, user, device.deviceId, signingKey)
}
