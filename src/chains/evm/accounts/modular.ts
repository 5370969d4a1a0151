/** Modular wallets: accounts at the contracts of their published client, whose owners sign elsewhere. */
import { decodeEventLog, pad, slice, toHex } from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type {
  BundleSimulation,
  ModularAccounts,
  OperationReceipt,
  UserOperation,
} from '../../facets/accounts.ts'
import type { GasEstimate } from '../../facets/offers.ts'
import type { Network } from '../../networks/index.ts'
import { implementationSlot } from '../contracts/contracts.ts'
import { textOfRevert } from '../contracts/revert.ts'
import { estimateGas } from '../payments/fees.ts'
import { parentGas } from '../payments/parent-fee.ts'
import { callLimits, pageGasMax } from '../rpc/call-bounds.ts'
import { toQuantity } from '../rpc/quantities.ts'
import { NodeUnreachable, type Rpc } from '../rpc/rpc.ts'
import { AnswerTooLarge } from '../rpc/rpc-errors.ts'
import { createdBy, modularAccountOf } from './account.ts'
import { proxyCreationCode } from './artifacts/proxy-code.ts'
import {
  depositSlot,
  entryPointAddress,
  modularContracts,
  paymasterAddress,
  paymasterCode,
} from './deployed-contracts.ts'
import {
  bundleCall,
  bundleInput,
  encodeExecution,
  postedCall,
  preVerificationGas,
  sponsored,
} from './operation.ts'
import { readOperation, showOperation } from './operation-fields.ts'
import { ownerId, readOwners } from './owners.ts'
import { simulateBundle } from './simulate.ts'

export const modularThrough = (rpc: Rpc, network: Network): ModularAccounts => ({
  ownershipContract: modularContracts.plugin.toLowerCase() as Address,
  accountOf: modularAccountOf,
  createdBy,
  isDeployed: (account) => isModularAccount(rpc, account),
  hasOwners: (account, owners) => hasOwners(rpc, account, owners),
  callDataOf: encodeExecution,
  ownerId,
  readOperation,
  showOperation,
  sponsored: (...parts) => sponsored(network.chainId, ...parts),
  preVerificationGas: async (operation, priceAtomic) => {
    const posted = postedCall(operation)
    return preVerificationGas(operation, await parentGas(rpc, network, posted, priceAtomic, callLimits))
  },
  estimateCall: (operation) => estimateCall(rpc, operation),
  simulate: (operation, sponsor) =>
    sponsor === undefined ? simulateAlone(rpc, operation) : simulateSponsored(rpc, operation, sponsor),
  receiptOf: (txHash, userOpHash) => receiptOf(rpc, txHash, userOpHash),
})

/** Where the code of the proxy lies in its creation code. */
const proxyCodeStart = 0x24e
const proxyCodeBytes = 0x85
const proxyCode = slice(proxyCreationCode, proxyCodeStart, proxyCodeStart + proxyCodeBytes)

async function isModularAccount(rpc: Rpc, account: Address): Promise<boolean> {
  const [code, implementation] = await Promise.all([
    rpc.call<unknown>('eth_getCode', [account, 'latest']),
    rpc.call<unknown>('eth_getStorageAt', [account, implementationSlot, 'latest']),
  ])
  return code === proxyCode && implementation === pad(modularContracts.implementation).toLowerCase()
}

async function hasOwners(rpc: Rpc, account: Address, owners: readonly string[]): Promise<boolean[]> {
  if (!(await isModularAccount(rpc, account))) return owners.map(() => false)
  return readOwners(rpc, account, owners)
}

/** A margin for what is different when the operation is executed: an eighth. */
const marginShare = 8n

/** An account that is not deployed counts as having the code of its implementation. */
async function estimateCall(rpc: Rpc, { account, callData, creation }: UserOperation): Promise<GasEstimate> {
  try {
    const implementation = modularContracts.implementation
    const code = creation && (await rpc.call<Hex>('eth_getCode', [implementation, 'latest']))
    const call = { to: account, valueAtomic: 0n, data: callData }
    const estimate = await estimateGas(rpc, entryPointAddress, call, [], {
      gas: pageGasMax,
      limits: callLimits,
      changes: code ? { [account]: { code } } : {},
    })
    if (estimate.kind !== 'estimated') return estimate
    return { kind: 'estimated', gas: estimate.gas + estimate.gas / marginShare }
  } catch (error) {
    if (error instanceof NodeUnreachable) return { kind: 'unknown', message: error.message }
    throw error
  }
}

