import { icon, make } from '../dom.js'
import { post } from '../parent.js'
import { mainButton, show } from '../shell.js'
import { say } from '../texts.js'

const done = {
  INITIALIZE: 'Your wallet is ready',
  SET_PIN: 'Your PIN is set',
  CHANGE_PIN: 'Your PIN is changed',
  RESTORE_PIN: 'Your PIN is changed',
  CREATE_WALLET: 'Your wallet is ready',
  SIGN_MESSAGE: 'Signed',
  SIGN_TYPEDDATA: 'Signed',
  SIGN_TRANSACTION: 'Signed',
}

/** Time in which the user sees that it worked. */
const shownMs = 1_200

/** Shows that it worked; resolves by itself, or when the user goes on. */
export function showSuccess(type) {
  return new Promise((resolve) => {
    show({
      name: 'success',
      title: done[type] ?? 'Approved',
      lead: 'You go back to the app now.',
      art: make('span', { className: 'tick-mark' }, icon('check')),
      foot: [mainButton(say('common', 'continue'), resolve)],
    })
    setTimeout(resolve, shownMs)
  })
}

/** Shows why it ends here, or what the user may try again. */
export function showFailure({ code, message }, onRetry) {
  show({
    name: 'failure',
    title: 'This did not work',
    lead: message,
    art: make('span', { className: 'cross-mark' }, icon('close')),
    body: code > 0 ? [make('p', { className: 'small', textContent: `Code ${code}` })] : [],
    foot: [
      onRetry
        ? mainButton(say('common', 'retry'), onRetry)
        : mainButton('Close', () => post({ onClose: true })),
    ],
  })
}

/** Shows that the server works on it. */
export function showWaiting() {
  show({
    name: 'waiting',
    title: 'One moment',
    lead: 'The request is being carried out.',
    art: make('span', { className: 'spinner' }),
  })
}

/** Shows a lock, and resolves when its time is over. */
export function waitForLock({ title, until, beside }) {
  return new Promise((resolve) => {
    const left = make('p', { className: 'countdown', attributes: { role: 'timer' } })
    const endless = until - Date.now() > 366 * 86_400_000
    show({
      name: 'locked',
      title,
      lead: endless
        ? 'It stays locked after too many wrong entries.'
        : `There were too many wrong entries. Try again at ${clock(until)}.`,
      art: icon('lock'),
      body: [...(endless ? [] : [left]), ...(beside ? [make('div', { className: 'beside' }, beside)] : [])],
    })
    const tick = () => {
      const seconds = Math.ceil((until - Date.now()) / 1_000)
      left.textContent = countdown(Math.max(seconds, 0))
      if (seconds > 0) return
      clearInterval(timer)
      resolve()
    }
    const timer = setInterval(tick, 1_000)
    tick()
  })
}

const clock = (ms) => {
  const isToday = new Date(ms).toDateString() === new Date().toDateString()
  return new Date(ms).toLocaleString(
    [],
    isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' },
  )
}

function countdown(seconds) {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  const parts = hours > 0 ? [hours, minutes, seconds % 60] : [minutes, seconds % 60]
  return parts.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':')
}
