import { ask } from '../api/ask.ts'
import { firstChain, hasCapability } from '../api/chains.svelte.ts'
import { signingFields, withSecret } from '../api/entity-secret.ts'
import { wordsOf } from '../format/text.ts'
import { address, amount, chain, id, link, status, text, time } from '../parts/cell.ts'
import { session } from '../session.svelte.ts'
import { blockchains, chainChoices, feeLevels, tokenChoices, walletSetChoices } from './choices.ts'
import { movementColumns } from './movements.ts'
import { policiesPart } from './policies.ts'
import { freezeActs, setPolicyOf } from './policy-acts.ts'
import {
  type Action,
  type Column,
  type DetailScreen,
  followsTypes,
  type ListScreen,
  type Row,
} from './screen.ts'
import { createSymbolReader } from './token-symbols.ts'

type Wallet = Row & {
  address: string
  blockchain: string
  state: string
  name?: string
  refId?: string
  walletSetId: string
  custodyType: string
  accountType: string
  scaCore?: string
  userId?: string
  createDate: string
}
type WalletSet = Row & { name?: string; custodyType: string; createDate: string; updateDate: string }
type Transaction = Row & {
  blockchain: string
  state: string
  transactionType: string
  operation: string
  amounts?: string[]
  tokenId?: string
  symbol?: string
  walletId?: string
  sourceAddress?: string
  destinationAddress?: string
  contractAddress?: string
  abiFunctionSignature?: string
  txHash?: string
  networkFee?: string
  feeLevel?: string
  refId?: string
  errorReason?: string
  errorDetails?: string
  createDate: string
  updateDate: string
}

type Token = { id: string; name?: string; symbol?: string; tokenAddress?: string }

/** The tokens of a wallet, of whatever kind it is. */
export const balanceColumns: readonly Column<Row>[] = [
  {
    title: 'Token',
    cell: (row) => text((row['token'] as Token).name ?? (row['token'] as Token).symbol),
    place: 'title',
  },
  {
    title: 'Amount',
    isNumber: true,
    cell: (row) => amount(row['amount'] as string, (row['token'] as Token).symbol),
    place: 'amount',
  },
  { title: 'Contract', cell: (row) => address((row['token'] as Token).tokenAddress), place: 'below' },
]

const accountTypesOn = (blockchain: string) =>
  hasCapability(blockchain, 'smartAccounts') ? ['EOA', 'SCA'] : ['EOA']

const createWallets: Action<undefined> = {
  title: 'Create wallets',
  icon: 'plus',
  tone: 'primary',
  fields: withSecret(({ blockchain = firstChain() ?? '' }) => [
    { name: 'walletSetId', title: 'Wallet set', choices: walletSetChoices },
    { name: 'blockchain', title: 'Blockchain', choices: () => chainChoices() },
    {
      name: 'accountType',
      title: 'Account',
      options: accountTypesOn(blockchain).map((value) => ({ value, title: value })),
    },
    { name: 'count', title: 'Number', value: '1', hint: '1 to 200' },
    { name: 'name', title: 'Name', isOptional: true },
    { name: 'refId', title: 'Your reference', isOptional: true },
  ]),
  async run(_, values) {
    const { name, refId } = values
    const count = Number(values['count'])
    await ask('POST', '/v1/w3s/developer/wallets', {
      ...(await signingFields(values)),
      walletSetId: values['walletSetId'],
      blockchains: [values['blockchain']],
      accountType: values['accountType'],
      count,
      ...((name || refId) && { metadata: Array.from({ length: count }, () => ({ name, refId })) }),
    })
    return { told: count === 1 ? 'The wallet is created.' : `${count} wallets are created.` }
  },
}

const createWalletSet: Action<undefined> = {
  title: 'Create a wallet set',
  icon: 'plus',
  tone: 'primary',
  fields: withSecret([{ name: 'name', title: 'Name' }]),
  async run(_, values) {
    await ask('POST', '/v1/w3s/developer/walletSets', {
      ...(await signingFields(values)),
      name: values['name'],
    })
    return { told: 'The wallet set is created.' }
  },
}

