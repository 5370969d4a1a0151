import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  allBlocks,
  type Block,
  bob,
  dev,
  receipt,
  send,
  startBase,
  startVictim,
  temporaryDirectory,
  transfer,
  type Victim,
} from '#testing/local-chains/kit'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'
import { isRunning } from './end-killed-node.ts'
import { call, callMany } from './rpc.ts'

const inNode = (url: string, hash: string) => call(url, 'eth_getTransactionByHash', [hash])
const directoryOf = (dataDir: string) => join(dataDir, 'chains', 'BASE-SEPOLIA')

/** Waits until the newest of these blocks is in a journal, which takes a moment after it was mined. */
const untilKept = (dataDir: string, blocks: readonly Block[]) =>
  until(() => {
    const directory = directoryOf(dataDir)
    const journals = readdirSync(directory).filter((name) => name.startsWith('journal'))
    return journals.some((name) => readFileSync(join(directory, name), 'utf8').includes(blocks.at(-1)!.hash))
  }, 'the blocks are in the journal')

const cycles = isDeep ? 5 : 2
const transfers = isDeep ? 100 : 20
const senders = 5

test.each([
  ['mined at once', undefined],
  ['mined every second', 1000],
])(
  `${transfers} acknowledged transfers %s outlive the death of everything, time after time`,
  async (_, blockTimeMs) => {
    const dataDir = temporaryDirectory()
    const options = blockTimeMs === undefined ? { dataDir } : { dataDir, blockTimeMs }
    const deaths = isDeep || blockTimeMs === undefined ? cycles : 1
    const each = transfers / senders
    const acknowledged: string[] = []
    let victim = await startVictim(options)
    for (let cycle = 0; cycle < deaths; cycle++) {
      const url = victim.chain.rpcUrl
      const raws = await Promise.all(
        Array.from({ length: transfers }, (_, index) =>
          transfer(index % senders, cycle * each + Math.floor(index / senders)),
        ),
      )
      // Half in one batch, half one by one.
      const batch = raws
        .slice(0, transfers / 2)
        .map((raw) => ({ method: 'eth_sendRawTransaction', params: [raw] }))
      const answers = await callMany(url, batch)
      acknowledged.push(...answers.map(({ result }) => String(result)))
      const single = raws
        .slice(transfers / 2)
        .map((raw) => call<string>(url, 'eth_sendRawTransaction', [raw]))
      acknowledged.push(...(await Promise.all(single)))
      await delay(Math.random() * 200)
      await victim.kill(true)
      victim = await startVictim(options)
      const found = await Promise.all(acknowledged.map((hash) => inNode(victim.chain.rpcUrl, hash)))
      expect(found.filter((transaction) => transaction === null)).toEqual([])
    }
    const { rpcUrl } = victim.chain
    const owned = async () => Number(await call(rpcUrl, 'eth_getBalance', [bob, 'latest']))
    await until(async () => (await owned()) === deaths * transfers)
    const receipts = await Promise.all(acknowledged.map((hash) => receipt(rpcUrl, hash)))
    expect(receipts.filter((found) => found?.status !== '0x1')).toEqual([])
    for (const { address } of dev.slice(0, senders)) {
      const nonce = await call(rpcUrl, 'eth_getTransactionCount', [address, 'pending'])
      expect(Number(nonce)).toBe(deaths * each)
    }
  },
)

test('blocks keep their hashes over a kill of all processes', async () => {
  const dataDir = temporaryDirectory()
  const deaths = isDeep ? 3 : 1
  const count = isDeep ? 40 : 12
  let victim = await startVictim({ dataDir })
  for (let cycle = 0; cycle < deaths; cycle++) {
    const { rpcUrl } = victim.chain
    const nonce = (index: number) => (cycle * count) / 4 + (index >> 2)
    await Promise.all(Array.from({ length: count }, (_, index) => send(rpcUrl, index % 4, nonce(index))))
    const owned = async () => Number(await call(rpcUrl, 'eth_getBalance', [bob, 'latest']))
    await until(async () => (await owned()) === count * (cycle + 1))
    const before = await allBlocks(rpcUrl)
    await untilKept(dataDir, before)
    await victim.kill(true)
    victim = await startVictim({ dataDir })
    expect(await allBlocks(victim.chain.rpcUrl)).toEqual(before)
  }
})

test('a node left running is ended, even one that does not answer, and its blocks are mined again', async () => {
  const dataDir = temporaryDirectory()
  const first = await startVictim({ dataDir, blockTimeMs: 1000 })
  const { rpcUrl } = first.chain
  const hash = await send(rpcUrl, 0, 0)
  await until(async () => (await receipt(rpcUrl, hash)) !== null)
  const before = await allBlocks(rpcUrl)
  await untilKept(dataDir, before)
  await first.leaveNodes()
  process.kill(first.chain.pid, 'SIGSTOP')
  const second = await startVictim({ dataDir, blockTimeMs: 1000 })
  expect(isRunning(first.chain.pid)).toBe(false)
  expect(second.chain.rpcUrl).toBe(rpcUrl)
  expect((await allBlocks(rpcUrl)).slice(0, before.length)).toEqual(before)
  await until(async () => Number(await call(rpcUrl, 'eth_blockNumber')) > before.length)
  await second.stop()
  expect(isRunning(second.chain.pid)).toBe(false)
})

