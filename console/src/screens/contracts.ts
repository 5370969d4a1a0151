import { type Answer, ask, read } from '../api/ask.ts'
import { signingFields, withSecret } from '../api/entity-secret.ts'
import { shortId } from '../format/text.ts'
import { address, chain, id, mono, status, text, time } from '../parts/cell.ts'
import { type AbiItem, callFields, callOf, signatureField, signatureOf, typesOf } from './calls.ts'
import { blockchains, chainChoices, feeLevels, walletChoices, walletOf } from './choices.ts'
import { deployContract, deployTemplate } from './deployment.ts'
import {
  type Action,
  type Column,
  type DetailScreen,
  followsTypes,
  type ListScreen,
  type Row,
} from './screen.ts'

type Interface = { functions?: AbiItem[]; events?: AbiItem[] }
type Contract = Row &
  Interface & {
    name: string
    description?: string
    blockchain: string
    status: string
    archived: boolean
    contractInputType: string
    verificationStatus?: string
    contractAddress?: string
    deploymentTransactionId?: string
    deploymentErrorDetails?: string
    implementationContract?: Interface & { contractAddress: string }
    createDate: string
  }

const importContract: Action<undefined> = {
  title: 'Import',
  icon: 'plus',
  about:
    'Makes a contract that is on a chain known here: its functions can be called, and its events followed.',
  fields: [
    { name: 'name', title: 'Name' },
    { name: 'blockchain', title: 'Blockchain', choices: () => chainChoices('contracts') },
    { name: 'address', title: 'Address' },
    {
      name: 'abiJson',
      title: 'ABI',
      hint: 'Without it, the ABI is that of the verified sources that the server knows.',
      isLong: true,
      isOptional: true,
    },
  ],
  async run(_, values) {
    const { data } = await ask<{ contract: { id: string } }>('POST', '/v1/w3s/contracts/import', {
      idempotencyKey: crypto.randomUUID(),
      ...values,
    })
    return { goTo: `/contracts/${data.contract.id}` }
  },
}

export const contracts: ListScreen<Contract> = {
  title: 'Contracts',
  path: '/v1/w3s/contracts',
  member: 'contracts',
  columns: [
    { title: 'Name', cell: ({ name }) => text(name), place: 'title' },
    { title: 'Address', cell: ({ contractAddress }) => address(contractAddress), place: 'below' },
    { title: 'Chain', cell: ({ blockchain }) => chain(blockchain), place: 'below' },
    { title: 'Source', cell: ({ contractInputType }) => text(contractInputType) },
    { title: 'State', cell: (contract) => status(stateOf(contract)), place: 'state' },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
  ],
  hrefOf: (contract) => `/contracts/${contract.id}`,
  follows: followsTypes('contract', 'transaction'),
  actions: [{ ...deployContract, tone: 'primary' }, deployTemplate, importContract],
  filters: [
    { name: 'blockchain', title: 'Chain', options: blockchains },
    { name: 'status', title: 'State', options: ['PENDING', 'COMPLETE', 'FAILED'] },
    {
      name: 'contractInputType',
      title: 'Source',
      options: ['IMPORT', 'BYTECODE', 'TEMPLATE', 'AUTO_IMPORT'],
    },
    { name: 'name', title: 'Name' },
  ],
  empty: {
    text: 'No contracts yet: import one, or deploy one from its bytecode or from a template.',
    trigger: 'contract.eventLog',
  },
}

const stateOf = ({ archived, status: state }: Contract) => (archived ? 'archived' : state)

/** The functions of a contract, and those of the implementation behind a proxy. */
const functionsOf = ({ functions = [], implementationContract }: Contract): readonly AbiItem[] =>
  [...functions, ...(implementationContract?.functions ?? [])].filter(({ type }) => type === 'function')
const eventsOf = ({ events = [], implementationContract }: Contract): readonly AbiItem[] => [
  ...events,
  ...(implementationContract?.events ?? []),
]
const isReading = ({ stateMutability }: AbiItem) => stateMutability === 'view' || stateMutability === 'pure'
const isUsable = ({ contractAddress, archived }: Contract) => contractAddress !== undefined && !archived