export const walletColumns: readonly Column<Wallet>[] = [
  { title: 'Address', cell: (wallet) => address(wallet.address, wallet.name), place: 'title' },
  { title: 'Chain', cell: ({ blockchain }) => chain(blockchain), place: 'below' },
  { title: 'Account', cell: ({ accountType, scaCore }) => text(scaCore ?? accountType) },
  { title: 'Custody', cell: ({ custodyType }) => text(custodyType) },
  { title: 'Reference', cell: ({ refId }) => text(refId) },
  { title: 'State', cell: ({ state }) => status(state), place: 'state' },
  { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
]

export const wallets: ListScreen<Wallet> = {
  title: 'Wallets',
  path: '/v1/w3s/wallets',
  member: 'wallets',
  columns: walletColumns,
  hrefOf: (wallet) => `/wallets/${wallet.id}`,
  actions: [createWallets],
  filters: [
    { name: 'blockchain', title: 'Chain', options: blockchains },
    { name: 'address', title: 'Address' },
    { name: 'walletSetId', title: 'Wallet set id' },
    { name: 'refId', title: 'Reference' },
  ],
  follows: followsTypes('wallet'),
  empty: { text: 'No wallets yet: create a wallet set, then wallets in it.' },
}

export const walletSets: ListScreen<WalletSet> = {
  title: 'Wallet sets',
  path: '/v1/w3s/walletSets',
  member: 'walletSets',
  columns: [
    { title: 'Name', cell: (set) => text(set.name || set.id), place: 'title' },
    { title: 'Id', cell: (set) => id(set.id), place: 'below' },
    { title: 'Custody', cell: ({ custodyType }) => text(custodyType), place: 'state' },
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
  ],
  hrefOf: (set) => `/wallet-sets/${set.id}`,
  actions: [createWalletSet],
  follows: followsTypes('walletSet'),
  empty: { text: 'No wallet sets yet. The keys of the wallets of a set come from one seed.' },
}

export const walletSet: DetailScreen<WalletSet> = {
  list: { title: 'Wallet sets', href: '/wallet-sets' },
  pathOf: (setId) => `/v1/w3s/walletSets/${setId}`,
  member: 'walletSet',
  titleOf: ({ name, id: setId }) => name || setId,
  actionsOf: (item) => [setPolicyOf(({ id: subjectId }) => ({ subjectId }), item)],
  facts: [
    { title: 'Custody', cell: ({ custodyType }) => text(custodyType) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
    { title: 'Changed', cell: ({ updateDate }) => time(updateDate) },
  ],
  parts: [
    {
      title: 'Wallets',
      pathOf: (set) => `/v1/w3s/wallets?walletSetId=${set.id}&pageSize=20`,
      member: 'wallets',
      columns: walletColumns as readonly Column<Row>[],
      hrefOf: (row) => `/wallets/${row.id}`,
      empty: 'No wallets yet.',
    },
    policiesPart,
  ],
}

const transactionColumns: readonly Column<Transaction>[] = [
  { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
  {
    title: 'Operation',
    cell: ({ operation, transactionType }) => ({
      as: 'kind',
      kind: wordsOf(operation),
      icon: transactionType === 'INBOUND' ? 'arrow-down-left' : 'arrow-up-right',
    }),
    place: 'title',
  },
  {
    title: 'Amount',
    isNumber: true,
    place: 'amount',
    cell: ({ amounts, symbol, transactionType }) =>
      amount(amounts?.[0], symbol, transactionType === 'INBOUND' ? 'in' : 'out'),
  },
  {
    title: 'From → to',
    cell: ({ sourceAddress, destinationAddress, contractAddress }) => ({
      as: 'parties',
      from: { address: sourceAddress },
      to: { address: destinationAddress ?? contractAddress },
    }),
  },
  { title: 'Chain', cell: ({ blockchain }) => chain(blockchain), place: 'below' },
  { title: 'State', cell: ({ state }) => status(state), place: 'state' },
]

export const transactionActs: readonly Action<{ id: string }>[] = [
  {
    title: 'Accelerate',
    icon: 'gauge',
    about: 'Sends the transaction again in its place, at a higher price. A block can have only one of both.',
    fields: withSecret([]),
    async run(item, values) {
      await ask('POST', `/v1/w3s/developer/transactions/${item.id}/accelerate`, await signingFields(values))
      return { told: 'The transaction is sent again at a higher price.' }
    },
  },
  {
    title: 'Cancel',
    icon: 'x',
    tone: 'danger',
    about:
      'Sends an empty transaction in its place. When a block has the first one before, it happens all the same. Where transactions expire, as on Aptos, that waits until the first one has.',
    typed: () => 'cancel',
    fields: withSecret([]),
    async run(item, values) {
      await ask('POST', `/v1/w3s/developer/transactions/${item.id}/cancel`, await signingFields(values))
      return { told: 'The cancellation is on its way.' }
    },
  },
]

export const transactions: ListScreen<Transaction> = {
  title: 'Transactions',
  path: '/v1/w3s/transactions',
  read: createSymbolReader(),
  member: 'transactions',
  columns: transactionColumns,
  hrefOf: (transaction) => `/movements/${transaction.id}`,
  filters: [
    {
      name: 'state',
      title: 'State',
      options: [
        'INITIATED',
        'CLEARED',
        'QUEUED',
        'SENT',
        'STUCK',
        'CONFIRMED',
        'COMPLETE',
        'FAILED',
        'CANCELLED',
        'DENIED',
      ],
    },
    {
      name: 'operation',
      title: 'Operation',
      options: ['TRANSFER', 'CONTRACT_EXECUTION', 'CONTRACT_DEPLOYMENT'],
    },
    { name: 'txType', title: 'Direction', options: ['INBOUND', 'OUTBOUND'] },
    { name: 'blockchain', title: 'Chain', options: blockchains },
    { name: 'destinationAddress', title: 'Destination' },
    { name: 'txHash', title: 'Transaction hash' },
  ],
  follows: followsTypes('transaction'),
  empty: { text: 'No transactions yet.', trigger: 'transaction.complete' },
}

/** Sends tokens; its choices are those of the wallet. */
const transferOf = (wallet: Wallet): Action<Wallet> => ({
  title: 'Transfer',
  icon: 'arrow-up-right',
  tone: 'primary',
  isOffered: ({ custodyType, state }) => custodyType === 'DEVELOPER' && state === 'LIVE',
  about: 'Sends tokens of this wallet to an address.',
  fields: withSecret([
    { name: 'tokenId', title: 'Token', choices: () => tokenChoices(wallet.id) },
    { name: 'amount', title: 'Amount', hint: 'In whole tokens, such as 12.5' },
    { name: 'destinationAddress', title: 'To' },
    { name: 'feeLevel', title: 'Fee', options: feeLevels, value: 'MEDIUM' },
    { name: 'refId', title: 'Your reference', isOptional: true },
  ]),
  async run(item, values) {
    const { tokenId, destinationAddress, feeLevel, refId } = values
    const { data } = await ask<{ id: string }>('POST', '/v1/w3s/developer/transactions/transfer', {
      ...(await signingFields(values)),
      walletId: item.id,
      tokenId,
      destinationAddress,
      amounts: [values['amount']],
      feeLevel,
      ...(refId && { refId }),
    })
    return { goTo: `/movements/${data.id}` }
  },
})

const fund: Action<Wallet> = {
  title: 'Fund',
  icon: 'droplets',
  tone: 'lab',
  isOffered: () => session.sandbox !== undefined,
  about: 'Pays out of the faucet of the sandbox, without limit.',
  fields: [
    {
      name: 'token',
      title: 'Token',
      options: ['USDC', 'EURC', 'NATIVE'].map((value) => ({ value, title: value })),
    },
    { name: 'amount', title: 'Amount', value: '1000' },
  ],
  async run(item, values) {
    await ask('POST', '/sandbox/faucet', { address: item.address, blockchain: item.blockchain, ...values })
    return { told: `${values['amount']} ${values['token']} are on their way.` }
  },
}

const signMessage: Action<Wallet> = {
  title: 'Sign message',
  icon: 'pen-line',
  isOffered: ({ custodyType }) => custodyType === 'DEVELOPER',
  about: 'Signs a text with the key of this wallet. A signature can promise money: read what you sign.',
  fields: withSecret([{ name: 'message', title: 'Message', isLong: true }]),
  async run(item, values) {
    const { data } = await ask<{ signature: string }>('POST', '/v1/w3s/developer/sign/message', {
      entitySecretCiphertext: (await signingFields(values)).entitySecretCiphertext,
      walletId: item.id,
      message: values['message'],
    })
    return { shown: data.signature }
  },
}

const signTypedData: Action<Wallet> = {
  title: 'Sign typed data',
  icon: 'braces',
  isOffered: ({ blockchain, custodyType }) =>
    custodyType === 'DEVELOPER' && hasCapability(blockchain, 'typedData'),
  about:
    'Signs typed data with the key of this wallet (EIP-712). Such a signature can move money by itself: read what you sign.',
  fields: withSecret([
    {
      name: 'data',
      title: 'Typed data',
      hint: 'JSON with types, domain, primaryType and message',
      isLong: true,
    },
  ]),
  async run(item, values) {
    const { data } = await ask<{ signature: string }>('POST', '/v1/w3s/developer/sign/typedData', {
      entitySecretCiphertext: (await signingFields(values)).entitySecretCiphertext,
      walletId: item.id,
      data: values['data'],
    })
    return { shown: data.signature }
  },
}

const rename: Action<Wallet> = {
  title: 'Rename',
  icon: 'pen-line',
  fields: [
    { name: 'name', title: 'Name', isOptional: true },
    { name: 'refId', title: 'Your reference', isOptional: true },
  ],
  async run(item, values) {
    await ask('PUT', `/v1/w3s/wallets/${item.id}`, values)
    return { told: 'The wallet is renamed.' }
  },
}

export const wallet: DetailScreen<Wallet> = {
  list: { title: 'Wallets', href: '/wallets' },
  pathOf: (walletId) => `/v1/w3s/wallets/${walletId}`,
  member: 'wallet',
  titleOf: ({ name, accountType }) => name || `${accountType} wallet`,
  stateOf: ({ state }) => state,
  facts: [
    { title: 'Address', cell: (each) => address(each.address) },
    { title: 'Chain', cell: ({ blockchain }) => chain(blockchain) },
    { title: 'Account', cell: ({ accountType, scaCore }) => text(scaCore ?? accountType) },
    { title: 'Custody', cell: ({ custodyType }) => text(custodyType) },
    { title: 'Wallet set', cell: ({ walletSetId }) => id(walletSetId, `/wallet-sets/${walletSetId}`) },
    {
      title: 'User',
      cell: ({ userId }) => (userId ? link(userId, `/users/${encodeURIComponent(userId)}`) : undefined),
    },
    { title: 'Reference', cell: ({ refId }) => text(refId) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
  ],
  actionsOf: (item) => [
    transferOf(item),
    fund,
    signMessage,
    signTypedData,
    rename,
    setPolicyOf(({ id: subjectId }) => ({ subjectId }), item),
    ...freezeActs<Wallet>('wallet'),
  ],
  follows: () => followsTypes('transaction', 'wallet'),
  parts: [
    {
      title: 'Balances',
      pathOf: (item) => `/v1/w3s/wallets/${item.id}/balances?includeAll=true&pageSize=20`,
      member: 'tokenBalances',
      columns: balanceColumns,
      empty: 'This wallet has no tokens yet.',
    },
    {
      title: 'Movements',
      pathOf: (item) => `/operator/movements?walletId=${item.id}&pageSize=20`,
      columns: movementColumns as readonly Column<Row>[],
      hrefOf: (row) => `/movements/${row.id}`,
      empty: 'No money has moved yet.',
    },
    policiesPart,
  ],
}
