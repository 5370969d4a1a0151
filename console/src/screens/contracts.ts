import { ask } from '../api/ask.ts'
import { address, chain, id, mono, status, text, time } from '../parts/cell.ts'
import { blockchains, chainChoices } from './choices.ts'
import { type DetailScreen, followsTypes, type ListScreen, type Row } from './screen.ts'

type Contract = Row & {
  name: string
  blockchain: string
  status: string
  contractInputType: string
  contractAddress?: string
  deploymentTransactionId?: string
  functions?: { name: string; type: string; stateMutability?: string; inputs?: { type: string }[] }[]
  createDate: string
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
    { title: 'State', cell: (contract) => status(contract.status), place: 'state' },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
  ],
  hrefOf: (contract) => `/contracts/${contract.id}`,
  follows: followsTypes('contract', 'transaction'),
  actions: [
    {
      title: 'Import',
      icon: 'plus',
      tone: 'primary',
      about:
        'Makes a contract that is on a chain known here: its functions can be called, and its events followed.',
      fields: [
        { name: 'name', title: 'Name' },
        { name: 'blockchain', title: 'Blockchain', choices: chainChoices },
        { name: 'address', title: 'Address' },
      ],
      async run(_, values) {
        const { data } = await ask<{ contract: { id: string } }>('POST', '/v1/w3s/contracts/import', {
          idempotencyKey: crypto.randomUUID(),
          ...values,
        })
        return { goTo: `/contracts/${data.contract.id}` }
      },
    },
  ],
  filters: [
    { name: 'blockchain', title: 'Chain', options: blockchains },
    { name: 'status', title: 'State', options: ['PENDING', 'COMPLETE', 'FAILED'] },
    { name: 'name', title: 'Name' },
  ],
  empty: { text: 'No contracts yet: import one, or deploy one from its ABI and bytecode.' },
}

export const contract: DetailScreen<Contract> = {
  list: { title: 'Contracts', href: '/contracts' },
  pathOf: (contractId) => `/v1/w3s/contracts/${contractId}`,
  member: 'contract',
  titleOf: ({ name }) => name,
  stateOf: (item) => item.status,
  facts: [
    { title: 'Address', cell: ({ contractAddress }) => address(contractAddress) },
    { title: 'Chain', cell: ({ blockchain }) => chain(blockchain) },
    { title: 'Source', cell: ({ contractInputType }) => text(contractInputType) },
    {
      title: 'Deployment',
      cell: ({ deploymentTransactionId: deployedBy }) => id(deployedBy, `/movements/${deployedBy}`),
    },
    { title: 'Functions', cell: ({ functions }) => text(functions?.length) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
  ],
  actions: [
    {
      title: 'Query',
      icon: 'search',
      isOffered: ({ contractAddress }) => contractAddress !== undefined,
      about: 'Calls a function that changes nothing, and shows what it returns.',
      fields: [
        { name: 'abiFunctionSignature', title: 'Function', hint: 'Such as balanceOf(address)' },
        {
          name: 'abiParameters',
          title: 'Parameters',
          hint: 'A JSON array, such as ["0x…"]',
          isOptional: true,
        },
      ],
      async run({ contractAddress, blockchain }, { abiFunctionSignature, abiParameters }) {
        const { data } = await ask<{ outputValues?: unknown }>('POST', '/v1/w3s/contracts/query', {
          address: contractAddress,
          blockchain,
          abiFunctionSignature,
          abiParameters: parsed(abiParameters),
        })
        return { shown: data.outputValues ?? data }
      },
    },
    {
      title: 'Follow an event',
      icon: 'plus',
      isOffered: ({ contractAddress }) => contractAddress !== undefined,
      fields: [{ name: 'eventSignature', title: 'Event', hint: 'Such as Transfer(address,address,uint256)' }],
      async run({ contractAddress, blockchain }, { eventSignature }) {
        await ask('POST', '/v1/w3s/contracts/monitors', {
          idempotencyKey: crypto.randomUUID(),
          contractAddress,
          blockchain,
          eventSignature,
        })
        return { told: 'The event is followed from now on.' }
      },
    },
  ],
  parts: [
    {
      title: 'Monitors',
      pathOf: ({ contractAddress, blockchain }) =>
        contractAddress &&
        `/v1/w3s/contracts/monitors?contractAddress=${contractAddress}&blockchain=${blockchain}&pageSize=20`,
      member: 'eventMonitors',
      columns: [
        { title: 'Event', cell: (row) => mono(row['eventSignature'] as string), place: 'title' },
        {
          title: 'On',
          cell: (row) =>
            status(row['isEnabled'] === false ? 'off' : 'on', row['isEnabled'] === false ? 'idle' : 'good'),
          place: 'state',
        },
        { title: 'Created', cell: (row) => time(row['createDate'] as string), place: 'below' },
      ],
      empty: 'No event of this contract is followed.',
    },
    {
      title: 'Events',
      pathOf: ({ contractAddress, blockchain }) =>
        contractAddress &&
        `/v1/w3s/contracts/events?contractAddress=${contractAddress}&blockchain=${blockchain}&pageSize=20`,
      member: 'eventLogs',
      columns: [
        {
          title: 'Time',
          cell: (row) => time((row['firstConfirmDate'] ?? row['createDate']) as string),
          place: 'below',
        },
        { title: 'Event', cell: (row) => mono(row['eventSignature'] as string), place: 'title' },
        {
          title: 'Block',
          isNumber: true,
          cell: (row) => mono(row['blockHeight'] as number),
          place: 'amount',
        },
        { title: 'Transaction', cell: (row) => mono((row['txHash'] as string | undefined)?.slice(0, 14)) },
      ],
      empty: 'No events yet.',
    },
  ],
}

function parsed(json: string | undefined): unknown[] {
  if (!json) return []
  try {
    return JSON.parse(json)
  } catch {
    throw new Error('The parameters are no JSON: write an array, such as ["0x…", "1000000"].')
  }
}
