// The console talks to the server through the public API only: whatever it shows, your program can read too.

const short = (text) => (text && text.length > 20 ? `${text.slice(0, 10)}…${text.slice(-6)}` : (text ?? ''))
const when = (text) => (text ? text.replace('T', ' ').replace('Z', '') : '')

/** A column: its heading, what to show of an item, and how. */
const column = (heading, read, style = '') => ({ heading, read, style })
const money = (value) => (value?.amount ? `${value.amount} ${value.currency}` : '')

const sections = {
  overview: {
    title: 'Overview',
    path: '/sandbox',
    items: (data) => data.chains,
    columns: [
      column('Blockchain', (chain) => chain.blockchain),
      column('Chain id', (chain) => chain.chainId, 'right'),
      column('RPC', (chain) => chain.rpcUrl, 'mono'),
      column('USDC', (chain) => chain.tokens.USDC, 'mono'),
      column('EURC', (chain) => chain.tokens.EURC, 'mono'),
    ],
    empty: 'This server is not a sandbox: its chains are in its configuration.',
  },
  wallets: {
    title: 'Wallets',
    path: '/v1/w3s/wallets',
    items: (data) => data.wallets,
    columns: [
      column('Created', (wallet) => when(wallet.createDate)),
      column('Blockchain', (wallet) => wallet.blockchain),
      column('Address', (wallet) => wallet.address, 'mono'),
      column('Name', (wallet) => wallet.name),
      column('State', (wallet) => wallet.state, 'state'),
    ],
    more: (wallet) => `/v1/w3s/wallets/${wallet.id}/balances`,
    empty: 'No wallets yet. Run examples/developer-wallets.mjs.',
  },
  transactions: {
    title: 'Transactions',
    path: '/v1/w3s/transactions',
    items: (data) => data.transactions,
    columns: [
      column('Created', (item) => when(item.createDate)),
      column('Blockchain', (item) => item.blockchain),
      column('Kind', (item) => item.transactionType),
      column(
        'Amount',
        (item) => `${(item.amounts ?? []).join(', ')} ${symbols.get(item.tokenId) ?? ''}`,
        'right',
      ),
      column('From', (item) => short(item.sourceAddress), 'mono'),
      column('To', (item) => short(item.destinationAddress ?? item.contractAddress), 'mono'),
      column('Hash', (item) => short(item.txHash), 'mono'),
      column('State', (item) => item.state, 'state'),
    ],
    empty: 'No transactions yet.',
  },
  intents: {
    title: 'Payment intents',
    path: '/v1/paymentIntents',
    items: (data) => data,
    columns: [
      column('Created', (intent) => when(intent.createDate)),
      column('Type', (intent) => intent.type ?? 'transient'),
      column('Chain', (intent) => intent.paymentMethods[0]?.chain),
      column('Address', (intent) => intent.paymentMethods[0]?.address, 'mono'),
      column('Paid', (intent) => money(intent.amountPaid), 'right'),
      column('Status', (intent) => intent.timeline[0]?.status, 'state'),
    ],
    empty: 'No payment intents yet. Run examples/accept-payment.mjs.',
  },
  payments: {
    title: 'Payments',
    path: '/v1/payments',
    items: (data) => data,
    columns: [
      column('Created', (payment) => when(payment.createDate)),
      column('Amount', (payment) => money(payment.amount), 'right'),
      column('Chain', (payment) => payment.depositAddress?.chain),
      column('From', (payment) => short(payment.fromAddresses?.addresses[0]), 'mono'),
      column('Hash', (payment) => short(payment.transactionHash), 'mono'),
      column('Status', (payment) => payment.status, 'state'),
    ],
    empty: 'No payments yet.',
  },
  recipients: {
    title: 'Recipients',
    path: '/v1/addressBook/recipients',
    items: (data) => data,
    columns: [
      column('Created', (recipient) => when(recipient.createDate)),
      column('Nickname', (recipient) => recipient.metadata?.nickname),
      column('Chain', (recipient) => recipient.chain),
      column('Address', (recipient) => recipient.address, 'mono'),
      column('Status', (recipient) => recipient.status, 'state'),
    ],
    empty: 'No recipients yet. Run examples/pay-out.mjs.',
  },
  payouts: {
    title: 'Payouts',
    path: '/v1/payouts',
    items: (data) => data,
    columns: [
      column('Created', (payout) => when(payout.createDate)),
      column('Amount', (payout) => money(payout.amount), 'right'),
      column('To', (payout) => short(payout.destination?.id), 'mono'),
      column('Hash', (payout) => short(payout.externalRef), 'mono'),
      column('Status', (payout) => payout.status, 'state'),
    ],
    empty: 'No payouts yet.',
  },
}

