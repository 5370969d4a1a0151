const short = (text) => (text && text.length > 20 ? `${text.slice(0, 10)}…${text.slice(-6)}` : (text ?? ''))
const when = (text) => (text ? text.replace('T', ' ').replace('Z', '') : '')

/** A column: its heading, what to show of an item, and how. */
const column = (heading, read, style = '') => ({ heading, read, style })
const money = (value) => (value?.amount ? `${value.amount} ${value.currency}` : '')

/** Symbols of the tokens shown so far, by id. */
export const symbols = new Map()

/** The sections of the console, by the name in the address. */
export const sections = {
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