const coins = 10n ** 27n
const plenty = toHex(coins, { size: 32 })

function simulateSponsored(rpc: Rpc, operation: UserOperation, sponsor: Address): Promise<BundleSimulation> {
  const paymaster = paymasterAddress(sponsor as Hex)
  const changes = {
    [entryPointAddress]: {
      balance: toQuantity(coins),
      stateDiff: { [depositSlot(paymaster)]: plenty },
    },
    [paymaster]: { code: paymasterCode(sponsor as Hex) },
  }
  const bounds = { gas: pageGasMax, limits: callLimits, changes }
  return simulateBundle(rpc, bundleCall([operation], sponsor), sponsor, bounds)
}

/** Stands for any bundler: an account that pays nothing, and takes what is paid for a bundle. */
const anyBundler = '0x000000000000000000000000000000000000dead'

async function simulateAlone(rpc: Rpc, operation: UserOperation): Promise<BundleSimulation> {
  const data = bundleInput([operation], anyBundler)
  const bounds = { gas: pageGasMax, limits: callLimits }
  const call = { to: entryPointAddress, valueAtomic: 0n, data }
  const outcome = await simulateBundle(rpc, call, anyBundler, bounds)
  if (outcome.kind !== 'reverted') return outcome
  return { kind: 'failed', index: 0, reason: await reasonOfSilence(rpc, operation) }
}

/**
 * The EntryPoint has no words for an account or a paymaster without code, for which bundlers have two codes, nor for one that
 * does not answer as its interface says.
 */
async function reasonOfSilence(rpc: Rpc, { account, creation, sponsorship }: UserOperation): Promise<string> {
  const codeAt = (address: string) => rpc.call<unknown>('eth_getCode', [address, 'latest'])
  if (!creation && (await codeAt(account)) === '0x') return 'AA20 account not deployed'
  if (sponsorship && (await codeAt(sponsorship.address)) === '0x') return 'AA30 paymaster not deployed'
  return `AA23 reverted: the account${sponsorship ? ' or the paymaster' : ''} does not answer as ERC-4337 says`
}

type ReceiptLog = { address?: unknown; topics?: unknown; data?: unknown; logIndex?: unknown }

/**
 * The logs of an operation lie between the event of the operation before it and its own. A bundle may have any number of logs:
 * a receipt that is too large is not read.
 */
async function receiptOf(
  rpc: Rpc,
  txHash: string,
  userOpHash: string,
): Promise<OperationReceipt | 'too large' | undefined> {
  const receipt = await rpc
    .call<Record<string, unknown> | null>('eth_getTransactionReceipt', [txHash], callLimits)
    .catch((error) => {
      if (error instanceof AnswerTooLarge) return 'too large' as const
      throw error
    })
  if (receipt === 'too large') return receipt
  if (receipt === null) return undefined
  if (!Array.isArray(receipt['logs'])) throw new NodeUnreachable('a receipt has no logs')
  let logs: ReceiptLog[] = []
  let reason: string | undefined
  for (const log of receipt['logs'] as ReceiptLog[]) {
    const event = eventIn(log)
    if (event?.eventName === 'UserOperationEvent') {
      const { userOpHash: hash, success, actualGasCost: feeAtomic, actualGasUsed: gasUsed } = event.args
      if (hash === userOpHash) return { success, reason, feeAtomic, gasUsed, receipt, logs }
    }
    if (event?.eventName === 'UserOperationRevertReason' && event.args.userOpHash === userOpHash)
      reason = textOfRevert(event.args.revertReason)
    if (event?.eventName === 'UserOperationEvent' || event?.eventName === 'BeforeExecution') logs = []
    else logs.push(log)
  }
  return undefined
}

function eventIn({ address, topics, data }: ReceiptLog) {
  if (String(address).toLowerCase() !== entryPointAddress) return undefined
  try {
    return decodeEventLog({ abi: entryPoint07Abi, topics: topics as [Hex, ...Hex[]], data: data as Hex })
  } catch {
    return undefined
  }
}
