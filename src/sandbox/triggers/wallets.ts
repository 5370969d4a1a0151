/** Fixtures of wallets: transactions, and logs of contracts. */
import { canonicalAddress } from '#chains/addresses/canonical'
import { stablecoinNamed } from '#chains/network'
import type { Fixture } from './fixture.ts'
import type { Steps } from './steps.ts'

const stateOf = ({ transaction }: { transaction: { state: string } }) => transaction.state
const amounts = { 'amounts.0': '0.5' }

type MadeWallet = { id: string; address: string }

export async function makeDeveloperWallet(steps: Steps): Promise<MadeWallet> {
  const { walletSet } = await steps.signed('/v1/w3s/developer/walletSets', { name: 'Trigger' })
  const { wallets } = await steps.signed('/v1/w3s/developer/wallets', {
    walletSetId: walletSet.id,
    blockchains: [steps.values['blockchain']],
    accountType: 'EOA',
    count: 1,
  })
  steps.note('wallet', wallets[0].id)
  return wallets[0]
}

/** A wallet with coins, which the platform knows of. */
export async function fundedWallet(steps: Steps): Promise<MadeWallet> {
  const wallet = await makeDeveloperWallet(steps)
  await steps.pay(wallet.address, 'NATIVE', '1')
  await steps.pay(wallet.address, 'USDC', '1000')
  await steps.until(async () => {
    const { tokenBalances } = await steps.call('GET', `/v1/w3s/wallets/${wallet.id}/balances`)
    return tokenBalances.length >= 2 || undefined
  }, 'the wallet shows its coins')
  return wallet
}

async function transfer(steps: Steps, walletId: string, to = steps.address()): Promise<string> {
  const { id } = await steps.signed('/v1/w3s/developer/transactions/transfer', {
    walletId,
    tokenId: stablecoinNamed(steps.network, 'USDC')!.id,
    destinationAddress: to,
    amounts: [steps.values['amounts.0']],
    feeLevel: 'MEDIUM',
  })
  return steps.note('transaction', id)
}

const untilState = (steps: Steps, id: string, ...states: string[]) =>
  steps.untilState(`/v1/w3s/transactions/${id}`, stateOf, ...states)

/** Runs steps while the chain mines nothing by itself. */
async function whilePaused(steps: Steps, work: () => Promise<void>): Promise<void> {
  await steps.onChain('pause', {})
  try {
    await work()
  } finally {
    await steps.onChain('resume', {})
  }
}

const complete = async (steps: Steps): Promise<string> => {
  const { id: walletId } = await fundedWallet(steps)
  const id = await transfer(steps, walletId)
  await untilState(steps, id, 'COMPLETE')
  return id
}

async function receive(steps: Steps): Promise<void> {
  const { id, address } = await makeDeveloperWallet(steps)
  await steps.pay(address, 'USDC', steps.values['amounts.0']!)
  const [found] = await steps.until(async () => {
    const { transactions } = await steps.call('GET', `/v1/w3s/transactions?walletIds=${id}&txType=INBOUND`)
    return transactions.length > 0 ? transactions : undefined
  }, 'the transaction is listed')
  await untilState(steps, steps.note('transaction', found.id), 'COMPLETE')
}

/** A call that reverts: a transfer of more coins than the wallet has. Its gas is named, so that nothing is estimated. */
async function fail(steps: Steps): Promise<void> {
  const { id: walletId } = await fundedWallet(steps)
  const { id } = await steps.signed('/v1/w3s/developer/transactions/contractExecution', {
    walletId,
    contractAddress: steps.usdc,
    abiFunctionSignature: 'transfer(address,uint256)',
    abiParameters: [steps.address(), '1000000000000'],
    gasLimit: '100000',
    maxFee: '100',
    priorityFee: '1',
  })
  await untilState(steps, steps.note('transaction', id), 'FAILED')
}

type CancelLane = { title: string; spans: { state: string }[] }

async function cancel(steps: Steps): Promise<void> {
  const { id: walletId } = await fundedWallet(steps)
  await whilePaused(steps, async () => {
    const id = await transfer(steps, walletId)
    await untilState(steps, id, 'SENT')
    await steps.signed(`/v1/w3s/developer/transactions/${id}/cancel`, {})
    // Before that, the block would have the transaction itself.
    await steps.until(async () => {
      const { lanes } = await steps.call('GET', `/operator/movements/${id}/timeline`)
      return (lanes as CancelLane[]).find(
        ({ title, spans }) => title.startsWith('Cancel') && spans.some(({ state }) => state === 'sent'),
      )
    }, 'the cancellation is sent')
    await steps.onChain('mine', { blocks: 1 })
    await untilState(steps, id, 'CANCELLED')
  })
}

