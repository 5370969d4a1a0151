import { halves, icon, make } from '../dom.js'
import { post } from '../parent.js'
import { reasonOf } from '../reasons.js'
import { mainButton, show } from '../shell.js'
import { own } from '../texts.js'

const backToApp = 'You can go back to the app.'

/** The last word on each type: what was done, and what comes of it. */
const done = {
  INITIALIZE: ['Your wallet is ready', backToApp],
  CREATE_WALLET: ['Your wallet is ready', backToApp],
  SET_PIN: ['Your PIN is set', 'You will enter it here to approve what the app asks for.'],
  CHANGE_PIN: ['Your PIN is changed', 'From now on, enter the new one.'],
  RESTORE_PIN: ['Your PIN is changed', 'From now on, enter the new one.'],
  CREATE_TRANSACTION: ['Transfer approved', 'It is on its way. The app shows when it has arrived.'],
  CONTRACT_EXECUTION: ['Contract call approved', 'It is on its way. The app shows when it is done.'],
  WALLET_UPGRADE: ['Upgrade approved', 'It is on its way. The app shows when it is done.'],
  ACCELERATE_TRANSACTION: ['Approved', 'The transaction is sent again at a higher price.'],
  CANCEL_TRANSACTION: [
    'Approved',
    'The transaction is replaced by one that moves nothing, if it is not final yet.',
  ],
  SIGN_MESSAGE: ['Signed', 'The app has your signature.'],
  SIGN_TYPEDDATA: ['Signed', 'The app has your signature.'],
  SIGN_TRANSACTION: ['Signed', 'The app has your signed transaction, and can send it.'],
}

/** Time in which the user sees that it worked. */
const shownMs = 2_500

/** Shows what came of it; resolves by itself, or when the user goes on. `brief` is the request in a few words. */
export function showSuccess(type, brief) {
  const [title, lead] = done[type] ?? ['Approved', backToApp]
  return new Promise((resolve) => {
    show({
      name: 'success',
      isOwn: true,
      title,
      lead,
      art: make('span', { className: 'tick-mark' }, icon('check')),
      body: brief ? [movedBy(brief)] : [],
      foot: [mainButton('Back to the app', resolve)],
    })
    setTimeout(resolve, shownMs)
  })
}

/** What was approved, with an address that breaks in its middle alone. */
const movedBy = ({ name, to }) =>
  make(
    'p',
    { className: 'small moved' },
    to ? `${name} to` : name,
    ...(to ? [make('br'), make('span', { className: 'mono' }, ...halves(to))] : []),
  )

/** Shows why it ends here, or what the user may try again. */
export function showFailure(refusal, onRetry) {
  const { code } = refusal
  show({
    name: 'failure',
    isOwn: true,
    title: 'This did not work',
    lead: reasonOf(refusal),
    art: make('span', { className: 'cross-mark' }, icon('close')),
    body:
      code > 0
        ? [make('p', { className: 'small', textContent: `Code ${code}, for the support of the app` })]
        : [],
    foot: [
      onRetry
        ? mainButton(own('common', 'retry'), onRetry)
        : mainButton('Close', () => post({ onClose: true })),
    ],
  })
}

/** Shows that the server works on it. */
export function showWaiting() {
  show({
    name: 'waiting',
    isOwn: true,
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
      isOwn: true,
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
