/** Operations in blocks whose bundles a stranger wrote. */
import {
  concatHex,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  pad,
  slice,
  toHex,
} from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import { expect, it } from 'vitest'
import type { UserOperation } from '../../facets/accounts.ts'
import { smartAccountAbi } from './artifacts/smart-account.ts'
import { entryPointAddress } from './deployed-contracts.ts'
import { executedIn } from './executed.ts'
import { bundleInput } from './operation.ts'

const account: Hex = `0x${'a1'.repeat(20)}`
const recipient: Hex = `0x${'b2'.repeat(20)}`
const txHash: Hex = `0x${'c3'.repeat(32)}`

const word = (value: number | bigint) => toHex(value, { size: 32 })

/** A batch of `width` calls that are all one: each of their offsets points to the same bytes. */
function aliased(width: number, target: Hex, value: bigint, data: Hex): Hex {
  const args = [[{ target, value, data }]] as const
  const selector = slice(
    encodeFunctionData({ abi: smartAccountAbi, functionName: 'executeBatch', args }),
    0,
    4,
  )
  const offsets = Array.from({ length: width }, () => word(32 * width))
  const bytes = (data.length - 2) / 2
  const padded = `${data}${'0'.repeat((64 - ((data.length - 2) % 64)) % 64)}` as Hex
  const tuple = concatHex([pad(target), word(value), word(96), word(bytes), padded])
  return concatHex([selector, word(32), word(width), ...offsets, tuple])
}

function transfersOf(callData: Hex) {
  const operation: UserOperation = {
    account,
    nonce: 7n,
    callData,
    signature: '0x',
    callGas: 1n,
    verificationGas: 1n,
    preVerificationGas: 1n,
    maxFeeAtomic: 1n,
    priorityFeeAtomic: 1n,
  }
  const topics = encodeEventTopics({
    abi: entryPoint07Abi,
    eventName: 'UserOperationEvent',
    args: { userOpHash: txHash, sender: account, paymaster: recipient },
  }) as Hex[]
  const data = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'bool' }, { type: 'uint256' }, { type: 'uint256' }],
    [7n, true, 1n, 1n],
  )
  const log = { address: entryPointAddress, topics, data, logIndex: 0, txHash }
  const bundle = bundleInput([operation], recipient)
  const { operations } = executedIn({
    transactions: [{ hash: txHash, from: recipient, to: entryPointAddress, valueAtomic: 0n, bundle }],
    logs: [log] as never,
  })
  return operations[0]!.transfers
}

it('native coins in a batch are found, also where its account calls itself', () => {
  const inner = aliased(2, recipient, 5n, '0x')
  expect(transfersOf(inner)).toEqual(Array(2).fill({ to: recipient, amountAtomic: 5n }))
  expect(transfersOf(aliased(3, account, 0n, inner))).toHaveLength(6)
})

it('property 84: calls that a stranger encoded within each other cost no more than a bounded number of readings', () => {
  let callData = aliased(300, recipient, 1n, '0x')
  for (let depth = 0; depth < 4; depth++) callData = aliased(300, account, 0n, callData)
  expect(transfersOf(callData).length).toBeLessThanOrEqual(300 * 33)
  for (const cut of [9, 100, 200]) expect(transfersOf(callData.slice(0, 2 * cut) as Hex)).toEqual([])
})
