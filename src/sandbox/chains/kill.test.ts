import { appendFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  allBlocks,
  bob,
  dev,
  receipt,
  send,
  startBase,
  startVictim,
  temporaryDirectory,
  transfer,
} from '../../../testing/local-chains/kit.ts'
import { isDeep } from '../../../testing/size.ts'
import { until } from '../../../testing/until.ts'
import { isRunning } from './leftover-node.ts'
import { call, callMany } from './rpc.ts'

const inNode = (url: string, hash: string) => call(url, 'eth_getTransactionByHash', [hash])
const directoryOf = (dataDir: string) => join(dataDir, 'chains', 'BASE-SEPOLIA')

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
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 200))
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

test('blocks that a client saw a moment before the death of everything have the same hashes after', async () => {
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
    await new Promise((resolve) => setTimeout(resolve, 150))
    const before = await allBlocks(rpcUrl)
    await victim.kill(true)
    victim = await startVictim({ dataDir })
    expect(await allBlocks(victim.chain.rpcUrl)).toEqual(before)
  }
})

test('a node left running is adopted with all it has, and mines on; one that does not answer is replaced', async () => {
  const dataDir = temporaryDirectory()
  const first = await startVictim({ dataDir, blockTimeMs: 1000 })
  const hash = await send(first.chain.rpcUrl, 0, 0)
  await first.kill(false)
  await until(async () => (await receipt(first.chain.nodeUrl, hash)) !== null)
  const before = await allBlocks(first.chain.nodeUrl)
  const second = await startVictim({ dataDir, blockTimeMs: 1000 })
  expect(second.chain.pid).toBe(first.chain.pid)
  expect(second.chain.rpcUrl).toBe(first.chain.rpcUrl)
  await until(async () => Number(await call(second.chain.rpcUrl, 'eth_blockNumber')) > before.length)
  const adopted = await allBlocks(second.chain.rpcUrl)
  expect(adopted.slice(0, before.length)).toEqual(before)
  // The journal also contains blocks that were mined without a running process.
  await second.kill(true)
  const third = await startVictim({ dataDir, blockTimeMs: 1000 })
  expect((await allBlocks(third.chain.rpcUrl)).slice(0, before.length)).toEqual(before)
  await third.kill(false)
  process.kill(third.chain.pid, 'SIGSTOP')
  const fourth = await startVictim({ dataDir, blockTimeMs: 1000 })
  expect(fourth.chain.pid).not.toBe(third.chain.pid)
  expect(isRunning(third.chain.pid)).toBe(false)
  expect((await receipt(fourth.chain.rpcUrl, hash))?.status).toBe('0x1')
  expect((await allBlocks(fourth.chain.rpcUrl)).slice(0, before.length)).toEqual(before)
  await fourth.stop()
  expect(isRunning(fourth.chain.pid)).toBe(false)
})

test('leftovers of a kill do no harm: a process number of another process, half-written files, a refused transaction', async () => {
  const dataDir = temporaryDirectory()
  const directory = directoryOf(dataDir)
  const first = await startVictim({ dataDir })
  const url = first.chain.rpcUrl
  const hash = await send(url, 1, 0)
  await call(url, 'anvil_setBalance', [dev[0]!.address, '0x0'])
  await expect(send(url, 0, 0)).rejects.toThrow(/funds/)
  await call(url, 'anvil_setBalance', [dev[0]!.address, `0x${(10 ** 18).toString(16)}`])
  await first.kill(true)
  const record = {
    pid: process.pid,
    port: Number(new URL(first.chain.nodeUrl).port),
    chainId: 84532,
    isReady: true,
  }
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
