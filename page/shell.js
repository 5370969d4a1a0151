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

/** The host of this page, by which users know it again. */
const where = () => make('p', { className: 'where' }, icon('lock'), location.host)

/**
 * Shows a screen in place of the one before. `title` is a text or the two parts of a headline; `focus` gets the focus, or the
 * title does.
 */
export function show({ name, title, lead, art, body = [], foot = [], onBack, focus }) {
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
    pictureOr('naviClose', icon('close')),
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
      pictureOr('naviBack', icon('back')),
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
      line.replaceChildren(
        ...(text ? [pictureOr('errorInfo', icon('info')), make('span', { textContent: text })] : []),
      )
    },
  })
}
