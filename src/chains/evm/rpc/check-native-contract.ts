import { encodeFunctionData } from 'viem'
import { nativeContract, unitsOfBooks } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { stablecoinAbi } from '../abi/stablecoin.ts'
import { boundedCall, wordIn } from '../contracts/bounded-calls.ts'
import { quantity, toQuantity } from './quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from './rpc.ts'

const timeoutMs = 5_000
/** An account that no chain has, with coins that only one call supposes. */
const supposed = {
  address: '0xb32a27ca5e0000000000000000000000000000b1',
  balance: 7_654_321_000_000_999_999n,
}
/** Maximum number of accounts of one block to compare. */
const accountsMax = 10

/**
 * Whether the contract of the native coin has the balances of the native coin. A call supposes the balance of an account; where a node
 * supposes nothing, the accounts of its newest block are compared. Otherwise one coin would be counted twice, or not at all. Throws
 * `NodeUnreachable` while there is nothing to compare.
 */
export async function hasNativeBalances(rpc: Rpc, network: Network): Promise<boolean> {
  const { contract } = network.nativeToken
  const to = nativeContract(network)
  if (!contract || to === undefined) return true
  const units = unitsOfBooks(network, contract)
  const balanceCall = (owner: string, at: unknown) => boundedCall({ to, data: balanceOf(owner) }, at)
  const { method, params } = balanceCall(supposed.address, 'latest')
  const overrides = { [supposed.address]: { balance: toQuantity(supposed.balance) } }
  const [told] = await rpc.batch<unknown>([{ method, params: [...params, overrides] }], { timeoutMs })
  if (amountIn(told) === supposed.balance / units) return true
  const { accounts, number } = await newestAccounts(rpc)
  const answers = await rpc.batch<unknown>(
    accounts.flatMap((account) => [
      { method: 'eth_getBalance', params: [account, number] },
      balanceCall(account, number),
    ]),
    { timeoutMs },
  )
  const refusal = answers.find((answer) => answer instanceof RpcError)
  if (refusal) throw new NodeUnreachable(`${rpc.host} does not tell balances: ${refusal.message}`)
  const pairs = accounts.map((_, index) => ({
    native: quantity(answers[2 * index], 'balance'),
    token: amountIn(answers[2 * index + 1]),
  }))
  if (pairs.some(({ native, token }) => token !== native / units)) return false
  if (pairs.some(({ token }) => token !== 0n)) return true
  throw new NodeUnreachable(
    `${rpc.host} has no account with ${contract.symbol} in its newest block to compare`,
  )
}

const balanceOf = (owner: string) =>
  encodeFunctionData({ abi: stablecoinAbi, functionName: 'balanceOf', args: [owner as `0x${string}`] })

const amountIn = (answer: unknown): bigint | undefined =>
  typeof answer === 'string' ? wordIn(answer as `0x${string}`) : undefined

/** The accounts that sent the transactions of the newest block, and its number. */
async function newestAccounts(rpc: Rpc): Promise<{ accounts: string[]; number: string }> {
  const [block] = await rpc.batch<unknown>([{ method: 'eth_getBlockByNumber', params: ['latest', true] }], {
    timeoutMs,
  })
  const { transactions, number } = (block ?? {}) as { transactions?: { from?: unknown }[]; number?: string }
  if (block instanceof RpcError || !Array.isArray(transactions) || typeof number !== 'string')
    throw new NodeUnreachable(`${rpc.host} does not tell its newest block`)
  const senders = transactions.flatMap(({ from }) => (typeof from === 'string' ? [from] : []))
  return { accounts: [...new Set(senders)].slice(0, accountsMax), number }
}
