import { icon, make } from './dom.js'
import { post } from './parent.js'
import { pictureOr } from './theme.js'

const card = document.getElementById('card')
const spoken = document.getElementById('spoken')

/** Says a text to screen readers. */
export function speak(text) {
  spoken.textContent = ''
  setTimeout(() => {
    spoken.textContent = text
  }, 50)
}

/** A frame that the app has not shown yet has no width, and takes no focus. */
const whenSeen = (act) => (innerWidth > 0 ? act() : addEventListener('resize', act, { once: true }))

let isBusy = false

let report = () => {}

/** Sets how the app is told that the user gives up; nothing is told once it knows how the request ended. */
export function reportCancelBy(tell) {
  report = tell
}
export const setOver = () => reportCancelBy(() => {})

/** The user gives up: the app is told, and removes the frame. */
function cancel() {
  if (isBusy) return
  report({ code: 155701, message: 'The user closed the page.' })
  post({ onClose: true })
}

/** Time in which the user reads the last word; the page closes by itself then. */
const lastWordMs = 4_000

/** The user says no: the app is told at once, and the page says that nothing happened. */
export function decline() {
  if (isBusy) return
  report({ code: 155701, message: 'The user declined the request.' })
  setOver()
  const close = () => post({ onClose: true })
  show({
    name: 'declined',
    isOwn: true,
    title: 'You declined',
    lead: 'Nothing was approved and nothing was sent. You can close this page.',
    art: make('span', { className: 'cross-mark' }, icon('close')),
    foot: [mainButton('Close', close)],
  })
  setTimeout(close, lastWordMs)
}

/** The host of this page, by which users know it again. */
const where = () => make('p', { className: 'where' }, icon('lock'), location.host)

/**
 * Shows a screen in place of the one before. `title` is a text or the two parts of a headline; `focus` gets the focus, or the
 * title does. A screen that `isOwn` has the ground, the font and the drawings of the page: it shows a request, a warning or an end.
 */
export function show({ name, isOwn = false, title, lead, art, body = [], foot = [], onBack, focus }) {
  const [first, second = ''] = Array.isArray(title) ? title : [title]
  const heading = make(
    'h1',
    { id: 'title', tabIndex: -1 },
    first,
    ...(second ? [' ', make('span', { className: 'second', textContent: second })] : []),
  )
  const close = make(
    'button',
    { type: 'button', className: 'round', onclick: cancel, attributes: { 'aria-label': 'Close' } },
    isOwn ? icon('close') : pictureOr('naviClose', icon('close')),
  )
  const back =
    onBack &&
    make(
      'button',
      {
        type: 'button',
        className: 'round',
        onclick: () => !isBusy && onBack(),
        attributes: { 'aria-label': 'Back' },
      },
      isOwn ? icon('back') : pictureOr('naviBack', icon('back')),
    )
  const content = make(
    'div',
    { className: 'content' },
    art && make('div', { className: 'art' }, art),
    heading,
    lead && make('p', { className: 'lead', textContent: lead }),
    ...body,
  )
  card.dataset.screen = name
  card.classList.toggle('own', isOwn)
  card.replaceChildren(
    make('div', { className: 'bar' }, back || make('span'), where(), close),
    content,
    ...(foot.length > 0 ? [make('div', { className: 'foot' }, ...foot)] : []),
  )
  card.hidden = false
  document.title = `${first} ${second}`.trim()
  busy(false)
  speak(document.title)
  whenSeen(() => (focus ?? heading).focus({ preventScroll: true }))
}

/** While the page waits for the server, nothing on it can be pressed or changed. */
export function busy(on) {
  isBusy = on
  card.setAttribute('aria-busy', String(on))
  for (const part of card.querySelectorAll('.content, .foot, .bar')) part.inert = on
  if (on) speak('One moment')
}

/** The button that leads on. It acts once: a second press comes to a page that is busy, or to another screen. */
export function mainButton(text, act, { disabled = false } = {}) {
  const button = make('button', {
    type: 'button',
    className: 'main',
    textContent: text,
    disabled,
    attributes: { 'data-testid': 'footer-main-btn' },
  })
  let isPressed = false
  button.onclick = async () => {
    if (isPressed || isBusy) return
    isPressed = true
    try {
      await act()
    } finally {
      isPressed = false
    }
  }
  return button
}

/** A place for an error, which screen readers say when it is filled. */
export function errorLine() {
  const line = make('p', { className: 'error', hidden: true, attributes: { role: 'alert' } })
  return Object.assign(line, {
    show(text) {
      line.hidden = !text
      line.replaceChildren(...(text ? [icon('info'), make('span', { textContent: text })] : []))
    },
  })
}