test.each([
  ['a kill', (victim: Victim) => victim.kill(true)],
  ['an orderly stop', (victim: Victim) => victim.stop()],
])('after %s a chain can be reorganised five blocks deep', async (_, end) => {
  const dataDir = temporaryDirectory()
  const first = await startVictim({ dataDir })
  const { rpcUrl } = first.chain
  for (let nonce = 0; nonce < 8; nonce++) {
    const hash = await send(rpcUrl, 0, nonce)
    await until(async () => (await receipt(rpcUrl, hash)) !== null)
  }
  const before = await allBlocks(rpcUrl)
  await untilKept(dataDir, before)
  await end(first)
  const second = await startVictim({ dataDir })
  expect(await allBlocks(rpcUrl)).toEqual(before)
  await call(rpcUrl, 'anvil_reorg', [5, []])
  const after = await allBlocks(rpcUrl)
  expect(after.slice(0, 4)).toEqual(before.slice(0, 4))
  for (const number of [4, 5, 6, 7, 8]) expect(after[number]?.hash).not.toBe(before[number]?.hash)
  expect(Number(await call(rpcUrl, 'eth_getBalance', [bob, 'latest']))).toBe(3)
  await second.kill(true)
  await startVictim({ dataDir })
  expect(await allBlocks(rpcUrl)).toEqual(after)
})

test('a kill of all processes leaves no mint without its burn on the other chain', async () => {
  const dataDir = temporaryDirectory()
  const blockchains = ['BASE-SEPOLIA', 'ETH-SEPOLIA']
  let victim = await startVictim({ dataDir, blockchains })
  const mined = async (chain: number, nonce: number) => {
    const { rpcUrl, chainId } = victim.chains[chain]!
    const hash = await call<string>(rpcUrl, 'eth_sendRawTransaction', [await transfer(0, nonce, chainId)])
    await until(async () => (await receipt(rpcUrl, hash)) !== null)
  }
  const transfersOn = async (chain: number) =>
    Number(await call(victim.chains[chain]!.rpcUrl, 'eth_getBalance', [bob, 'latest']))
  for (let death = 0, nonce = 0; death < (isDeep ? 5 : 2); death++) {
    const killed = delay(100 + Math.random() * 200).then(() => victim.kill(true))
    try {
      for (; ; nonce++) {
        await mined(0, nonce)
        await mined(1, nonce)
      }
    } catch {
      await killed
    }
    victim = await startVictim({ dataDir, blockchains })
    const [burnt, minted] = [await transfersOn(0), await transfersOn(1)]
    expect([burnt - minted, minted >= nonce]).toEqual([expect.toBeOneOf([0, 1]), true])
    for (nonce = minted; nonce < burnt; nonce++) await mined(1, nonce)
  }
})

test('a chain whose journal gives other blocks starts from its newest state, exactly as it was', async () => {
  const dataDir = temporaryDirectory()
  const first = await startVictim({ dataDir })
  for (let nonce = 0; nonce < 3; nonce++) await send(first.chain.rpcUrl, 0, nonce)
  await until(async () => Number(await call(first.chain.rpcUrl, 'eth_blockNumber')) === 3)
  const before = await allBlocks(first.chain.rpcUrl)
  await first.stop()
  const path = join(directoryOf(dataDir), 'journal-0.jsonl')
  const later = readFileSync(path, 'utf8').replace(
    /"timestampS":(\d+)/,
    (_, time) => `"timestampS":${Number(time) + 1}`,
  )
  writeFileSync(path, later)
  const second = await startVictim({ dataDir })
  expect(await allBlocks(second.chain.rpcUrl)).toEqual(before)
})

test('a start survives the leftovers of a kill: a process number of another process, half-written files, a refused transaction', async () => {
  const dataDir = temporaryDirectory()
  const directory = directoryOf(dataDir)
  const first = await startVictim({ dataDir })
  const url = first.chain.rpcUrl
  const hash = await send(url, 1, 0)
  await call(url, 'anvil_setBalance', [dev[0]!.address, '0x0'])
  await expect(send(url, 0, 0)).rejects.toThrow(/funds/)
  await call(url, 'anvil_setBalance', [dev[0]!.address, `0x${(10 ** 18).toString(16)}`])
  await first.kill(true)
  const record = { pid: process.pid, port: Number(new URL(first.chain.nodeUrl).port) }
  writeFileSync(join(directory, 'node.json'), JSON.stringify(record))
  writeFileSync(join(directory, 'state-1.json.tmp'), '{"block": {"number"')
  writeFileSync(join(directory, 'journal-1.jsonl'), '{"kind":"head","offsetS":0,"settings":[]}\n')
  appendFileSync(join(directory, 'journal-0.jsonl'), '{"kind":"raw","atS":1,"tx')

  const second = await startVictim({ dataDir })
  expect(second.chain.pid).not.toBe(process.pid)
  expect((await receipt(second.chain.rpcUrl, hash))?.status).toBe('0x1')
  // The refused transaction would pass now, and is not sent again.
  expect(await call(second.chain.rpcUrl, 'eth_getTransactionCount', [dev[0]!.address, 'pending'])).toBe('0x0')
  const accepted = await send(second.chain.rpcUrl, 0, 0)
  await until(async () => (await receipt(second.chain.rpcUrl, accepted))?.status === '0x1')
  await second.stop()
  const kept = readdirSync(directory).filter((name) => /^(state|journal)/.test(name))
  expect(kept.sort()).toEqual([
    'journal-0.jsonl',
    expect.stringMatching(/^journal-[12].jsonl$/),
    expect.stringMatching(/^state-[12].json$/),
  ])
})

test('Ctrl-C stops everything in order: the state is written, nothing is left running', async () => {
  const dataDir = temporaryDirectory()
  const first = await startVictim({ dataDir })
  const hash = await send(first.chain.rpcUrl, 0, 0)
  await first.interrupt()
  expect(isRunning(first.chain.pid)).toBe(false)
  expect(readdirSync(directoryOf(dataDir))).toContain('state-1.json')
  const { chain } = await startBase({ dataDir })
  expect((await receipt(chain.rpcUrl, hash))?.status).toBe('0x1')
})
