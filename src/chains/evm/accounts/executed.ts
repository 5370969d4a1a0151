import { decodeAbiParameters, decodeEventLog, toEventSelector } from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Accounts, Compensation, ExecutedOperation } from '../../facets/accounts.ts'
import type { ChainLog } from '../../facets/blocks.ts'
import { textOfRevert } from '../contracts/revert.ts'
import { coinTransfersIn, readBundle } from './bundle-calls.ts'
import { entryPointAddress } from './deployed-contracts.ts'
import { depositMovesIn } from './deposit-moves.ts'

const operationTopic = toEventSelector(
  'UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)',
)

type Executed = Omit<ExecutedOperation, 'transfers'>

/**
 * The operations that the EntryPoint executed in a block. The native coins that their calls carried leave no log: they are
 * read from the input of the transaction, where that is a call of the EntryPoint itself.
 */
export const executedIn: Accounts['executedIn'] = ({ transactions, logs }) => {
  const events = logs.flatMap(executedOf)
  const depositMoves = depositMovesIn({ transactions, logs })
  if (events.length === 0) return { operations: [], compensations: [], depositMoves }
  const bundles = new Map(
    transactions.map(({ hash, bundle }) => [hash, bundle === undefined ? undefined : bundleOf(bundle)]),
  )
  const operations = events.map((event) => {
    const call = bundles.get(event.txHash)?.calls.get(keyOf(event))
    return { ...event, transfers: event.success && call ? coinTransfersIn(event.account, call) : [] }
  })
  const compensations = [...new Set(events.map(({ txHash }) => txHash))].flatMap((txHash): Compensation[] => {
    const bundle = bundles.get(txHash)
    if (!bundle) return []
    const paid = events.filter((event) => event.txHash === txHash)
    const amountAtomic = paid.reduce((sum, { feeAtomic }) => sum + feeAtomic, 0n)
    return [{ txHash, beneficiary: bundle.beneficiary, amountAtomic }]
  })
  return { operations, compensations, depositMoves }
}

/** A bundle with its calls by account and nonce. */
function bundleOf(input: Hex) {
  const bundle = readBundle(input)
  return bundle && { ...bundle, calls: new Map(bundle.calls.map((call) => [keyOf(call), call.callData])) }
}

const keyOf = ({ account, nonce }: { account: string; nonce: bigint }) => `${account.toLowerCase()}:${nonce}`

function executedOf({ address, topics, data, logIndex, txHash }: ChainLog): Executed[] {
  if (address !== entryPointAddress || topics[0] !== operationTopic) return []
  const { args } = decodeEventLog({
    abi: entryPoint07Abi,
    eventName: 'UserOperationEvent',
    topics: topics as [Hex, ...Hex[]],
    data,
  })
  const { userOpHash: hash, nonce, success, actualGasCost: feeAtomic, actualGasUsed: gasUsed } = args
  const account = args.sender.toLowerCase() as Address
  const paymaster = args.paymaster.toLowerCase() as Address
  return [{ hash, txHash, logIndex, account, paymaster, nonce, success, feeAtomic, gasUsed }]
}

const failedOpSelector = '0x220266b6'
const failedOpWithRevertSelector = '0x65c8fd4d'

/**
 * The operation that makes a bundle fail, from the data that `handleOps` reverts with: the words of the EntryPoint, and after a
 * colon those of the account or paymaster that reverted.
 */
export function failedOperation(data: Hex): { index: number; reason: string } | undefined {
  const types = { [failedOpSelector]: failedOp, [failedOpWithRevertSelector]: failedOpWithRevert }
  const parameters = types[data.slice(0, 10).toLowerCase() as keyof typeof types]
  if (!parameters) return undefined
  try {
    const [index, reason, inner = '0x'] = decodeAbiParameters(parameters, `0x${data.slice(10)}`) as readonly [
      bigint,
      string,
      Hex?,
    ]
    const text = textOfRevert(inner)
    return { index: Number(index), reason: text === undefined ? reason : `${reason}: ${text}` }
  } catch {
    return undefined
  }
}

const failedOp = [{ type: 'uint256' }, { type: 'string' }] as const
const failedOpWithRevert = [...failedOp, { type: 'bytes' }] as const
