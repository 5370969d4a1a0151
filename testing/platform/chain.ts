import type { Blockchain } from '#chains/blockchains'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { ethSepolia } from '#chains/networks/eth-sepolia'
import { networks } from '#chains/networks/index'
import { type Intercept, type LocalChain, startLocalChains } from '#sandbox/chains/index'
import { devAccounts, issuerAccount } from '#sandbox/constants'
import { isDeep } from '#testing/runner/size'
import { quantity, rpc, rpcBatch } from './json-rpc.ts'
import { testLog } from './log.ts'
import { type Oracle, openOracle } from './oracle.ts'
import { until } from './until.ts'

type Address = `0x${string}`

/** One local chain of a test, with the actions of a test through its published address. */
export type TestChain = {
  blockchain: Blockchain
  chainId: number
  rpcUrl: string
  tokens: LocalChain['tokens']
  oracle: Oracle
  /** `eth_sendTransaction` answers once a block holds the transaction, wherever the node mines by itself. */
  rpc<Result = unknown>(method: string, params?: readonly unknown[]): Promise<Result>
  height(): Promise<number>
  /** Mines this many empty blocks, or the pending transactions. */
  mine(blocks?: number): Promise<void>
  snapshot(): Promise<string>
  revert(snapshot: string): Promise<void>
  /** Replaces the last `depth` blocks by empty ones; their transactions are gone unless they are sent again. */
  reorg(depth: number): Promise<void>
  /** The same from this block on, whatever was mined after it. */
  reorgFrom(number: number): Promise<void>
  setAutomine(on: boolean): Promise<void>
  /** Pays from outside: in `USDC` or `EURC` base units, or in wei of the native coin. Returns the hash. */
  send(to: string, amountAtomic: bigint, token?: 'USDC' | 'EURC'): Promise<Address>
  /** The address that `send` pays from. */
  outsider: Address
  intercept(hook: Intercept | undefined): void
  /** The process of its node. */
  pid(): number
}

export type TestChainOptions = {
  blockchains: readonly Blockchain[]
  blockTimeMs?: number | undefined
  gasLimit?: bigint | undefined
  /** Whether snapshots of a sandbox can be made of them. */
  journaled?: boolean
}

/** The last of the node's funded accounts pays as the outsider; tests are free to use the others. */
const outsider = devAccounts.at(-1)!.address

/** The network for tests of finality. At the usual size it has few confirmations, because each takes a block to follow. */
export const shortFinalityNetwork = isDeep ? baseSepolia : ethSepolia

/** Starts ephemeral chains, one node each. */
export async function startTestChains(options: TestChainOptions) {
  const chosen = options.blockchains.map((name) => networks.find(({ blockchain }) => blockchain === name)!)
  const log = testLog()
  const { blockTimeMs, gasLimit, journaled = false } = options
  const local = await startLocalChains({
    networks: chosen,
    dataDir: '/nowhere',
    ephemeral: true,
    journaled,
    blockTimeMs,
    gasLimit,
    log,
  })
  return { chains: local.chains.map(testChain), local: local.chains, stop: () => local.stop() }
}

function testChain(chain: LocalChain): TestChain {
  const { rpcUrl, tokens } = chain
  const ask = async <Result>(method: string, params: readonly unknown[] = []) => {
    const result = await rpc<Result>(rpcUrl, method, params)
    if (method === 'eth_sendTransaction') await mined(rpcUrl, result as string)
    return result
  }
  let minted: Promise<void> | undefined
  const pay = async (to: string, amountAtomic: bigint, token?: 'USDC' | 'EURC') => {
    if (!token) return ask<Address>('eth_sendTransaction', [payment(to, quantity(amountAtomic))])
    await (minted ??= mintForOutsider(chain))
    return ask<Address>('eth_sendTransaction', [
      { ...payment(tokens[token], '0x0'), data: callData(selectors.transfer, to, amountAtomic) },
    ])
  }
  // One after another: until a transaction is in its pool, a node gives the same nonce to the next caller.
  let turn: Promise<unknown> = Promise.resolve()
  const send = (...asked: Parameters<typeof pay>): Promise<Address> => {
    const paid = turn.then(() => pay(...asked))
    turn = paid.catch(() => undefined)
    return paid
  }
  const height = async () => Number(await ask('eth_blockNumber'))
  const reorg = async (depth: number) => void (await ask('anvil_reorg', [depth, []]))
  return {
    blockchain: chain.blockchain,
    chainId: chain.chainId,
    rpcUrl,
    tokens,
    outsider,
    oracle: openOracle(rpcUrl),
    rpc: ask,
    send,
    height,
    mine: async (blocks = 1) => void (await ask('anvil_mine', [quantity(blocks)])),
    snapshot: () => ask<string>('evm_snapshot'),
    revert: async (snapshot) => void (await ask('evm_revert', [snapshot])),
    reorg,
    reorgFrom: async (number) => reorg((await height()) - number + 1),
    setAutomine: async (on) => void (await ask('evm_setAutomine', [on])),
    intercept: (hook) => chain.intercept(hook),
    pid: () => chain.pid,
  }
}

const payment = (to: string, value: string) => ({ from: outsider, to, value, gas: '0x30d40' })

const selectors = { transfer: '0xa9059cbb', mint: '0x40c10f19', configureMinter: '0x4e44d956' }

/** Lets the outsider mint as the issuer, and mints more of each token than any test spends. */
async function mintForOutsider({ rpcUrl, tokens }: LocalChain): Promise<void> {
  const plentyAtomic = 10n ** 18n
  const from = issuerAccount.address
  const gas = '0x30d40'
  await rpc(rpcUrl, 'anvil_impersonateAccount', [from])
  for (const to of Object.values(tokens)) {
    const allow = { from, to, gas, data: callData(selectors.configureMinter, outsider, plentyAtomic) }
    const mint = { from: outsider, to, gas, data: callData(selectors.mint, outsider, plentyAtomic) }
    await mined(rpcUrl, await rpc(rpcUrl, 'eth_sendTransaction', [allow]))
    await mined(rpcUrl, await rpc(rpcUrl, 'eth_sendTransaction', [mint]))
  }
  await rpc(rpcUrl, 'anvil_stopImpersonatingAccount', [from])
}

/**
 * Waits until the transaction is mined, because a node answers before; returns at once when the node does not mine by
 * itself, or no longer has the transaction.
 */
async function mined(rpcUrl: string, hash: string): Promise<void> {
  const calls = [{ method: 'anvil_getAutomine' }, { method: 'eth_getTransactionByHash', params: [hash] }]
  await until(async () => {
    const [minesAtOnce, sent] = (await rpcBatch(rpcUrl, calls)) as [
      boolean,
      { blockHash: string | null } | null,
    ]
    return !minesAtOnce || sent?.blockHash !== null
  }, `${hash} is mined`)
}

const callData = (selector: string, address: string, value: bigint) =>
  `${selector}${address.slice(2).toLowerCase().padStart(64, '0')}${value.toString(16).padStart(64, '0')}`