/** Asks a function that changes nothing. */
function query(item: Contract): Action<Contract> {
  const isKnown = functionsOf(item).length > 0
  const functions = functionsOf(item).filter(isReading)
  return {
    title: 'Query',
    icon: 'search',
    isOffered: () => isUsable(item) && (!isKnown || functions.length > 0),
    about: 'Calls a function that changes nothing, and shows what it returns.',
    fields: (values) => [
      ...callFields(functions, values),
      ...(isKnown ? [] : [{ name: 'abiJson', title: 'ABI', isLong: true }]),
    ],
    async run({ contractAddress, blockchain }, values) {
      const { data } = await ask<{ outputValues?: unknown[]; outputData?: string }>(
        'POST',
        '/v1/w3s/contracts/query',
        { address: contractAddress, blockchain, ...callOf(functions, values), abiJson: values['abiJson'] },
      )
      return { shown: data.outputValues?.length ? data.outputValues : data.outputData }
    },
  }
}

/** Calls a function by a transaction of a wallet. */
function execute(item: Contract): Action<Contract> {
  const functions = functionsOf(item).filter((each) => !isReading(each))
  return {
    title: 'Call',
    icon: 'square-function',
    isOffered: () => isUsable(item) && (functionsOf(item).length === 0 || functions.length > 0),
    about: 'Calls a function by a transaction, which the wallet signs and pays. It cannot be taken back.',
    typed: () => 'call',
    fields: withSecret((values) => [
      ...callFields(functions, values),
      { name: 'walletId', title: 'Wallet', choices: () => walletChoices(item.blockchain) },
      { name: 'amount', title: 'Native coins to send', isOptional: true },
      { name: 'feeLevel', title: 'Fee', options: feeLevels, value: 'MEDIUM' },
    ]),
    async run({ contractAddress }, values) {
      const { data } = await ask<{ id: string }>('POST', '/v1/w3s/developer/transactions/contractExecution', {
        ...(await signingFields(values)),
        ...callOf(functions, values),
        contractAddress,
        walletId: walletOf(values['walletId']).walletId,
        amount: values['amount'],
        feeLevel: values['feeLevel'],
      })
      return { goTo: `/movements/${data.id}` }
    },
  }
}

const followEvent = (item: Contract): Action<Contract> => ({
  title: 'Follow an event',
  icon: 'plus',
  isOffered: isUsable,
  about: 'Records the logs of an event from now on, and of earlier blocks where you name the first.',
  fields: [
    signatureField('eventSignature', 'Event', eventsOf(item), 'Transfer(address,address,uint256)'),
    { name: 'fromBlock', title: 'From block', isOptional: true },
  ],
  async run({ contractAddress, blockchain }, { eventSignature, fromBlock }) {
    await ask('POST', '/v1/w3s/contracts/monitors', {
      idempotencyKey: crypto.randomUUID(),
      contractAddress,
      blockchain,
      eventSignature,
      ...(fromBlock && { fromBlock: Number(fromBlock) }),
    })
    return { told: 'The event is followed from now on.' }
  },
})

const renameContract = (item: Contract): Action<Contract> => ({
  title: 'Rename',
  icon: 'pen-line',
  fields: [
    { name: 'name', title: 'Name', value: item.name },
    { name: 'description', title: 'Description', value: item.description, isOptional: true },
  ],
  async run({ id: contractId }, values) {
    await ask('PATCH', `/v1/w3s/contracts/${contractId}`, values)
    return { told: 'The contract is renamed.' }
  },
})

const archive: Action<Contract> = {
  title: 'Archive',
  icon: 'trash',
  tone: 'danger',
  isOffered: ({ archived }) => !archived,
  about:
    'Refuses queries and further monitors of this contract here until it is restored. The chain keeps it.',
  async run({ id: contractId }) {
    await ask('PATCH', `/v1/w3s/contracts/${contractId}`, { archived: true })
    return { told: 'The contract is archived.' }
  },
}

const restore: Action<Contract> = {
  title: 'Restore',
  icon: 'undo-2',
  isOffered: ({ archived }) => archived,
  async run({ id: contractId }) {
    await ask('PATCH', `/v1/w3s/contracts/${contractId}`, { archived: false })
    return { told: 'The contract is restored.' }
  },
}

