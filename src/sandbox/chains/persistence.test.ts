import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import type { Hex } from '#lib/hex'
import {
  allBlocks,
  blockAt,
  bob,
  dev,
  receipt,
  send,
  startBase,
  temporaryDirectory,
  transfer,
} from '#testing/local-chains/kit'
import { until } from '#testing/platform/until'
import { viemChain } from '#testing/platform/viem-chain'
import { isDeep } from '#testing/runner/size'
import { faucetAccount } from '../constants.ts'
import { call, callMany } from './rpc.ts'

const deaths = isDeep ? 3 : 2
const sentEach = isDeep ? 30 : 8
const balanceRounds = isDeep ? 5 : 2
const fullBlock = isDeep ? 100 : 24

const quantity = (value: number) => `0x${value.toString(16)}`
const balanceOf = (url: string, address: string) => call<string>(url, 'eth_getBalance', [address, 'latest'])

test('an orderly stop keeps blocks, receipts, logs, balances, nonces and the address', async () => {
  const dataDir = temporaryDirectory()
  const first = await startBase({ dataDir })
  const account = privateKeyToAccount(faucetAccount.privateKey)
  const wallet = createWalletClient({ account, chain: viemChain, transport: http(first.chain.rpcUrl) })
  const address = first.chain.tokens.USDC as Hex
  const mint = { address, abi: stablecoinAbi, functionName: 'mint', args: [bob, 5_000_000n] } as const
  const hash = await wallet.writeContract(mint)
  await until(async () => (await receipt(first.chain.rpcUrl, hash)) !== null)
  for (let nonce = 0; nonce < sentEach; nonce++) await send(first.chain.rpcUrl, 0, nonce)
  await until(async () => Number(await balanceOf(first.chain.rpcUrl, bob)) === sentEach)
  const before = await allBlocks(first.chain.rpcUrl)
  const spent = await balanceOf(first.chain.rpcUrl, dev[0]!.address)
  const mintReceipt = await receipt(first.chain.rpcUrl, hash)
  await first.local.stop()

  const { chain, local } = await startBase({ dataDir })
  expect(chain.rpcUrl).toBe(first.chain.rpcUrl)
  expect(await allBlocks(chain.rpcUrl)).toEqual(before)
  expect(mintReceipt?.logs).toHaveLength(2)
  expect(await receipt(chain.rpcUrl, hash)).toEqual(mintReceipt)
  const filter = [{ address, fromBlock: '0x0', toBlock: 'latest' }]
  expect(await call(chain.rpcUrl, 'eth_getLogs', filter)).toHaveLength(2)
  expect(await balanceOf(chain.rpcUrl, dev[0]!.address)).toBe(spent)
  expect(await call(chain.rpcUrl, 'eth_chainId')).toBe('0x14a34')
  const sentAtS = Math.floor(Date.now() / 1000)
  await send(chain.rpcUrl, 0, sentEach)
  await until(async () => Number(await balanceOf(chain.rpcUrl, bob)) === sentEach + 1)
  const latest = await blockAt(chain.rpcUrl, 'latest')
  expectBetween(Number(latest.timestamp), sentAtS, Date.now() / 1000)
  await local.stop()
  const files = readdirSync(join(dataDir, 'chains', 'BASE-SEPOLIA')).filter((name) =>
    /^(state|journal)/.test(name),
  )
  expect(files.sort()).toEqual([
    ...[0, 1, 2].map((generation) => `journal-${generation}.jsonl`),
    ...[1, 2].map((generation) => `state-${generation}.json`),
  ])
})

