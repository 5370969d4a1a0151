import { challengeOf, Refusal } from './backend.js'
import { addDevice, openWithDevice, setDevice } from './flows/device.js'
import { changePin, open, restorePin, setPin } from './flows/pin.js'
import { post, postError } from './parent.js'
import { showFailure, showSuccess, showWaiting } from './screens/ends.js'
import { nameOf } from './screens/request.js'
import { reportCancelBy, setOver } from './shell.js'
import { importKey } from './submission.js'

const steps = { setPin, changePin, restorePin, open, setDevice, addDevice, openWithDevice }

/** Leads the user through one challenge, and tells the app how it ended. */
export async function runChallenge(w3s) {
  reportCancelBy(postError)
  try {
    const run = await begin(w3s)
    if (run.state.needs || run.state.challenge.status === 'IN_PROGRESS') post({ showUi: true })
    while (run.state.needs) run.state = await stepOf(run)(run)
    await end(await settled(run))
  } catch (error) {
    const refusal =
      error instanceof Refusal ? error : new Refusal(-1, 'Something went wrong on this page. Try again.')
    if (!refusal.isTold) postError(refusal)
    fail(refusal)
  }
}

/** Reads the challenge of the session that the app sent. */
async function begin({ auth, challenge, customizations }) {
  const { userToken, encryptionKey } = auth ?? {}
  if (typeof userToken !== 'string' || userToken === '')
    throw new Refusal(155718, 'The app sent no user token.')
  if (typeof challenge?.challengeId !== 'string') throw new Refusal(155116, 'The app sent no challenge.')
  const key = await importKey(String(encryptionKey)).catch(() => {
    throw new Refusal(155118, 'The app sent no encryption key that belongs to the user token.')
  })
  const backend = challengeOf(userToken, challenge.challengeId)
  const state = await backend.read()
  const session = { key, userId: state.user.id, challengeId: state.challenge.id }
  return { backend, session, state, customizations: customizations ?? {} }
}

function stepOf({ state }) {
  const step = steps[state.needs]
  if (step) return step
  throw new Refusal(155117, 'This page is too old for the request: load it again.')
}

const pollMs = 1_000

/** Waits until a challenge that was approved has ended. */
async function settled({ backend, state }) {
  let latest = state
  if (latest.challenge.status === 'IN_PROGRESS') showWaiting()
  while (latest.challenge.status === 'IN_PROGRESS') {
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    latest = await backend.read()
  }
  return latest
}

async function end({ challenge, result, summary }) {
  const { type, status, errorCode, errorMessage } = challenge
  if (status !== 'COMPLETE') {
    const code = status === 'EXPIRED' ? 155121 : Number(errorCode) || -1
    throw new Refusal(code, errorMessage ?? 'The request has expired: go back to the app, and begin again.')
  }
  setOver()
  await showSuccess(type, type === 'CREATE_TRANSACTION' ? nameOf({ type, summary }) : undefined)
  post({ onComplete: true, result: { type, status, ...(result && { data: result }) } })
}

function fail(refusal) {
  setOver()
  post({ showUi: true })
  showFailure(refusal)
}