type EventMonitor = Row & {
  blockchain: string
  contractAddress: string
  eventSignature: string
  eventSignatureHash: string
  isEnabled: boolean
  lagBlocks?: number
  history?: { fromBlock: number; nextBlock?: number; toBlock?: number; isComplete: boolean }
  createDate: string
}

const stateOfMonitor = ({ isEnabled }: EventMonitor) => (isEnabled === false ? 'off' : 'following')

const historyOf = ({ history }: EventMonitor) =>
  history &&
  (history.isComplete
    ? `from block ${history.fromBlock}`
    : `block ${history.nextBlock ?? history.fromBlock} of ${history.fromBlock} to ${history.toBlock ?? 'now'}`)

const monitorColumns: readonly Column<EventMonitor>[] = [
  { title: 'Event', cell: ({ eventSignature }) => mono(eventSignature), place: 'title' },
  { title: 'Contract', cell: ({ contractAddress }) => address(contractAddress), place: 'below' },
  { title: 'Chain', cell: ({ blockchain }) => chain(blockchain), place: 'below' },
  { title: 'Earlier blocks', cell: (monitor) => text(historyOf(monitor)) },
  { title: 'Behind', isNumber: true, cell: ({ lagBlocks }) => text(lagBlocks) },
  { title: 'State', cell: (monitor) => status(stateOfMonitor(monitor)), place: 'state' },
  { title: 'Created', cell: ({ createDate }) => time(createDate) },
]

type EventLog = Row & {
  eventSignature: string
  blockHeight: number
  txHash: string
  values?: { name: string; value: unknown }[]
  firstConfirmDate?: string
  createDate: string
}

/** A decoded log on one line, such as `to 0xabcdef…, value 5`. */
const valuesOf = ({ values }: EventLog) =>
  values?.map(({ name, value }) => `${name} ${shortValue(value)}`).join(', ')

const shortValue = (value: unknown) =>
  typeof value !== 'string' ? JSON.stringify(value) : value.startsWith('0x') ? shortId(value) : value

const logColumns: readonly Column<EventLog>[] = [
  { title: 'Time', cell: (log) => time(log.firstConfirmDate ?? log.createDate), place: 'below' },
  { title: 'Event', cell: ({ eventSignature }) => mono(eventSignature), place: 'title' },
  { title: 'Values', cell: (log) => mono(valuesOf(log)) },
  { title: 'Block', isNumber: true, cell: ({ blockHeight }) => mono(blockHeight), place: 'amount' },
  { title: 'Transaction', cell: ({ txHash }) => id(txHash), place: 'state' },
]

const ofContract = (
  { contractAddress, blockchain }: { contractAddress?: string; blockchain?: string },
  what: string,
) =>
  contractAddress &&
  `/v1/w3s/contracts/${what}?contractAddress=${contractAddress}&blockchain=${blockchain}&pageSize=20`

const logsPart = {
  title: 'Events',
  pathOf: (item: Contract | EventMonitor) => ofContract(item, 'events'),
  member: 'eventLogs',
  columns: logColumns as readonly Column<Row>[],
  empty: 'No events yet.',
}

const readFunctions = async (path: string): Promise<Answer<unknown>> => {
  const { contract: found } = await read<{ contract: Contract }>(path)
  const data = functionsOf(found).map((each) => ({ id: signatureOf(each), ...each }))
  return { data, requestId: '' }
}