test('the pool survives a stop, with transactions of every signer', async () => {
  const dataDir = temporaryDirectory()
  const first = await startBase({ dataDir })
  const url = first.chain.rpcUrl
  await call(url, 'evm_setAutomine', [false])
  const waiting = await send(url, 0, 0)
  const gap = await send(url, 0, 2)
  const unlocked = await call<string>(url, 'eth_sendTransaction', [
    { from: dev[3]!.address, to: bob, value: '0x5' },
  ])
  await call(url, 'anvil_impersonateAccount', [bob])
  await call(url, 'anvil_setBalance', [bob, quantity(10 ** 18)])
  const impersonated = await call<string>(url, 'eth_sendTransaction', [
    { from: bob, to: dev[5]!.address, value: '0x1' },
  ])
  await first.local.stop()

  const { chain } = await startBase({ dataDir })
  expect(await call(chain.rpcUrl, 'eth_blockNumber')).toBe('0x0')
  expect(await call(chain.rpcUrl, 'txpool_status')).toEqual({ pending: '0x3', queued: '0x1' })
  await send(chain.rpcUrl, 0, 1)
  await call(chain.rpcUrl, 'evm_mine')
  for (const hash of [waiting, gap, unlocked, impersonated]) {
    expect((await receipt(chain.rpcUrl, hash))?.status).toBe('0x1')
  }
})

test('settings of the node survive a restart', async () => {
  const dataDir = temporaryDirectory()
  const first = await startBase({ dataDir })
  await call(first.chain.rpcUrl, 'evm_setIntervalMining', [1])
  await call(first.chain.rpcUrl, 'evm_increaseTime', [86_400])
  await call(first.chain.rpcUrl, 'anvil_setCoinbase', [bob])
  await first.local.stop()

  const startedAtS = Math.floor(Date.now() / 1000)
  const second = await startBase({ dataDir, gasLimit: 60_000_000n })
  const { rpcUrl } = second.chain
  expect(await call(rpcUrl, 'anvil_getIntervalMining')).toBe(1)
  await until(async () => Number(await call(rpcUrl, 'eth_blockNumber')) > 0)
  await until(async () => BigInt((await blockAt(rpcUrl, 'latest')).gasLimit) === 60_000_000n)
  const latest = await call<{ timestamp: string; miner: string }>(rpcUrl, 'eth_getBlockByNumber', [
    'latest',
    false,
  ])
  expectBetween(Number(latest.timestamp) - 86_400, startedAtS, Date.now() / 1000)
  expect(latest.miner).toBe(bob)
  await call(rpcUrl, 'evm_setAutomine', [false])
  await call(rpcUrl, 'evm_setIntervalMining', [0])
  await second.local.stop()

  const third = await startBase({ dataDir, gasLimit: 90_000_000n })
  expect(await call(third.chain.rpcUrl, 'anvil_getAutomine')).toBe(false)
  expect(await call(third.chain.rpcUrl, 'anvil_getIntervalMining')).toBeNull()
  await call(third.chain.rpcUrl, 'evm_mine')
  expect(BigInt((await blockAt(third.chain.rpcUrl, 'latest')).gasLimit)).toBe(90_000_000n)
})

test('a node that dies is started again with every acknowledged transaction, at the same address', async () => {
  const { chain } = await startBase({ dataDir: temporaryDirectory() })
  for (let round = 0; round < deaths; round++) {
    for (let index = 0; index < sentEach; index++) await send(chain.rpcUrl, 0, round * sentEach + index)
    const { pid } = chain
    process.kill(pid, 'SIGKILL')
    await until(async () => chain.pid !== pid)
    const nonce = await call(chain.rpcUrl, 'eth_getTransactionCount', [dev[0]!.address, 'latest'])
    expect(Number(nonce)).toBe((round + 1) * sentEach)
  }
  expect(Number(await balanceOf(chain.rpcUrl, bob))).toBe(deaths * sentEach)
})

test('a revert to a snapshot older than the last dump survives the death of the node', async () => {
  const { chain, local } = await startBase({ dataDir: temporaryDirectory() })
  await send(chain.rpcUrl, 0, 0)
  await until(async () => BigInt(await balanceOf(chain.rpcUrl, bob)) === 1n)
  const snapshot = await call(chain.rpcUrl, 'evm_snapshot')
  for (let nonce = 1; nonce < 10; nonce++) await send(chain.rpcUrl, 0, nonce)
  await local.persist()
  expect(await call(chain.rpcUrl, 'evm_revert', [snapshot])).toBe(true)
  const other = await call<string>(chain.rpcUrl, 'eth_sendRawTransaction', [await transfer(1, 0)])
  await until(async () => (await receipt(chain.rpcUrl, other)) !== null)
  const before = await allBlocks(chain.rpcUrl)
  expect(before).toHaveLength(3)
  const { pid } = chain
  process.kill(pid, 'SIGKILL')
  await until(async () => chain.pid !== pid)
  expect(await allBlocks(chain.rpcUrl)).toEqual(before)
})

