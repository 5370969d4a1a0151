import { type Answer, ask, read } from '../api/ask.ts'
import { domainOf } from '../api/chains.svelte.ts'
import type { Movement, OperatorChain } from '../api/types.ts'
import { domainName } from '../format/chains.ts'
import { decimalOf } from '../format/money.ts'
import { address, amount, chain, id, link, status, text, time } from '../parts/cell.ts'
import { chainChoices } from './choices.ts'
import { movementsOf } from './movements.ts'
import {
  type Action,
  type Column,
  type DetailScreen,
  followsTypes,
  type ListScreen,
  type Row,
} from './screen.ts'

/** The base units of stablecoins are millionths. */
const coinDecimals = 6
const coins = (units: string | undefined, symbol?: string) =>
  amount(units === undefined ? undefined : decimalOf(BigInt(units), coinDecimals), symbol)
/** Unified balances are of USDC. */
const usdc = (units: string | undefined) => coins(units, 'USDC')

const chainOfDomain = async () => {
  const chains = await read<OperatorChain[]>('/operator/chains')
  return new Map(chains.map(({ blockchain, domain }) => [domain, blockchain]))
}
const domainText = (domain: number | string | undefined) =>
  text(domain === undefined ? undefined : domainName(domain))

type Message = {
  message: string
  eventNonce: string
  attestation: string
  decodedMessage: {
    destinationDomain: string
    finalityThresholdExecuted: string
    decodedMessageBody: { amount: string; feeExecuted: string; expirationBlock: string } | null
  } | null
  status: string
  delayReason: string | null
  forwardState?: string
  forwardDelayReason?: string
  forwardFailureReason?: string
}
type MovementRow = Row & Movement

/** The operation that knows the messages of the transaction of a burn. */
const messagesPath = (blockchain: string, txHash: string | undefined) => {
  const domain = domainOf(blockchain)
  return txHash && domain !== undefined ? `/v2/messages/${domain}?transactionHash=${txHash}` : undefined
}

const lookUp: Action<undefined> = {
  title: 'Look up',
  icon: 'search',
  about: 'Shows the messages of any transaction with their attestations, as their receivers see them.',
  fields: [
    { name: 'blockchain', title: 'Chain that burned', choices: () => chainChoices('crosschain') },
    { name: 'transactionHash', title: 'Transaction hash', hint: '0x and 64 hexadecimal digits' },
  ],
  async run(_, { blockchain = '', transactionHash }) {
    const path = messagesPath(blockchain, transactionHash)
    if (!path) throw new Error(`${blockchain} takes no part in cross-chain messages.`)
    return { shown: await read<unknown>(path) }
  },
}

const fees: Action<undefined> = {
  title: 'Fees',
  icon: 'coins',
  about:
    'Shows what a burn costs: in basis points for each speed, and in millionths of a USDC for the delivery.',
  fields: [
    { name: 'source', title: 'From', choices: () => chainChoices('crosschain') },
    { name: 'destination', title: 'To', choices: () => chainChoices('crosschain') },
  ],
  async run(_, { source = '', destination = '' }) {
    const [from, to] = [domainOf(source), domainOf(destination)]
    return { shown: await read<unknown>(`/v2/burn/USDC/fees/${from}/${to}?forward=true`) }
  },
}

export const messages = movementsOf('message', {
  title: 'Messages',
  about:
    'Coins that were burned on one chain to be minted on another, where an address of yours pays or receives.',
  hrefOf: (row) => `/messages/${row.id}`,
  actions: [lookUp, fees],
  empty: { text: 'No burn of yours has sent a message yet.' },
})

const attestationsOf = async ({ blockchain, txHash }: MovementRow): Promise<Message[]> => {
  const path = messagesPath(blockchain, txHash)
  return path ? (await read<{ messages: Message[] }>(path)).messages : []
}
const nonceField = (item: MovementRow) => ({
  name: 'nonce',
  title: 'Message',
  choices: async () =>
    (await attestationsOf(item)).map(({ eventNonce }) => ({ value: eventNonce, title: eventNonce })),
})

