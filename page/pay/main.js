import { apply } from './apply.js'
import { forgetSent, keepSent, sentFrom } from './sent.js'
import { methodOf, stepText, view } from './view.js'
import { endIn, findWallets, payWith } from './wallets.js'
import { spokenOf, titleOf } from './words.js'

/** Keeps the page of a payment up to date. The server has written it already: everything here is for those who stay on it. */

const pollMs = 2500
const patientMs = 15_000
const main = document.getElementById('page')
const spoken = document.getElementById('spoken')
const path = location.pathname
const ended = ['paid', 'overpaid', 'endedUnderpaid', 'expired', 'cancelled', 'failed', 'refunded']
const language = document.documentElement.lang
const { default: words } = await import(`./languages/${language}.js`)

let data
/** The difference between the clock of the server, which decides, and that of this device. */
let aheadMs = 0
let stage = main.dataset.stage
let wallets = []
/** The step of a payment with a wallet, or the end of the last one; absent before. */
let step

document.documentElement.classList.add('live')

const chosen = () => {
  const query = new URLSearchParams(location.search)
  return { chain: query.get('chain'), of: query.get('of'), lang: query.get('lang') }
}

function show() {
  if (!data) return
  const leftMs = data.expiresOn ? Date.parse(data.expiresOn) - Date.now() - aheadMs : undefined
  const walletState = sentFrom(path, data) ?? step
  const choice = { path, ...chosen(), language, words }
  apply(main, view(data, { ...choice, leftMs, isLive: true, wallets, walletState }))
  document.title = titleOf(data, words)
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
  spoken.textContent = spokenOf(data, words)
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
  spoken.textContent = words.copied
  setTimeout(() => delete button.dataset.copied, 1600)
}

/** Pays what is missing on the chosen chain with a wallet of the browser; one payment at a time. */
async function pay(id) {
  const wallet = wallets.find((each) => each.id === id)
  const method = data && methodOf(data, chosen())
  if (!wallet || !method?.browserCall || step?.isBusy || sentFrom(path, data)) return
  const { chain, browserCall } = method
  const amount = `${data.amountMissing} ${data.token}`
  const tell = (name, more) => {
    step = { step: name, wallet: wallet.name, tone: 'open', ...more }
    spoken.textContent = stepText(step, amount, method, words)
    show()
  }
  const isCurrent = async () => {
    await ask()
    const now = data.paymentMethods.find((each) => each.chain === chain)
    return JSON.stringify(now?.browserCall) === JSON.stringify(browserCall)
  }
  try {
    const hash = await payWith(wallet.provider, browserCall, {
      tell: (name) => tell(name, { isBusy: true }),
      isCurrent,
    })
    keepSent(path, hash)
    tell('sent')
    step = undefined
  } catch (error) {
    tell(endIn(error), { tone: 'bad' })
  }
  show()
}

document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target : undefined
  const button = target?.closest('button[data-copy]')
  if (button) return void copy(button).catch(() => (spoken.textContent = words.cannotCopy))
  const payer = target?.closest('button[data-pay]')
  if (payer) return void pay(payer.dataset.pay)
  if (target?.closest('button[data-again]')) {
    forgetSent(path)
    return show()
  }
  const choice = target?.closest('a[data-choose]')
  if (!choice || !data || event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  history.replaceState(null, '', choice.href)
  // An end that names the network before is none of this one.
  if (!step?.isBusy) step = undefined
  show()
})
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void ask().catch(() => undefined)
})
findWallets((found) => {
  wallets = found
  show()
})
setInterval(show, 1000)
void follow()
