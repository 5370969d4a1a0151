/** Fixtures of modular wallets, made and used by JSON-RPC as the page of an app does. */
import { accountsOn } from '#chains/facets/optional'
import { unpackSignature } from '#chains/signing'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import { atomicOf, coinOf } from '../chain-control/payment.ts'
import type { Fixture } from './fixture.ts'
import type { Steps } from './steps.ts'
import { makeDeveloperWallet } from './wallets.ts'

type PageWallet = { id: string; address: string; scaConfiguration: { initCode: Hex } }

async function makeModularWallet(steps: Steps, owner: string): Promise<PageWallet> {
  const weightedMultisig = { owners: [{ address: owner, weight: 1 }], thresholdWeight: 1 }
  const scaConfiguration = {
    initialOwnershipConfiguration: { weightedMultisig },
    scaCore: 'circle_6900_v1',
  }
  const wallet: PageWallet = await steps.callModular('circle_getAddress', [{ scaConfiguration }])
  steps.note('modularWallet', wallet.id)
  return wallet
}

/** Pays a wallet from outside. */
async function payIn(steps: Steps, { address }: PageWallet): Promise<void> {
  const { txHash } = await steps.pay(address, 'USDC', steps.values['amounts.0']!)
  await noteTransfer(steps, `walletAddresses=${address}&txHash=${txHash}`)
}

async function noteTransfer(steps: Steps, query: string): Promise<void> {
  const { id } = await steps.until(async () => {
    const { transfers } = await steps.call('GET', `/v1/w3s/modular/transfers?${query}`)
    return transfers[0]
  }, 'the transfer is listed')
  steps.note('modularTransfer', id)
}

/** Pays from a wallet, whose owner has a key of the platform. */
async function payOut(steps: Steps): Promise<void> {
  const owner = await makeDeveloperWallet(steps)
  const wallet = await makeModularWallet(steps, owner.address)
  await payIn(steps, wallet)
  const userOpHash = await sendOperation(steps, owner.id, wallet)
  const { id } = await steps.until(async () => {
    const path = `/v1/w3s/modular/userOps?senders=${wallet.address}&state=COMPLETE`
    const { userOperations } = await steps.call('GET', path)
    return userOperations.find((each: { userOpHash: string }) => each.userOpHash === userOpHash)
  }, 'the operation is complete')
  steps.note('userOperation', id)
  await noteTransfer(steps, `walletAddresses=${wallet.address}&transferType=OUTBOUND_TRANSFER`)
}

/** Sends the first operation of a wallet, which creates its account and pays, as a client does. Returns its hash. */
async function sendOperation(steps: Steps, ownerId: string, wallet: PageWallet): Promise<string> {
  const accounts = accountsOn(steps.chain)
  const ask = (method: string, operation: object) =>
    steps.callModular(method, [operation, accounts.entryPoint])
  const { medium } = await steps.callModular('circle_getUserOperationGasPrice', [])
  const opened = {
    sender: wallet.address,
    nonce: '0x0',
    ...factoryOf(wallet),
    callData: accounts.modular.callDataOf(transferOf(steps)),
    maxFeePerGas: quantity(medium.maxFeePerGas),
    maxPriorityFeePerGas: quantity(medium.maxPriorityFeePerGas),
  }
  const promised = { ...opened, ...(await ask('pm_getPaymasterStubData', opened)) }
  const measured = { ...promised, ...(await ask('eth_estimateUserOperationGas', promised)) }
  const sponsored = { ...measured, ...(await ask('pm_getPaymasterData', measured)) }
  const operation = accounts.modular.readOperation(sponsored, 'operation')
  const { signature } = await steps.signed('/v1/w3s/developer/sign/message', {
    walletId: ownerId,
    message: accounts.hashesOf(operation).hash,
    encodedByHex: true,
  })
  const signed = accounts.attachOwner(operation, unpackSignature(signature))
  return ask('eth_sendUserOperation', accounts.modular.showOperation(signed))
}

/** The factory, and the call of it that creates the account. */
function factoryOf({ scaConfiguration: { initCode } }: PageWallet) {
  const bytes = bytesOf(initCode)
  return { factory: hexOf(bytes.subarray(0, 20)), factoryData: hexOf(bytes.subarray(20)) }
}

function transferOf(steps: Steps) {
  const { decimals } = coinOf(steps.chain, 'USDC')
  const amountAtomic = atomicOf('set.amounts.0', steps.values['amounts.0']!, decimals)
  return { ...steps.chain.payments.transferCall(steps.address(), amountAtomic, steps.usdc), to: steps.usdc }
}

const quantity = (decimal: string): Hex => `0x${BigInt(decimal).toString(16)}`

const common = { values: { 'amounts.0': '0.5' }, needs: 'modular wallets' } as const
const paidOut = {
  ...common,
  topics: ['modularWallet.userOperation', 'modularWallet.outboundTransfer', 'modularWallet.inboundTransfer'],
  run: payOut,
}

export const modularWalletFixtures: Readonly<Record<string, Fixture>> = {
  'modularWallet.inboundTransfer': {
    ...common,
    about: 'A new modular wallet receives coins.',
    topics: ['modularWallet.inboundTransfer'],
    run: async (steps) => payIn(steps, await makeModularWallet(steps, steps.address())),
  },
  'modularWallet.userOperation': {
    ...paidOut,
    about: 'A new modular wallet with coins sends an operation that its owner signs, and that is complete.',
  },
  'modularWallet.outboundTransfer': {
    ...paidOut,
    about: 'A new modular wallet with coins pays, by an operation that its owner signs.',
  },
}
