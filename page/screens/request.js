import { icon, make, visible } from '../dom.js'
import { parentOrigin } from '../parent.js'
import { mainButton, show } from '../shell.js'
import { given, groupOf, label, say } from '../texts.js'
import { pictureOr } from '../theme.js'

/** Of each type: its name, the group of the texts of an app, a drawing, and whether it is a signature. */
const kinds = {
  INITIALIZE: { name: 'Create your wallet', drawing: 'wallet' },
  CREATE_WALLET: { name: 'Create a wallet', drawing: 'wallet' },
  CREATE_TRANSACTION: { name: 'Transfer', group: 'transactionRequest', drawing: 'coin' },
  CONTRACT_EXECUTION: { name: 'Contract call', group: 'contractInteraction', drawing: 'code' },
  WALLET_UPGRADE: { name: 'Upgrade your wallet', drawing: 'shield' },
  ACCELERATE_TRANSACTION: { name: 'Speed up a transaction', drawing: 'coin' },
  CANCEL_TRANSACTION: { name: 'Cancel a transaction', drawing: 'coin' },
  SIGN_MESSAGE: { name: 'Sign a message', group: 'signatureRequest', drawing: 'pen', signs: true },
  SIGN_TYPEDDATA: { name: 'Sign structured data', group: 'signatureRequest', drawing: 'pen', signs: true },
  SIGN_TRANSACTION: { name: 'Sign a transaction', group: 'signatureRequest', drawing: 'pen', signs: true },
}
const kindOf = (type) => kinds[type] ?? { name: 'Request', drawing: 'info' }

/** Values that are set in letters of one width. */
const technical = new Set([
  'wallet',
  'to',
  'contract',
  'data',
  'argument',
  'function',
  'domain',
  'typedData',
  'transaction',
  'nonce',
])

/** Labels that an app may translate, by the name of the detail. */
const translatable = {
  wallet: ['fromLabel'],
  to: ['toLabel'],
  feeLevel: ['networkFeeLabel'],
  contract: ['contractAddressLabel'],
}

/** Shows what the server will do or sign, and resolves when the user goes on. */
export function showRequest({ type, summary, isLast }) {
  const kind = kindOf(type)
  const title = (kind.group && given(kind.group, 'title')) ?? kind.name
  const { amount, rest } = split(summary.details)
  return new Promise((resolve) => {
    const confirmText = say('common', isLast ? (kind.signs ? 'sign' : 'confirm') : 'continue')
    show({
      name: 'request',
      title,
      lead: kind.group && say(kind.group, 'subtitle'),
      art: pictureOr(kind.signs ? 'dAppIcon' : 'transactionTokenIcon', icon(kind.drawing)),
      body: [
        make(
          'p',
          { className: 'asks' },
          make('span', { className: 'tag', textContent: kind.name }),
          ' asked by ',
          make('bdi', { textContent: siteOf() }),
        ),
        amount && make('p', { className: 'amount', textContent: visible(amount.value) }),
        ...summary.warnings.map(warning),
        rest.length > 0 &&
          make('dl', { className: 'summary' }, ...rest.map((detail) => row(detail, kind.group))),
        claims(kind.group),
      ],
      foot: [mainButton(confirmText, () => resolve())],
    })
  })
}

const siteOf = () => parentOrigin.replace(/^https:\/\//, '')

/** The request in a few words, beside the PIN that approves it. */
export function nameOf({ type, summary }) {
  const { amount } = split(summary.details)
  return visible(`${kindOf(type).name} ${amount?.value ?? ''}`.trim().slice(0, 80))
}

/** A single amount stands above the other details. */
function split(details) {
  const amounts = details.filter(({ name }) => name === 'amount')
  const amount = amounts.length === 1 ? amounts[0] : undefined
  return { amount, rest: details.filter((detail) => detail !== amount) }
}

const warning = ({ text }) =>
  make(
    'div',
    { className: 'warning', attributes: { role: 'note', 'aria-label': 'Warning' } },
    icon('alert'),
    make('span', { textContent: visible(text) }),
  )

/** Lets an address break in its middle alone, so that its last characters do not stand in a line of their own. */
const halves = (text) =>
  /^0x[0-9a-f]{40}$/i.test(text) ? [text.slice(0, 22), make('wbr'), text.slice(22)] : [text]

function row({ name, label: own, value }, group) {
  const [translated] = translatable[name] ?? []
  const term = group && translated ? label(group, translated, own) : own
  const isLong = value.length > 240 || value.split('\n').length > 6
  const parts = isLong
    ? [
        make('div', {
          className: 'long',
          textContent: visible(value),
          tabIndex: 0,
          attributes: { role: 'group', 'aria-label': `${term}, all of it` },
        }),
      ]
    : halves(visible(value))
  const cell = make('dd', { className: technical.has(name) ? 'mono' : '' }, ...parts)
  return make(
    'div',
    { className: isLong || value.length > 26 ? 'wide' : '' },
    make('dt', { textContent: visible(term) }),
    cell,
  )
}

/** Values that an app sends to be shown. They are its own words: the server has checked none of them. */
function claims(group) {
  const words = group ? groupOf(group) : {}
  const { dataDetails = {} } = words
  const found = [
    ['Amount', pair(words.mainCurrency)],
    ['Value', pair(words.exchangeValue)],
    ['From', words.from],
    ['To', listed(words.to)],
    ['Contract', listed(words.contractInfo) ?? words.contractName],
    ['Site', words.contractUrl],
    ['Network fee', words.networkFee],
    ['Network fee, as money', words.exchangeNetworkFee],
    ['Total', listed(words.total)],
    ['Total, as money', words.exchangeTotalValue],
    [words.descriptionLabel ?? 'Description', words.description],
    ['Transaction', words.rawTx],
    ['Function', dataDetails?.abiInfo?.functionName],
    ['Data', dataDetails?.callData?.data],
  ].filter(([, value]) => typeof value === 'string' && value.trim() !== '')
  if (found.length === 0) return undefined
  return make(
    'details',
    { className: 'claims' },
    make('summary', {}, `What ${siteOf()} says about it`, icon('down')),
    make('p', {
      textContent:
        words.networkFeeTip && typeof words.networkFeeTip === 'string'
          ? words.networkFeeTip.slice(0, 300)
          : 'These are words of the app. What you approve is above.',
    }),
    make(
      'dl',
      {},
      ...found.map(([term, value]) =>
        make(
          'div',
          {},
          make('dt', { textContent: visible(String(term).slice(0, 40)) }),
          make('dd', { textContent: visible(value.slice(0, 600)) }),
        ),
      ),
    ),
  )
}

const pair = (value) =>
  typeof value === 'object' && value !== null && ['string', 'number'].includes(typeof value.amount)
    ? `${value.amount} ${typeof value.symbol === 'string' ? value.symbol : ''}`.trim()
    : undefined
const listed = (values) =>
  Array.isArray(values)
    ? values
        .filter((value) => typeof value === 'string')
        .slice(0, 10)
        .join('\n')
    : undefined
