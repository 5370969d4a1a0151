import { visible } from '../dom.js'
import { drawing, el } from './tree.js'
import { leftOf, progressOf, timeOf, wordsOf } from './words.js'

/**
 * The page of a payment, for the server and the browser alike. `data` is the answer of `GET /page/payments/{token}`; `options` has the
 * chosen chain, whether the code is of the address alone, and where a script keeps the page up to date the rest of the time to pay.
 */
export function view(data, options) {
  const method = methodOf(data, options)
  return [
    head(data),
    el(
      'div',
      { class: method ? 'parts' : 'parts single' },
      el('div', { class: 'about' }, due(data, options), state(data)),
      method && data.paymentMethods.length > 1 && chains(data, method, options),
      method && code(data, method, options),
      method && facts(data, method),
      payments(data),
    ),
    foot(data, options),
  ]
}

/** The page of a link that leads nowhere, or that cannot be answered now. */
export const problemView = (title, text) => [
  el('div', { class: 'parts single' }, notice('bad', 'alert', title, text, 'h1')),
]

export const methodOf = ({ paymentMethods }, { chain }) =>
  paymentMethods.find((method) => method.chain === chain) ?? paymentMethods[0]

/** Keeps what the customer chose in the address, so that each choice is a link. */
const linkTo = ({ chain, of }) => `?${new URLSearchParams({ chain, ...(of && { of }) })}`

const head = ({ merchantName, description, isTest }) =>
  el(
    'header',
    { class: 'head' },
    isTest && el('p', { class: 'test' }, drawing('info'), 'Test network: no real money'),
    el(
      'p',
      { class: 'merchant' },
      el('span', { class: 'small' }, 'Payment to'),
      ' ',
      el('bdi', { class: 'name' }, visible(merchantName)),
    ),
    description && el('p', { class: 'description', dir: 'auto' }, visible(description)),
  )

function due(data, { leftMs }) {
  const { stage, token, amount, amountMissing, expiresOn, takesPayment } = data
  const shown = stage === 'underpaid' ? amountMissing : amount
  return el(
    'div',
    { class: 'due' },
    el(
      'h1',
      {},
      el('span', { class: 'amount' }, shown ?? 'Any amount'),
      ' ',
      el('span', { class: 'token' }, token),
    ),
    takesPayment &&
      expiresOn &&
      el(
        'p',
        { class: 'until' },
        drawing('clock'),
        el(
          'time',
          { datetime: expiresOn },
          leftMs === undefined ? `Pay before ${timeOf(expiresOn)}` : leftOf(leftMs),
        ),
      ),
  )
}

const icons = { open: 'clock', good: 'check', warn: 'alert', bad: 'alert' }

const notice = (tone, icon, title, text, tag = 'h2') =>
  el(
    'section',
    { class: `state ${tone}` },
    el('span', { class: 'mark' }, drawing(icon)),
    el('div', {}, el(tag, {}, title), el('p', {}, text)),
  )

function state(data) {
  const { tone, title, text } = wordsOf(data)
  return notice(tone, data.stage === 'confirming' ? 'chain' : icons[tone], title, text)
}

const shortOf = (hash) => `${hash.slice(0, 8)}…${hash.slice(-6)}`

const payments = ({ payments: made, token }) =>
  made.length > 0 &&
  el(
    'section',
    { class: 'made' },
    el('h2', {}, made.some(({ type }) => type === 'refund') ? 'Payments and refunds' : 'Payments'),
    el(
      'ul',
      {},
      made.map((payment) =>
        el(
          'li',
          { class: payment.status },
          el('strong', {}, `${payment.type === 'refund' ? '−' : ''}${payment.amount} ${token}`),
          el('span', { class: 'small' }, `on ${payment.name}`),
          el('span', { class: 'progress' }, progressOf(payment)),
          payment.transactionHash &&
            el(
              'span',
              { class: 'small hash' },
              'Transaction ',
              el('span', { class: 'mono', title: payment.transactionHash }, shortOf(payment.transactionHash)),
              copyButton(payment.transactionHash, 'Copy the transaction id', 'round'),
            ),
        ),
      ),
    ),
  )