test('balances set between transactions are set between them again', async () => {
  const { chain } = await startBase({ dataDir: temporaryDirectory() })
  const rich = quantity(10 ** 18)
  for (let round = 0; round < balanceRounds; round++) {
    await call(chain.rpcUrl, 'anvil_setBalance', [dev[2]!.address, rich])
    await send(chain.rpcUrl, 2, round)
    await call(chain.rpcUrl, 'anvil_setBalance', [dev[2]!.address, '0x0'])
    await expect(send(chain.rpcUrl, 2, round + 1)).rejects.toThrow(/funds/)
    await call(chain.rpcUrl, 'evm_increaseTime', [1000])
    await call(chain.rpcUrl, 'anvil_mine', ['0x2'])
  }
  await call(chain.rpcUrl, 'anvil_setBalance', [dev[2]!.address, rich])
  await call(chain.rpcUrl, 'evm_setTime', [Math.floor(Date.now() / 1000) + 10])
  await call(chain.rpcUrl, 'evm_mine')
  const before = await allBlocks(chain.rpcUrl)
  const { pid } = chain
  process.kill(pid, 'SIGKILL')
  await until(async () => chain.pid !== pid)
  expect(await allBlocks(chain.rpcUrl)).toEqual(before)
  expect(await balanceOf(chain.rpcUrl, dev[2]!.address)).toBe(rich)
  expect(await call(chain.rpcUrl, 'txpool_status')).toEqual({ pending: '0x0', queued: '0x0' })
})

test('full blocks of many senders at one fee, mined on a timer a user set, come back in the same order', async () => {
  const { chain } = await startBase({ dataDir: temporaryDirectory() })
  await call(chain.rpcUrl, 'evm_setIntervalMining', [1])
  for (let round = 0; round < 2; round++) {
    const batches = Array.from({ length: 5 }, async (_, sender) => {
      const raws = await Promise.all(
        Array.from({ length: fullBlock }, (_, index) => transfer(sender, round * fullBlock + index)),
      )
      const calls = raws.map((raw) => ({ method: 'eth_sendRawTransaction', params: [raw] }))
      await callMany(chain.rpcUrl, calls)
    })
    await Promise.all(batches)
    const mined = BigInt(5 * fullBlock * (round + 1))
    await until(async () => BigInt(await balanceOf(chain.rpcUrl, bob)) === mined)
  }
  await call(chain.rpcUrl, 'evm_setIntervalMining', [0])
  const before = await allBlocks(chain.rpcUrl)
  const { pid } = chain
  process.kill(pid, 'SIGKILL')
  await until(async () => chain.pid !== pid)
  expect(await allBlocks(chain.rpcUrl)).toEqual(before)
  expect(await call(chain.rpcUrl, 'anvil_getAutomine')).toBe(false)
})

test('when it is quiet the state is written, and a new journal continues the earlier one', async () => {
  const dataDir = temporaryDirectory()
  const { chain } = await startBase({ dataDir })
  const directory = join(dataDir, 'chains', 'BASE-SEPOLIA')
  const hash = await send(chain.rpcUrl, 0, 0)
  await until(async () => readdirSync(directory).includes('state-1.json'))
  expect(readFileSync(join(directory, 'journal-1.jsonl'), 'utf8').split('\n')).toHaveLength(2)
  const { pid } = chain
  process.kill(pid, 'SIGKILL')
  await until(async () => chain.pid !== pid)
  expect((await receipt(chain.rpcUrl, hash))?.status).toBe('0x1')
})

/** Checks a range of times; both clocks truncate to seconds, so they may differ by one. */
function expectBetween(seconds: number, earliest: number, latest: number): void {
  expect(seconds).toBeGreaterThanOrEqual(earliest - 1)
  expect(seconds).toBeLessThanOrEqual(latest + 1)
}
