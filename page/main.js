import { logInByEmail, logInBySocial, Refusal } from './backend.js'
import { runChallenge } from './challenge.js'
import { deviceId } from './device.js'
import { icon } from './dom.js'
import { isFramed, post, postError, receive } from './parent.js'
import { reasonOf } from './reasons.js'
import { askCode } from './screens/email.js'
import { showFailure } from './screens/ends.js'
import { busy, reportCancelBy, setOver, show } from './shell.js'
import { translate } from './texts.js'
import { dress, paint } from './theme.js'

const known = ({ code, message }) => ({ code, message })
const refusalOf = (error) =>
  error instanceof Refusal ? error : new Refusal(-1, 'Something went wrong on this page. Try again.')
const texts = (values) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : '']),
  )

/** Errors of a login that another code does not mend. */
const ended = [155143, 155144, 155145, 155109, 3]

async function verifyEmail({ emailVerification }) {
  const { deviceToken, deviceEncryptionKey, otpToken } = emailVerification ?? {}
  reportCancelBy((error) => post({ onEmailLoginVerified: { error } }))
  let problem
  for (;;) {
    const otp = await askCode({ error: problem })
    busy(true)
    try {
      const result = await logInByEmail(texts({ deviceToken, deviceEncryptionKey, otpToken, otp }))
      setOver()
      return post({ onEmailLoginVerified: { result } })
    } catch (error) {
      const refusal = refusalOf(error)
      post({ onEmailLoginVerified: { error: known(refusal) } })
      if (ended.includes(refusal.code)) return showFailure(refusal)
      problem = reasonOf(refusal)
    }
  }
}

/** Checks the token of a social provider; nothing is shown. */
async function verifyToken({ socialVerification }) {
  const { token, deviceToken, deviceEncryptionKey, socialLoginProvider } = socialVerification ?? {}
  const body = texts({ deviceToken, deviceEncryptionKey, token })
  try {
    const result = await logInBySocial({ ...body, provider: String(socialLoginProvider) })
    post({ onSocialLoginVerified: { result } })
  } catch (error) {
    post({ onSocialLoginVerified: { error: known(refusalOf(error)) } })
  }
}

const pages = { '/': runChallenge, '/social/verify-email': verifyEmail, '/social/verify-token': verifyToken }

/** Browsers encrypt only in pages whose frames are all secure: https, or this machine. */
function refuseInsecure() {
  const refusal = new Refusal(155702, 'The app is not loaded over https, so nothing can be encrypted here.')
  postError(refusal)
  post({ showUi: true })
  showFailure(refusal)
}

async function start() {
  if (!isFramed)
    return show({
      name: 'alone',
      isOwn: true,
      title: 'Nothing to approve here',
      lead: 'This page opens inside of an app, when the app asks you to approve something. Do not enter your PIN anywhere else.',
      art: icon('shield'),
    })
  if (!isSecureContext) return refuseInsecure()
  if (location.pathname === '/device-id') {
    // Before the id: sites close the frame when they have it.
    post({ onFrameReady: true })
    return post({ deviceId: await deviceId() })
  }
  const w3s = await receive()
  const { themeColor, resources, localizations } = w3s.customizations ?? {}
  translate(localizations)
  paint(themeColor)
  dress(resources)
  document.documentElement.classList.add('framed')
  return pages[location.pathname](w3s)
}

// A page that the browser kept would show a request that may have ended.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
await start()