export const contract: DetailScreen<Contract> = {
  list: { title: 'Contracts', href: '/contracts' },
  pathOf: (contractId) => `/v1/w3s/contracts/${contractId}`,
  member: 'contract',
  titleOf: ({ name }) => name,
  stateOf,
  facts: [
    { title: 'Address', cell: ({ contractAddress }) => address(contractAddress) },
    { title: 'Chain', cell: ({ blockchain }) => chain(blockchain) },
    { title: 'Source', cell: ({ contractInputType }) => text(contractInputType) },
    { title: 'Verification', cell: ({ verificationStatus }) => text(verificationStatus) },
    {
      title: 'Implementation',
      cell: ({ implementationContract }) => address(implementationContract?.contractAddress),
    },
    {
      title: 'Deployment',
      cell: ({ deploymentTransactionId: deployedBy }) => id(deployedBy, `/movements/${deployedBy}`),
    },
    { title: 'Error', cell: ({ deploymentErrorDetails }) => text(deploymentErrorDetails) },
    { title: 'Description', cell: ({ description }) => text(description) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
  ],
  actionsOf: (item) => [
    query(item),
    execute(item),
    followEvent(item),
    renameContract(item),
    archive,
    restore,
  ],
  follows: () => followsTypes('contract', 'eventMonitor', 'eventLog', 'transaction'),
  parts: [
    {
      title: 'Monitors',
      pathOf: (item) => ofContract(item, 'monitors'),
      member: 'eventMonitors',
      columns: monitorColumns as readonly Column<Row>[],
      hrefOf: (row) => `/event-monitors/${row.id}`,
      empty: 'No event of this contract is followed.',
    },
    logsPart,
    {
      title: 'Functions',
      pathOf: (item) => `/v1/w3s/contracts/${item.id}`,
      readerOf: () => readFunctions,
      columns: [
        { title: 'Function', cell: (row) => mono(row.id), place: 'title' },
        {
          title: 'Returns',
          cell: (row) => mono(typesOf((row as unknown as AbiItem).outputs)),
          place: 'below',
        },
        { title: 'Kind', cell: (row) => text(row['stateMutability'] as string), place: 'state' },
      ],
      empty: 'The functions of this contract are not known: import it with its ABI.',
    },
  ],
}

export const eventMonitors: ListScreen<EventMonitor> = {
  title: 'Event monitors',
  about:
    'Events of contracts whose logs are recorded, and told to webhooks. A contract begins to follow one on its page.',
  path: '/v1/w3s/contracts/monitors',
  member: 'eventMonitors',
  columns: monitorColumns,
  hrefOf: (monitor) => `/event-monitors/${monitor.id}`,
  filters: [
    { name: 'blockchain', title: 'Chain', options: blockchains },
    { name: 'contractAddress', title: 'Contract address' },
    { name: 'eventSignature', title: 'Event' },
  ],
  follows: followsTypes('eventMonitor', 'contract'),
  empty: { text: 'No event is followed yet.', trigger: 'contract.eventLog' },
}

/** Turns a monitor on or off. */
const turn = (isEnabled: boolean): Action<EventMonitor> => ({
  title: isEnabled ? 'Enable' : 'Disable',
  icon: isEnabled ? 'play' : 'pause',
  isOffered: (item) => item.isEnabled === !isEnabled,
  about: isEnabled ? 'Records logs from now on.' : 'Logs of the time until it is enabled are not recorded.',
  async run(item) {
    await ask('PUT', `/v1/w3s/contracts/monitors/${item.id}`, { isEnabled })
    return { told: isEnabled ? 'The event is followed again.' : 'The event is not followed any more.' }
  },
})

export const eventMonitor: DetailScreen<EventMonitor> = {
  list: { title: 'Event monitors', href: '/event-monitors' },
  pathOf: (monitorId) => `/operator/eventMonitors/${monitorId}`,
  member: 'eventMonitor',
  titleOf: ({ eventSignature }) => eventSignature,
  stateOf: stateOfMonitor,
  facts: [
    { title: 'Contract', cell: ({ contractAddress }) => address(contractAddress) },
    { title: 'Chain', cell: ({ blockchain }) => chain(blockchain) },
    { title: 'Behind', cell: ({ lagBlocks }) => text(lagBlocks) },
    { title: 'Earlier blocks', cell: (item) => text(historyOf(item)) },
    { title: 'Hash', cell: ({ eventSignatureHash }) => mono(eventSignatureHash) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
  ],
  actions: [
    turn(true),
    turn(false),
    {
      title: 'Delete',
      icon: 'trash',
      tone: 'danger',
      about: 'Ends the monitor. The logs that it recorded stay listed.',
      typed: () => 'delete',
      async run(item) {
        await ask('DELETE', `/v1/w3s/contracts/monitors/${item.id}`)
        return { goTo: '/event-monitors', told: 'The monitor is deleted.' }
      },
    },
  ],
  follows: () => followsTypes('eventMonitor', 'eventLog', 'contract'),
  parts: [logsPart],
}
