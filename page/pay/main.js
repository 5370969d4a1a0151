import { apply } from './apply.js'
import { view } from './view.js'
import { spokenOf, titleOf } from './words.js'

/** Keeps the page of a payment up to date. The server has written it already: everything here is for those who stay on it. */

const pollMs = 2500
const patientMs = 15_000
const main = document.getElementById('page')
const spoken = document.getElementById('spoken')
const path = location.pathname
const ended = ['paid', 'overpaid', 'endedUnderpaid', 'expired', 'cancelled', 'failed', 'refunded']

let data
/** The difference between the clock of the server, which decides, and that of this device. */
let aheadMs = 0
let stage = main.dataset.stage

document.documentElement.classList.add('live')

function show() {
  if (!data) return
  const chosen = new URLSearchParams(location.search)
  const leftMs = data.expiresOn ? Date.parse(data.expiresOn) - Date.now() - aheadMs : undefined
  apply(main, view(data, { path, chain: chosen.get('chain'), of: chosen.get('of'), leftMs, isLive: true }))
  document.title = titleOf(data)
}

async function ask() {
  const response = await fetch(`/page/payments/${path.split('/').at(-1)}`)
  if (!response.ok) throw new Error(String(response.status))
  data = (await response.json()).data
  aheadMs = Date.parse(data.now) - Date.now()
  show()
  if (data.stage === stage) return
  stage = data.stage
  main.dataset.stage = stage
  spoken.textContent = spokenOf(data)
}

/** Asks again and again; more seldom where the payment is over, or the page is not seen, or the server cannot answer. */
async function follow() {
  let waitMs = pollMs
  try {
    if (!document.hidden) await ask()
    main.classList.remove('stale')
    if (data && ended.includes(data.stage)) waitMs = patientMs
  } catch {
    main.classList.add('stale')
    waitMs = patientMs
  }
  setTimeout(follow, waitMs)
}

async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy)
  button.dataset.copied = ''
  spoken.textContent = 'Copied'
  setTimeout(() => delete button.dataset.copied, 1600)
}

document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target : undefined
  const button = target?.closest('button[data-copy]')
  if (button)
    return void copy(button).catch(() => (spoken.textContent = 'This browser does not let the page copy.'))
  const choice = target?.closest('a[data-choose]')
  if (!choice || !data || event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  history.replaceState(null, '', choice.href)
  show()
})
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void ask().catch(() => undefined)
})
setInterval(show, 1000)
void follow()