const messageActs = (item: MovementRow): readonly Action<MovementRow>[] => [
  {
    title: 'Attestation',
    icon: 'scroll-text',
    about: 'Shows what receiveMessage of the other chain takes: any account can deliver it, once.',
    fields: [nonceField(item)],
    async run(_, { nonce }) {
      const found = (await attestationsOf(item)).find(({ eventNonce }) => eventNonce === nonce)
      return { shown: { message: found?.message, attestation: found?.attestation } }
    },
  },
  {
    title: 'Attest again',
    icon: 'rotate-ccw',
    about:
      'Asks for an attestation without an end, in place of one that expires or whose attesters were replaced. The message is delivered once all the same.',
    fields: [nonceField(item)],
    async run(_, { nonce }) {
      const { data } = await ask<{ message: string }>('POST', `/v2/reattest/${nonce}`)
      return { told: data.message }
    },
  },
]

const messageColumns: readonly Column<Row & Message>[] = [
  { title: 'Nonce', cell: ({ eventNonce }) => id(eventNonce), place: 'title' },
  {
    title: 'Amount',
    isNumber: true,
    place: 'amount',
    cell: ({ decodedMessage }) => coins(decodedMessage?.decodedMessageBody?.amount),
  },
  {
    title: 'To',
    cell: ({ decodedMessage }) => domainText(decodedMessage?.destinationDomain),
    place: 'below',
  },
  {
    title: 'Speed',
    place: 'below',
    cell: ({ decodedMessage }) =>
      text(decodedMessage && (Number(decodedMessage.finalityThresholdExecuted) < 2000 ? 'fast' : 'final')),
  },
  {
    title: 'Fee',
    isNumber: true,
    cell: ({ decodedMessage }) => coins(decodedMessage?.decodedMessageBody?.feeExecuted),
  },
  {
    title: 'Ends at block',
    isNumber: true,
    cell: ({ decodedMessage }) => {
      const block = decodedMessage?.decodedMessageBody?.expirationBlock
      return text(block === '0' ? undefined : block)
    },
  },
  {
    title: 'Waits for',
    cell: ({ delayReason, forwardDelayReason }) => text(delayReason ?? forwardDelayReason),
  },
  {
    title: 'Delivery',
    cell: ({ forwardState, forwardFailureReason }) => text(forwardFailureReason ?? forwardState),
  },
  {
    title: 'Signatures',
    isNumber: true,
    // An attestation is the signatures of attesters, of 65 bytes each.
    cell: ({ attestation }) =>
      text(attestation.startsWith('0x') ? (attestation.length - 2) / 130 : undefined),
  },
  { title: 'Attestation', cell: (message) => status(message.status), place: 'state' },
]

const keyColumns: readonly Column<Row>[] = [
  { title: 'Public key', cell: (row) => id(row['publicKey'] as string), place: 'title' },
  { title: 'Version', isNumber: true, cell: (row) => text(row['cctpVersion'] as number), place: 'amount' },
]

const timelineOf = (movementId: string) => link('Open', `/movements/${movementId}`)