async function stick(steps: Steps): Promise<void> {
  const { id: walletId } = await fundedWallet(steps)
  await whilePaused(steps, async () => {
    const id = await transfer(steps, walletId)
    await untilState(steps, id, 'SENT')
    await steps.onChain('base-fee', { gwei: '500' })
    await steps.onChain('mine', { blocks: 1 })
    await untilState(steps, id, 'STUCK')
    await steps.onChain('base-fee', { gwei: '1' })
  })
}

async function reorganise(steps: Steps): Promise<void> {
  const { id: walletId } = await fundedWallet(steps)
  await whilePaused(steps, async () => {
    const id = await transfer(steps, walletId)
    await untilState(steps, id, 'SENT')
    await steps.onChain('mine', { blocks: 1 })
    await untilState(steps, id, 'CONFIRMED', 'COMPLETE')
    await steps.onChain('reorg', { depth: 1, transactions: 'return' })
    await untilState(steps, id, 'SENT')
    await steps.onChain('mine', { blocks: 1 })
    await untilState(steps, id, 'CONFIRMED', 'COMPLETE')
  })
}

async function deny(steps: Steps): Promise<void> {
  const { id: walletId } = await fundedWallet(steps)
  const id = await transfer(steps, walletId, `${steps.address().slice(0, -12)}999999999999`)
  await untilState(steps, id, 'DENIED')
}

/** A monitor of the transfers of USDC, and one of them. */
async function logEvent(steps: Steps): Promise<void> {
  const { id: walletId } = await fundedWallet(steps)
  const contract = { blockchain: steps.values['blockchain'], contractAddress: steps.usdc }
  const { contracts } = await steps.call('GET', '/v1/w3s/contracts?pageSize=50')
  const isImported = contracts.some(
    (each: typeof contract) =>
      each.blockchain === contract.blockchain &&
      canonicalAddress(each.contractAddress) === canonicalAddress(contract.contractAddress),
  )
  if (!isImported)
    await steps.post('/v1/w3s/contracts/import', {
      name: 'USDC',
      address: steps.usdc,
      blockchain: contract.blockchain,
    })
  const eventSignature = 'Transfer(address,address,uint256)'
  const { eventMonitor } = await steps.post('/v1/w3s/contracts/monitors', { ...contract, eventSignature })
  steps.note('eventMonitor', eventMonitor.id)
  const id = await transfer(steps, walletId)
  await untilState(steps, id, 'COMPLETE')
  const { transaction } = await steps.call('GET', `/v1/w3s/transactions/${id}`)
  await steps.until(async () => {
    const { eventLogs } = await steps.call('GET', '/v1/w3s/contracts/events?pageSize=50')
    const found = eventLogs.find(({ txHash }: { txHash: string }) => txHash === transaction.txHash)
    return found && steps.note('eventLog', found.id)
  }, 'the log is listed')
}

const outbound = { topics: ['transactions.outbound', 'transactions.inbound'], values: amounts }

export const walletFixtures: Readonly<Record<string, Fixture>> = {
  'transaction.complete': {
    ...outbound,
    about: 'A new wallet with coins sends some, and the transaction is complete.',
    run: async (steps) => void (await complete(steps)),
  },
  'transaction.inbound': {
    about: 'A new wallet receives coins from outside.',
    topics: ['transactions.inbound'],
    values: amounts,
    run: receive,
  },
  'transaction.failed': {
    ...outbound,
    needs: 'contracts',
    values: {},
    about: 'A wallet executes a call that reverts.',
    run: fail,
  },
  'transaction.cancelled': {
    ...outbound,
    needs: 'cancellations before an expiry',
    about:
      'A transaction is cancelled while the chain is paused; the chain mines nothing for others meanwhile.',
    run: cancel,
  },
  'transaction.stuck': {
    ...outbound,
    needs: 'base fees',
    about:
      'Gas becomes expensive for some seconds, in which a transaction is stuck; then it is mined. The chain is paused meanwhile.',
    run: stick,
  },
  'transaction.reorged': {
    ...outbound,
    needs: 'reorgs',
    about:
      'A block with a transaction is replaced, and the next one has it again. The chain is paused meanwhile.',
    run: reorganise,
  },
  'transaction.denied': {
    ...outbound,
    about: 'A transaction to a sanctioned test address is denied before it is signed.',
    run: deny,
  },
  'contract.eventLog': {
    needs: 'contracts',
    about: 'A transfer is logged by USDC, of which the transfers are monitored.',
    topics: ['contracts.eventLog', 'transactions.outbound', 'transactions.inbound'],
    values: amounts,
    run: logEvent,
  },
}
