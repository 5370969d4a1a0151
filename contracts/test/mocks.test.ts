import { type Abi, type Address, encodeFunctionData, parseAbi, parseEventLogs } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { falseReturningTokenAbi, falseReturningTokenBytecode } from '#testing/artifacts/false-returning-token'
import { feeOnTransferTokenAbi, feeOnTransferTokenBytecode } from '#testing/artifacts/fee-on-transfer-token'
import { internalPayerAbi, internalPayerBytecode } from '#testing/artifacts/internal-payer'
import { lyingTokenAbi, lyingTokenBytecode } from '#testing/artifacts/lying-token'
import { reentrantTokenAbi, reentrantTokenBytecode } from '#testing/artifacts/reentrant-token'
import { deploy } from './token-calls.ts'
import { people, startTokenChain, type TokenChain, zeroAddress } from './token-chain.ts'

const { alice, bob, carol } = people
const erc20 = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'function balanceOf(address) view returns (uint256)',
])
let chain: TokenChain
beforeAll(async () => {
  chain = await startTokenChain()
})
afterAll(() => chain?.stop())

async function call(to: Address, abi: Abi, functionName: string, args: readonly unknown[], value = 0n) {
  const data = encodeFunctionData({ abi, functionName, args })
  const receipt = await chain.client.sendTransactionSync({ account: alice, to, data, value })
  const transfers = parseEventLogs({ abi: erc20, logs: receipt.logs }).map(({ args }) => args)
  return { status: receipt.status, logs: receipt.logs, transfers }
}
const balanceOf = (address: Address, account: Address) =>
  chain.client.readContract({ address, abi: erc20, functionName: 'balanceOf', args: [account] })

test('FeeOnTransferToken delivers 1 % less than it was asked to', async () => {
  const token = await deploy(chain, feeOnTransferTokenAbi, feeOnTransferTokenBytecode)
  await call(token, feeOnTransferTokenAbi, 'mint', [alice.address, 10_000n])
  const { transfers } = await call(token, feeOnTransferTokenAbi, 'transfer', [bob.address, 1_000n])
  expect(transfers).toEqual([
    { from: alice.address, to: zeroAddress, value: 10n },
    { from: alice.address, to: bob.address, value: 990n },
  ])
  expect([await balanceOf(token, alice.address), await balanceOf(token, bob.address)]).toEqual([9_000n, 990n])
})

test('FalseReturningToken fails without a revert and without a log', async () => {
  const token = await deploy(chain, falseReturningTokenAbi, falseReturningTokenBytecode)
  await call(token, falseReturningTokenAbi, 'mint', [alice.address, 10n])
  const failed = await call(token, falseReturningTokenAbi, 'transfer', [bob.address, 11n])
  expect([failed.status, failed.logs]).toEqual(['success', []])
  const unasked = await call(token, falseReturningTokenAbi, 'transferFrom', [bob.address, alice.address, 0n])
  expect(unasked.status).toBe('success')
  const worked = await call(token, falseReturningTokenAbi, 'transfer', [bob.address, 10n])
  expect(worked.transfers).toEqual([{ from: alice.address, to: bob.address, value: 10n }])
  expect(await balanceOf(token, bob.address)).toBe(10n)
})

test('LyingToken logs transfers that never happened', async () => {
  const token = await deploy(chain, lyingTokenAbi, lyingTokenBytecode)
  const { transfers } = await call(token, lyingTokenAbi, 'transfer', [bob.address, 5n])
  expect(transfers).toEqual([{ from: alice.address, to: bob.address, value: 5n }])
  const forged = await call(token, lyingTokenAbi, 'forge', [carol.address, bob.address, 7n, 3n])
  expect(forged.transfers).toEqual(Array(3).fill({ from: carol.address, to: bob.address, value: 7n }))
  expect(await balanceOf(token, bob.address)).toBe(0n)
})

test('ReentrantToken makes its call between debit and credit', async () => {
  const token = await deploy(chain, reentrantTokenAbi, reentrantTokenBytecode)
  await call(token, reentrantTokenAbi, 'mint', [alice.address, 100n])
  const inner = encodeFunctionData({
    abi: reentrantTokenAbi,
    functionName: 'mint',
    args: [carol.address, 1n],
  })
  await call(token, reentrantTokenAbi, 'arm', [token, inner])
  const { transfers } = await call(token, reentrantTokenAbi, 'transfer', [bob.address, 40n])
  expect(transfers).toEqual([
    { from: alice.address, to: zeroAddress, value: 40n },
    { from: zeroAddress, to: carol.address, value: 1n },
    { from: zeroAddress, to: bob.address, value: 40n },
  ])
  expect([await balanceOf(token, alice.address), await balanceOf(token, bob.address)]).toEqual([60n, 40n])
})

test('InternalPayer pays without a log and without naming the payee in the transaction', async () => {
  const payer = await deploy(chain, internalPayerAbi, internalPayerBytecode)
  const [first, second] = [
    '0x00000000000000000000000000000000000000f1',
    '0x00000000000000000000000000000000000000f2',
  ] as const
  const coins = (address: Address) => chain.client.getBalance({ address })
  expect((await call(payer, internalPayerAbi, 'pay', [first], 5n)).logs).toEqual([])
  await call(payer, internalPayerAbi, 'payMany', [[first, second]], 5n)
  expect([await coins(first), await coins(second), await coins(payer)]).toEqual([7n, 2n, 1n])
  expect((await call(payer, internalPayerAbi, 'payAndRevert', [second], 9n)).status).toBe('success')
  expect([await coins(second), await coins(payer)]).toEqual([2n, 10n])
})