export const message: DetailScreen<MovementRow> = {
  list: { title: 'Messages', href: '/messages' },
  pathOf: (messageId) => `/operator/movements/${messageId}`,
  titleOf: ({ amounts, symbol }) => `Message of ${amounts?.[0] ?? ''} ${symbol ?? 'USDC'}`,
  stateOf: ({ state }) => state,
  facts: [
    { title: 'From', cell: ({ from }) => address(from?.address) },
    { title: 'To', cell: ({ to }) => address(to?.address) },
    { title: 'Burned on', cell: ({ blockchain }) => chain(blockchain) },
    { title: 'Transaction', cell: ({ txHash }) => id(txHash) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
    { title: 'Timeline', cell: (item) => timelineOf(item.id) },
  ],
  actionsOf: messageActs,
  follows: () => () => true,
  parts: [
    {
      title: 'Messages of the transaction',
      pathOf: ({ blockchain, txHash }) => messagesPath(blockchain, txHash),
      member: 'messages',
      columns: messageColumns as readonly Column<Row>[],
      empty: 'No block shows the burn.',
    },
    {
      title: 'Keys of attesters',
      pathOf: () => '/v2/publicKeys',
      member: 'publicKeys',
      columns: keyColumns,
      empty: 'No key attests messages.',
    },
  ],
}

export const attesters: ListScreen<Row> = {
  title: 'Attesters',
  about: 'The keys that sign messages for the contracts of other chains, and those that did.',
  path: '/v2/publicKeys',
  member: 'publicKeys',
  columns: keyColumns,
  actions: [
    {
      title: 'Fast allowance',
      icon: 'gauge',
      about: 'Shows how much may be attested before it is final now, in whole USDC.',
      async run() {
        return { shown: await read<unknown>('/v2/fastBurn/USDC/allowance') }
      },
    },
  ],
  empty: {
    text: 'No key attests messages on this server.',
    command: 'bezant attestation-keys create --purpose message',
  },
}

type Balance = { domain: number; depositor: string; balance: string }
type PendingDeposit = { domain: number; depositor: string; amount: string }
type Owner = { address: string; name?: string }

/** The most depositors that one request may name. */
const depositorsMax = 20

/** The balances of one depositor, or of the wallets of a page: those that there are. */
async function readBalances(path: string): Promise<Answer<unknown>> {
  const depositor = new URL(path, location.origin).searchParams.get('depositor')
  const owners = depositor
    ? { data: { wallets: [{ address: depositor }] }, requestId: '' }
    : await ask<{ wallets: Owner[] }>('GET', path)
  const names = new Map(owners.data.wallets.map((owner: Owner) => [owner.address, owner.name]))
  const sources = [...names.keys()].map((each) => ({ depositor: each }))
  if (sources.length === 0) return { ...owners, data: [] }
  const asked = { token: 'USDC', sources }
  const [{ data: found }, { data: coming }, chains] = await Promise.all([
    ask<{ balances: Balance[] }>('POST', '/v1/balances', asked),
    ask<{ deposits: PendingDeposit[] }>('POST', '/v1/deposits', asked),
    chainOfDomain(),
  ])
  const rows = found.balances.map(({ domain, depositor: owner, balance }) => ({
    id: `${domain} ${owner}`,
    depositor: owner,
    name: names.get(owner),
    domain,
    blockchain: chains.get(domain),
    balance,
    pending: String(
      coming.deposits
        .filter((each) => each.domain === domain && each.depositor === owner)
        .reduce((sum, each) => sum + BigInt(each.amount), 0n),
    ),
  }))
  return {
    ...owners,
    data: depositor ? rows : rows.filter(({ balance, pending }) => /[1-9]/.test(balance + pending)),
  }
}

export const unifiedBalances: ListScreen<Row> = {
  title: 'Unified balances',
  about:
    'What your wallets have deposited and can spend on any chain. A deposit counts when its block is final; a filter shows the balances of any depositor.',
  path: '/v1/w3s/wallets',
  query: { pageSize: String(depositorsMax) },
  read: readBalances,
  columns: [
    {
      title: 'Depositor',
      cell: (row) => address(row['depositor'] as string, row['name'] as string | undefined),
      place: 'title',
    },
    {
      title: 'Chain',
      cell: (row) => chain(row['blockchain'] as string | undefined) ?? domainText(row['domain'] as number),
      place: 'below',
    },
    {
      title: 'Balance',
      isNumber: true,
      cell: (row) => amount(row['balance'] as string, 'USDC'),
      place: 'amount',
    },
    {
      title: 'Not final yet',
      isNumber: true,
      cell: (row) => (row['pending'] === '0' ? undefined : usdc(row['pending'] as string)),
      place: 'state',
    },
  ],
  filters: [{ name: 'depositor', title: 'Depositor' }],
  follows: followsTypes('transaction'),
  empty: { text: 'None of these wallets has deposited coins.' },
}

export const unifiedTransfers = movementsOf('unifiedTransfer', {
  title: 'Unified transfers',
  about: 'Transfers out of unified balances that an address of yours pays or receives.',
  hrefOf: (row) => `/unified-transfers/${row.id}`,
  empty: { text: 'Nothing was transferred out of a unified balance yet.' },
})

type UnifiedTransfer = Row & {
  status: string
  destinationDomain: number
  transactionHash?: string
  burnIntents: { transferSpecHash: string; maxBlockHeight: string; maxFee: string }[]
  forwardingDetails: { forwardingEnabled: boolean; failureReason?: string; delayReason?: string }
  fees: { total: string; token: string }
  attestation: { expirationBlock: string }
}

const transferPath = (transferId: string) => `/v1/transfer/${transferId}`

/** The transfer as its one row. */
async function readTransfer(path: string): Promise<Answer<unknown>> {
  const answer = await ask<UnifiedTransfer>('GET', path)
  return { ...answer, data: [answer.data] }
}

const transferColumns: readonly Column<UnifiedTransfer>[] = [
  { title: 'To', cell: ({ destinationDomain }) => domainText(destinationDomain), place: 'title' },
  {
    title: 'Minted by',
    cell: ({ forwardingDetails }) => text(forwardingDetails.forwardingEnabled ? 'this server' : 'anyone'),
    place: 'below',
  },
  {
    title: 'Waits for',
    cell: ({ forwardingDetails: { delayReason, failureReason } }) => text(failureReason ?? delayReason),
  },
  { title: 'Ends at block', isNumber: true, cell: ({ attestation }) => text(attestation.expirationBlock) },
  { title: 'Fees', isNumber: true, place: 'amount', cell: ({ fees }) => amount(fees.total, fees.token) },
  { title: 'State', cell: (transfer) => status(transfer.status), place: 'state' },
]

export const unifiedTransfer: DetailScreen<MovementRow> = {
  list: { title: 'Unified transfers', href: '/unified-transfers' },
  pathOf: (transferId) => `/operator/movements/${transferId}`,
  titleOf: ({ amounts, symbol }) => `Unified transfer of ${amounts?.[0] ?? ''} ${symbol ?? 'USDC'}`,
  stateOf: ({ state }) => state,
  facts: [
    { title: 'From', cell: ({ from }) => address(from?.address) },
    { title: 'To', cell: ({ to }) => address(to?.address) },
    { title: 'Minted on', cell: ({ blockchain }) => chain(blockchain) },
    { title: 'Transaction', cell: ({ txHash }) => id(txHash) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
    { title: 'Timeline', cell: (item) => timelineOf(item.id) },
  ],
  follows: () => () => true,
  parts: [
    {
      title: 'Attestation',
      pathOf: (item) => transferPath(item.id),
      readerOf: () => readTransfer,
      columns: transferColumns as readonly Column<Row>[],
      empty: 'It is not attested.',
    },
    {
      title: 'Burn intents',
      pathOf: (item) => transferPath(item.id),
      member: 'burnIntents',
      columns: [
        { title: 'Specification', cell: (row) => id(row['transferSpecHash'] as string), place: 'title' },
        {
          title: 'Highest fee',
          isNumber: true,
          cell: (row) => usdc(row['maxFee'] as string),
          place: 'amount',
        },
        {
          title: 'Until block',
          isNumber: true,
          cell: (row) => blockText(row['maxBlockHeight'] as string),
          place: 'state',
        },
      ],
      empty: 'No intents.',
    },
  ],
}

/** Intents without an end have the greatest number there is. */
const blockText = (block: string) => text(block.length > 20 ? 'no end' : block)
