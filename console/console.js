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
      column('Amount', (item) => (item.amounts ?? []).join(', '), 'right'),
      column('From', (item) => short(item.sourceAddress), 'mono'),
      column('To', (item) => short(item.destinationAddress), 'mono'),
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
}

const at = (id) => document.getElementById(id)
let key = sessionStorage.getItem('key') ?? ''
/** The page on show, as the Link header gave it; empty for the first one. */
let address = ''

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children.filter((child) => child !== undefined))
  return element
}

async function ask(path) {
  const headers = key ? { authorization: `Bearer ${key}` } : {}
  const response = await fetch(path, { headers })
  const body = await response.json().catch(() => ({}))
  if (!response.ok) throw new Error(body.message ?? `The server answered ${response.status}.`)
  return { data: body.data ?? body, links: linksOf(response.headers.get('link') ?? '') }
}

const linksOf = (header) =>
  Object.fromEntries(
    [...header.matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel, new URL(url)]),
  )

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
    if (section !== current()) return
    at('view').replaceChildren(table(section, section.items(data)))
    at('pages').replaceChildren(
      ...['first', 'prev', 'next']
        .filter((rel) => links[rel])
        .map((rel) =>
          make('button', {
            textContent: { first: 'First', prev: 'Newer', next: 'Older' }[rel],
            onclick: () => turn(links[rel]),
          }),
        ),
    )
  } catch (error) {
    at('view').replaceChildren()
    at('pages').replaceChildren()
    at('notice').textContent = section === sections.overview ? section.empty : error.message
  }
}

function turn(url) {
  address = url.pathname + url.search
  show()
}

function table({ columns, empty, more }, items) {
  if (items.length === 0) return make('p', { className: 'empty', textContent: empty })
  const head = make(
    'tr',
    {},
    ...columns.map(({ heading, style }) => make('th', { textContent: heading, className: style })),
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
  at('detail').hidden = true
  show()
})
// A sandbox tells its public key; any other server is asked for one.
const sandbox = await ask('/sandbox').catch(() => undefined)
use(key || (sandbox?.data.apiKey ?? ''))
if (!location.hash) location.hash = sandbox ? 'overview' : 'wallets'
await show()
setInterval(() => address === '' && !document.hidden && show(), 2000)
