import { halves, icon, make, visible } from '../dom.js'
import { siteName } from '../parent.js'
import { decline, mainButton, show } from '../shell.js'
import { groupOf, own, tame } from '../texts.js'
import { appWords } from '../words.js'

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

/** Shows what the server will do or sign, and resolves when the user goes on. All of it is the page's, but for the last part. */
export function showRequest({ type, summary, isLast }) {
  const kind = kindOf(type)
  const { amount, rest } = split(summary.details)
  return new Promise((resolve) => {
    const confirmText = own('common', isLast ? (kind.signs ? 'sign' : 'confirm') : 'continue')
    show({
      name: 'request',
      isOwn: true,
      title: kind.name,
      art: icon(kind.drawing),
      body: [
        make('p', { className: 'asks' }, 'Asked by ', make('bdi', { textContent: siteName })),
        amount && make('p', { className: 'amount', textContent: visible(amount.value) }),
        ...summary.warnings.map(warning),
        rest.length > 0 && make('dl', { className: 'summary' }, ...rest.map(row)),
        appWords({
          texts: wordsOf(kind.group),
          values: claims(kind.group),
          image: kind.signs ? 'dAppIcon' : 'transactionTokenIcon',
          note: 'These are words of the app. What you approve is above.',
        }),
      ],
      foot: [
        make(
          'div',
          { className: 'pair' },
          make('button', { type: 'button', className: 'other', textContent: 'Decline', onclick: decline }),
          mainButton(confirmText, () => resolve()),
        ),
      ],
    })
  })
}

const wordsOf = (group) =>
  group
    ? ['title', 'subtitle', 'description', 'networkFeeTip', 'rawTxDescription'].map((name) => [group, name])
    : []

/** The request in a few words, beside the PIN that approves it: its name, and what it moves where. */
export function nameOf({ type, summary }) {
  const shown = (name) => summary.details.find((detail) => detail.name === name)?.value
  const { amount } = split(summary.details)
  return {
    name: visible(`${kindOf(type).name} ${amount?.value ?? ''}`.trim().slice(0, 160)),
    ...(shown('to') && { to: visible(shown('to').slice(0, 160)) }),
    ...(shown('blockchain') && { network: visible(shown('blockchain').slice(0, 60)) }),
  }
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

function row({ name, label: term, value }) {
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

/** Values that an app sends to be shown, under its own labels. The server has checked none of them. */
function claims(group) {
  const words = group ? groupOf(group) : {}
  const { callData, abiInfo } = membersOf(words.dataDetails)
  return [
    ['Amount', pair(words.mainCurrency)],
    ['Value', pair(words.exchangeValue)],
    [words.fromLabel ?? 'From', words.from],
    [words.toLabel ?? 'To', listed(words.to)],
    [words.contractAddressLabel ?? 'Contract', listed(words.contractInfo) ?? words.contractName],
    ['Site', words.contractUrl],
    [words.networkFeeLabel ?? 'Network fee', words.networkFee],
    ['Network fee, as money', words.exchangeNetworkFee],
    [words.totalLabel ?? 'Total', listed(words.total)],
    ['Total, as money', words.exchangeTotalValue],
    ['Transaction', words.rawTx],
    [membersOf(abiInfo).functionNameLabel ?? 'Function', membersOf(abiInfo).functionName],
    [membersOf(abiInfo).parametersLabel ?? 'Parameters', listed(membersOf(abiInfo).parameters)],
    [membersOf(callData).callDataLabel ?? 'Data', membersOf(callData).data],
  ]
    .filter(([, value]) => typeof value === 'string' && value.trim() !== '')
    .map(([term, value]) => [tame(String(term), 40) ?? '', value])
}

const membersOf = (value) => (typeof value === 'object' && value !== null ? value : {})
const pair = (value) =>
  ['string', 'number'].includes(typeof membersOf(value).amount)
    ? `${value.amount} ${typeof value.symbol === 'string' ? value.symbol : ''}`.trim()
    : undefined
const listed = (values) =>
  Array.isArray(values)
    ? values
        .filter((value) => typeof value === 'string')
        .slice(0, 10)
        .join('\n')
    : undefined
