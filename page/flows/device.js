import { Refusal } from '../backend.js'
import { findSecret, keepSecret } from '../device.js'
import { codeOf } from '../recovery-code.js'
import { showFailure } from '../screens/ends.js'
import { askRecoveryCode, showRecoveryCode } from '../screens/recovery.js'
import { showRequest } from '../screens/request.js'
import { busy } from '../shell.js'
import { wipe } from '../submission.js'
import { requestOf, submit } from './submit.js'

const secretBytes = 32

/** Makes the secrets of a user without a PIN: that of the device stays here, the other one goes with the user. */
export async function setDevice(run) {
  const [device, recovery] = [0, 1].map(() => crypto.getRandomValues(new Uint8Array(secretBytes)))
  // Kept before the server knows it: a page that ends in between loses nothing.
  const isKept = await keepSecret(run.session.userId, device)
  await showRecoveryCode({ code: await codeOf(recovery), isKept })
  const state = await untilSent(() =>
    submit(run, 'setDevice', [
      ['D', device],
      ['R', recovery],
    ]),
  )
  wipe(device, recovery)
  return state
}

export async function openWithDevice(run) {
  const device = await findSecret(run.session.userId)
  if (!device) return addDevice(run)
  await showRequest({ ...requestOf(run), isLast: true })
  try {
    return await untilSent(() => submit(run, 'openWithDevice', [['D', device]]))
  } finally {
    wipe(device)
  }
}

/** Opens the key with the recovery code, and gives this device a secret of its own. */
export async function addDevice(run) {
  const device = crypto.getRandomValues(new Uint8Array(secretBytes))
  let problem
  try {
    for (;;) {
      const recovery = await askRecoveryCode({ error: problem })
      const send = (sealed) => run.backend.addDevice(sealed)
      busy(true)
      const outcome = await submit(
        run,
        'addDevice',
        [
          ['R', recovery],
          ['D', device],
        ],
        send,
      ).catch((error) => {
        if (error.code === 155113)
          return { error: new Refusal(error.code, 'This code does not open your wallet.') }
        throw error
      })
      wipe(recovery)
      if (outcome.error) {
        problem = reasonOf(outcome.error)
        continue
      }
      await keepSecret(run.session.userId, device)
      return outcome.state
    }
  } finally {
    wipe(device)
  }
}

/** Repeats what the network lost, as often as the user wants. */
async function untilSent(send) {
  for (;;) {
    const { state, error } = await send()
    if (state) return state
    await new Promise((resolve) => showFailure(error, resolve))
  }
}