/** What to send, and where to, on the chosen chain. */
const facts = ({ token, amountMissing, paymentMethods }, { name, address, tokenAddress, confirmations }) =>
  el(
    'div',
    { class: 'how' },
    el(
      'dl',
      { class: 'facts' },
      paymentMethods.length === 1 && fact('Network', name),
      amountMissing !== undefined &&
        fact('Amount', `${amountMissing} ${token}`, amountMissing, 'Copy the amount'),
      fact('Address', halvesOf(address), address, 'Copy the address', 'mono'),
    ),
    warning(token, name, paymentMethods.length > 1),
    el(
      'details',
      { class: 'more' },
      el('summary', {}, `More about ${token} on ${name}`, drawing('down')),
      el(
        'dl',
        { class: 'facts' },
        fact('Its address', halvesOf(tokenAddress), tokenAddress, `Copy the address of ${token}`, 'mono'),
        fact('Confirmations that a payment needs', String(confirmations)),
      ),
    ),
  )

const chains = ({ paymentMethods }, method, { of }) =>
  el(
    'nav',
    { class: 'chains', 'aria-label': 'Network to pay on' },
    el('p', { class: 'label' }, 'Pay on'),
    el(
      'ul',
      {},
      paymentMethods.map(({ chain, name }) =>
        el(
          'li',
          {},
          el(
            'a',
            {
              href: linkTo({ chain, of }),
              'data-choose': '',
              'aria-current': chain === method.chain && 'true',
            },
            name,
          ),
        ),
      ),
    ),
  )

/** The code changes with the amount, so its address does too: browsers load it again. */
function code({ amountMissing }, { chain, name, paymentUri }, { of, path }) {
  const isOfAddress = of === 'address' || !paymentUri
  const what = isOfAddress ? 'address' : 'payment'
  const query = new URLSearchParams({ chain, of: what, amount: amountMissing ?? '' })
  const alt = `QR code of the ${what} on ${name}`
  return el(
    'div',
    { class: 'code' },
    el(
      'figure',
      {},
      el('img', { src: `${path}/code.svg?${query}`, width: '232', height: '232', alt }),
      el('figcaption', {}, captionOf(isOfAddress, amountMissing)),
    ),
    paymentUri && el('a', { class: 'main', href: paymentUri }, drawing('wallet'), 'Open in your wallet'),
    paymentUri &&
      el(
        'a',
        {
          class: 'switch',
          href: linkTo({ chain, of: isOfAddress ? undefined : 'address' }),
          'data-choose': '',
        },
        isOfAddress ? 'Show the code of the whole payment' : 'Show a code of the address alone',
      ),
  )
}

function captionOf(isOfAddress, amount) {
  if (!isOfAddress)
    return amount === undefined
      ? 'Scan this with your wallet'
      : 'Scan this with your wallet: it fills in the amount'
  return amount === undefined
    ? 'This code holds the address alone'
    : 'This code holds the address alone: enter the amount yourself'
}

/** An address breaks in its middle alone, so that its last characters do not stand in a line of their own. */
const halvesOf = (text) => {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), el('wbr'), text.slice(middle)]
}

const fact = (term, value, copied, label, mono) =>
  el(
    'div',
    {},
    el('dt', {}, term),
    el('dd', { class: mono }, el('span', {}, value), copied && copyButton(copied, label)),
  )

const copyButton = (text, label, look = 'copy') =>
  el(
    'button',
    { type: 'button', class: look, 'data-copy': text, 'aria-label': label, title: label },
    drawing('copy'),
  )

const warning = (token, name, isOneOfSeveral) =>
  el(
    'p',
    { class: 'warning' },
    drawing('alert'),
    el(
      'span',
      {},
      el('strong', {}, `Send ${token} on ${name} only.`),
      ` Other coins, and coins on ${isOneOfSeveral ? 'a network that is not offered here' : 'another network'}, can be lost.`,
    ),
  )

const hostOf = (url) => new URL(url).host

const foot = ({ returnUrl, stage }, { isLive }) =>
  el(
    'footer',
    { class: 'foot' },
    returnUrl &&
      el(
        'a',
        {
          class: ['paid', 'overpaid', 'confirming', 'received'].includes(stage) ? 'main' : 'other',
          href: returnUrl,
        },
        drawing('back'),
        `Return to ${hostOf(returnUrl)}`,
      ),
    !isLive &&
      el(
        'p',
        { class: 'small still' },
        'Without JavaScript this page does not change by itself. ',
        el('a', { href: '' }, 'Look again'),
      ),
    el('p', { class: 'small' }, 'The name and the description are words of the merchant.'),
  )
