import { visible } from '../dom.js'
import { languages } from './languages.js'
import { drawing, el } from './tree.js'
import { leftOf, progressOf, timeOf, wordsOf } from './words.js'

/**
 * The page of a payment, for the server and the browser alike. `data` is the answer of `GET /page/payments/{token}`; `options` has the
 * words of its language, the language that the link names, the chosen chain, whether the code is of the address alone, and, where a
 * script keeps the page up to date, the rest of the time to pay and the wallets of the browser.
 */
export function view(data, options) {
  const method = methodOf(data, options)
  return [
    head(data, options),
    el(
      'div',
      { class: method ? 'parts' : 'parts single' },
      el('div', { class: 'about' }, due(data, options), state(data, options)),
      method && data.paymentMethods.length > 1 && chains(data, method, options),
      method && code(data, method, options),
      wallets(data, method, options),
      method && facts(data, method, options),
      payments(data, options),
    ),
    foot(data, options),
  ]
}

/** The page of a link that leads nowhere, or that cannot be answered now. */
export const problemView = (name, words) => [
  el('div', { class: 'parts single' }, notice('bad', 'alert', words.problems[name], words, 'h1')),
]

export const methodOf = ({ paymentMethods }, { chain }) =>
  paymentMethods.find((method) => method.chain === chain) ?? paymentMethods[0]

/** Keeps what the customer chose in the address, so that each choice is a link. */
const linkTo = ({ chain, of, lang }) =>
  `?${new URLSearchParams({ ...(chain && { chain }), ...(of && { of }), ...(lang && { lang }) })}`

const head = ({ merchantName, description, isTest }, { words }) =>
  el(
    'header',
    { class: 'head' },
    isTest && el('p', { class: 'test' }, drawing('info'), words.testNetwork),
    el(
      'p',
      { class: 'merchant' },
      el('span', { class: 'small' }, words.paymentTo),
      ' ',
      el('bdi', { class: 'name' }, visible(merchantName)),
    ),
    description && el('p', { class: 'description', dir: 'auto' }, visible(description)),
  )

function due(data, { leftMs, words }) {
  const { stage, token, amount, amountMissing, expiresOn, takesPayment } = data
  const shown = stage === 'underpaid' ? amountMissing : amount
  return el(
    'div',
    { class: 'due' },
    el(
      'h1',
      {},
      el('span', { class: 'amount' }, shown ?? words.anyAmount),
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
          leftMs === undefined ? words.payBefore(timeOf(expiresOn)) : leftOf(leftMs, words),
        ),
      ),
  )
}

const icons = { open: 'clock', good: 'check', warn: 'alert', bad: 'alert' }

const notice = (tone, icon, [title, text], words, tag = 'h2') =>
  el(
    'section',
    { class: `state ${tone}`, 'data-stale': words.stale },
    el('span', { class: 'mark' }, drawing(icon)),
    el('div', {}, el(tag, {}, title), el('p', {}, text)),
  )

function state(data, { words }) {
  const { tone, title, text } = wordsOf(data, words)
  return notice(tone, data.stage === 'confirming' ? 'chain' : icons[tone], [title, text], words)
}

const shortOf = (hash) => `${hash.slice(0, 8)}…${hash.slice(-6)}`

const payments = ({ payments: made, token }, { words }) =>
  made.length > 0 &&
  el(
    'section',
    { class: 'made' },
    el('h2', {}, made.some(({ type }) => type === 'refund') ? words.paymentsAndRefunds : words.payments),
    el(
      'ul',
      {},
      made.map((payment) =>
        el(
          'li',
          { class: payment.status },
          el('strong', {}, `${payment.type === 'refund' ? '−' : ''}${payment.amount} ${token}`),
          el('span', { class: 'small' }, words.on(payment.name)),
          el('span', { class: 'progress' }, progressOf(payment, words)),
          payment.transactionHash &&
            el(
              'span',
              { class: 'small hash' },
              `${words.transaction} `,
              el('span', { class: 'mono', title: payment.transactionHash }, shortOf(payment.transactionHash)),
              copyButton(payment.transactionHash, words.copyTransaction, words, 'round'),
            ),
        ),
      ),
    ),
  )

/** What to send, and where to, on the chosen chain. */
const facts = (
  { token, amountMissing, paymentMethods },
  { name, address, tokenAddress, confirmations },
  { words },
) =>
  el(
    'div',
    { class: 'how' },
    el(
      'dl',
      { class: 'facts' },
      paymentMethods.length === 1 && fact(words, words.network, name),
      amountMissing !== undefined &&
        fact(words, words.amount, `${amountMissing} ${token}`, amountMissing, words.copyAmount),
      fact(words, words.address, halvesOf(address), address, words.copyAddress, 'mono'),
    ),
    warning(words, token, name, paymentMethods.length > 1),
    el(
      'details',
      { class: 'more' },
      el('summary', {}, words.moreAbout(token, name), drawing('down')),
      el(
        'dl',
        { class: 'facts' },
        fact(
          words,
          words.itsAddress,
          halvesOf(tokenAddress),
          tokenAddress,
          words.copyTokenAddress(token),
          'mono',
        ),
        fact(words, words.confirmationsNeeded, String(confirmations)),
      ),
    ),
  )