const at = (id) => document.getElementById(id)
let key = sessionStorage.getItem('key') ?? ''
/** The page on show, as the Link header gave it; empty for the first one. */
let address = ''
/** What the table was made from. */
let shown = ''

/** Whether text in the element is selected, or a part of it has the keyboard. */
const isInUse = (element) =>
  element.contains(document.activeElement) ||
  (getSelection()?.containsNode(element, true) && !getSelection().isCollapsed)

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children.filter((child) => child !== undefined))
  return element
}

async function ask(path) {
  const headers = key ? { authorization: `Bearer ${key}` } : {}
  const response = await fetch(path, { headers }).catch(() => {
    throw new Error('The server does not answer: is it still running?')
  })
  const body = await response.json().catch(() => ({}))
  if (!response.ok) {
    const error = new Error(body.message ?? `The server answered ${response.status}.`)
    throw Object.assign(error, { status: response.status })
  }
  return { data: body.data ?? body, links: linksOf(response.headers.get('link') ?? '') }
}

const linksOf = (header) =>
  Object.fromEntries(
    [...header.matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel, new URL(url)]),
  )

/** Names of the tokens that were met so far, by id. */
const symbols = new Map()

async function nameTokens(items) {
  const unknown = new Set(items.map((item) => item.tokenId).filter((id) => id && !symbols.has(id)))
  for (const id of unknown) symbols.set(id, (await ask(`/v1/w3s/tokens/${id}`)).data.token.symbol)
}

const current = () => sections[location.hash.slice(1)] ?? sections.overview

async function show() {
  const section = current()
  at('sections').replaceChildren(
    ...Object.entries(sections).map(([name, { title }]) => {
      const link = make('a', { href: `#${name}`, textContent: title })
      if (sections[name] === section) link.setAttribute('aria-current', 'page')
      return link
    }),
  )
  at('notice').textContent = ''
  try {
    const { data, links } = await ask(address || section.path)
    if (section === sections.transactions) await nameTokens(section.items(data))
    const answer = JSON.stringify([section.title, address, data])
    // What did not change is left alone, and so is what somebody is about to copy.
    if (section !== current() || answer === shown || (address === '' && isInUse(at('view')))) return
    shown = answer
    at('view').replaceChildren(table(section, section.items(data)))
    at('pages').replaceChildren(
      ...['first', 'prev', 'next']
        .filter((rel) => links[rel === 'first' ? 'prev' : rel])
        .map((rel) =>
          make('button', {
            textContent: { first: 'First', prev: 'Newer', next: 'Older' }[rel],
            onclick: () => turn(links[rel]),
          }),
        ),
    )
  } catch (error) {
    shown = ''
    at('view').replaceChildren()
    at('pages').replaceChildren()
    at('notice').textContent = error.status === 404 ? section.empty : error.message
  }
}

function turn(url) {
  const paged = url.searchParams.has('pageAfter') || url.searchParams.has('pageBefore')
  // The first page is the one that goes on showing what is new.
  address = paged ? url.pathname + url.search : ''
  shown = ''
  show()
}

function table({ columns, empty, more }, items) {
  if (items.length === 0) return make('p', { className: 'empty', textContent: empty })
  const head = make(
    'tr',
    {},
    ...columns.map(({ heading, style }) =>
      make('th', { textContent: heading, className: style === 'right' ? style : '' }),
    ),
  )
  const rows = items.map((item) => {
    const cells = columns.map(({ read, style }) => {
      const text = String(read(item) ?? '')
      return make('td', { textContent: text, className: style === 'state' ? text : style, title: text })
    })
    const row = make('tr', item.id ? { tabIndex: 0, onclick: () => open(item, more) } : {}, ...cells)
    row.onkeydown = (event) => event.key === 'Enter' && row.click()
    return row
  })
  return make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows))
}

async function open(item, more) {
  const further = more ? (await ask(more(item)).catch(() => ({ data: undefined }))).data : undefined
  const text = JSON.stringify(further ? { ...item, ...further } : item, null, 2)
  at('detail').replaceChildren(make('h2', { textContent: item.id }), make('pre', { textContent: text }))
  at('detail').hidden = false
}

function use(text) {
  key = text.trim()
  sessionStorage.setItem('key', key)
  at('key').value = key
}

at('session').onsubmit = (event) => {
  event.preventDefault()
  use(at('key').value)
  show()
}
addEventListener('hashchange', () => {
  address = ''
  shown = ''
  at('detail').hidden = true
  show()
})
// A sandbox tells its public key; any other server is asked for one.
const sandbox = await ask('/sandbox').catch(() => undefined)
use(key || (sandbox?.data.apiKey ?? ''))
if (!location.hash) location.hash = sandbox ? 'overview' : 'wallets'
await show()
setInterval(() => address === '' && !document.hidden && show(), 2000)