const chains = ({ paymentMethods }, method, { of, lang, words }) =>
  el(
    'nav',
    { class: 'chains', 'aria-label': words.networkToPayOn },
    el('p', { class: 'label' }, words.payOn),
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
              href: linkTo({ chain, of, lang }),
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
function code({ amountMissing }, { chain, name, paymentUri }, { of, path, lang, words }) {
  const isOfAddress = of === 'address' || !paymentUri
  const what = isOfAddress ? 'address' : 'payment'
  const query = new URLSearchParams({ chain, of: what, amount: amountMissing ?? '' })
  const alt = isOfAddress ? words.codeOfAddress(name) : words.codeOfPayment(name)
  return el(
    'div',
    { class: 'code' },
    el(
      'figure',
      {},
      el('img', { src: `${path}/code.svg?${query}`, width: '232', height: '232', alt }),
      el('figcaption', {}, captionOf(words, isOfAddress, amountMissing)),
    ),
    paymentUri && el('a', { class: 'main', href: paymentUri }, drawing('wallet'), words.openInWallet),
    paymentUri &&
      el(
        'a',
        {
          class: 'switch',
          href: linkTo({ chain, of: isOfAddress ? undefined : 'address', lang }),
          'data-choose': '',
        },
        isOfAddress ? words.showWholeCode : words.showAddressCode,
      ),
  )
}

function captionOf({ captions }, isOfAddress, amount) {
  if (!isOfAddress) return amount === undefined ? captions.payment : captions.paymentWithAmount
  return amount === undefined ? captions.address : captions.addressWithAmount
}

/**
 * The wallets of this browser, and how far a payment with one of them is. A wallet gets the call that the server wrote, for the amount that
 * is missing. Names and images are those of the wallets, which are programs of the customer.
 */
function wallets({ token, amountMissing }, method, { wallets: found = [], walletState: state, words }) {
  const isOffered = method?.browserCall && found.length > 0 && !state?.hidesButtons
  // A step without a transaction is over when the payment is.
  if (!isOffered && !(state && (method || state.hash))) return false
  const texts = words.wallet
  return el(
    'div',
    { class: 'wallets' },
    isOffered &&
      found.map(({ id, name, image }) =>
        el(
          'button',
          { type: 'button', class: 'other', 'data-pay': id, 'aria-disabled': state?.isBusy && 'true' },
          image ? el('img', { src: image, alt: '', width: '24', height: '24' }) : drawing('wallet'),
          texts.payWith(name ? visible(name) : texts.browserWallet),
        ),
      ),
    state &&
      el(
        'p',
        { class: `small step ${state.tone}` },
        state.isBusy ? drawing('clock') : drawing(state.tone === 'good' ? 'check' : 'info'),
        el('span', {}, stepText(state, `${amountMissing} ${token}`, method, words)),
      ),
    state?.hash &&
      el(
        'p',
        { class: 'small hash' },
        `${words.transaction} `,
        el('span', { class: 'mono', title: state.hash }, shortOf(state.hash)),
        copyButton(state.hash, words.copyTransaction, words, 'round'),
      ),
    state?.mayRepeat &&
      method &&
      el('button', { type: 'button', class: 'other', 'data-again': '' }, texts.payAgain),
  )
}

/** The text of a step of a payment with a wallet of the browser. */
export function stepText({ step, wallet }, amount, method, words) {
  const text = words.wallet[step]
  if (typeof text === 'string') return text
  const name = wallet ? visible(wallet) : words.wallet.browserWallet
  return text(name, step === 'asking' ? amount : method?.name)
}

/** An address breaks in its middle alone, so that its last characters do not stand in a line of their own. */
const halvesOf = (text) => {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), el('wbr'), text.slice(middle)]
}

const fact = (words, term, value, copied, label, mono) =>
  el(
    'div',
    {},
    el('dt', {}, term),
    el('dd', { class: mono }, el('span', {}, value), copied && copyButton(copied, label, words)),
  )

const copyButton = (text, label, words, look = 'copy') =>
  el(
    'button',
    {
      type: 'button',
      class: look,
      'data-copy': text,
      'data-done': words.copied,
      'aria-label': label,
      title: label,
    },
    drawing('copy'),
  )

const warning = (words, token, name, isOneOfSeveral) =>
  el(
    'p',
    { class: 'warning' },
    drawing('alert'),
    el(
      'span',
      {},
      el('strong', {}, words.only(token, name)),
      ` ${isOneOfSeveral ? words.lostAmong : words.lost}`,
    ),
  )

const hostOf = (url) => new URL(url).host

const foot = ({ returnUrl, stage }, { isLive, chain, of, language, words }) =>
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
        words.returnTo(hostOf(returnUrl)),
      ),
    !isLive && el('p', { class: 'small still' }, `${words.still} `, el('a', { href: '' }, words.lookAgain)),
    el('p', { class: 'small' }, words.ofMerchant),
    el(
      'nav',
      { class: 'languages', 'aria-label': words.language },
      el(
        'ul',
        {},
        Object.entries(languages).map(([lang, name]) =>
          el(
            'li',
            {},
            el(
              'a',
              {
                href: linkTo({ chain, of, lang }),
                lang,
                hreflang: lang,
                'aria-current': lang === language && 'true',
              },
              name,
            ),
          ),
        ),
      ),
    ),
  )
