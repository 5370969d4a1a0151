import { appendFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  allBlocks,
  bob,
  dev,
  receipt,
  send,
  startVictim,
  temporaryDirectory,
  transfer,
  until,
} from '../../../testing/local-chains/kit.ts'
import { isRunning } from './orphan.ts'
import { call, callMany } from './rpc.ts'

const inNode = (url: string, hash: string) => call(url, 'eth_getTransactionByHash', [hash])
const directoryOf = (dataDir: string) => join(dataDir, 'chains', 'BASE-SEPOLIA')

test.each([
  ['mined at once', undefined],
  ['mined every second', 1000],
])(
  'a hundred acknowledged transfers %s outlive the death of everything, five times',
  async (_, blockTimeMs) => {
    const dataDir = temporaryDirectory()
    const options = blockTimeMs === undefined ? { dataDir } : { dataDir, blockTimeMs }
    const acknowledged: string[] = []
    let victim = await startVictim(options)
    for (let cycle = 0; cycle < 5; cycle++) {
      const url = victim.chain.rpcUrl
      const raws = await Promise.all(
        Array.from({ length: 100 }, (_, index) => transfer(index % 5, cycle * 20 + Math.floor(index / 5))),
      )
      // Half in one batch, half one by one.
      const batch = raws.slice(0, 50).map((raw) => ({ method: 'eth_sendRawTransaction', params: [raw] }))
      const answers = await callMany(url, batch)
      acknowledged.push(...answers.map(({ result }) => String(result)))
      const single = raws.slice(50).map((raw) => call<string>(url, 'eth_sendRawTransaction', [raw]))
      acknowledged.push(...(await Promise.all(single)))
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 200))
      await victim.kill(true)
      victim = await startVictim(options)
      const found = await Promise.all(acknowledged.map((hash) => inNode(victim.chain.rpcUrl, hash)))
      expect(found.filter((transaction) => transaction === null)).toEqual([])
    }
    const { rpcUrl } = victim.chain
    await until(async () => Number(await call(rpcUrl, 'eth_getBalance', [bob, 'latest'])) === 500)
    const receipts = await Promise.all(acknowledged.map((hash) => receipt(rpcUrl, hash)))
    expect(receipts.filter((found) => found?.status !== '0x1')).toEqual([])
    for (let sender = 0; sender < 5; sender++) {
      expect(await call(rpcUrl, 'eth_getTransactionCount', [dev[sender]!.address, 'pending'])).toBe('0x64')
    }
  },
)

test('blocks that a client saw a moment before the death of everything have the same hashes after', async () => {
  const dataDir = temporaryDirectory()
  let victim = await startVictim({ dataDir })
  for (let cycle = 0; cycle < 3; cycle++) {
    const sent = Array.from({ length: 40 }, (_, index) =>
      send(victim.chain.rpcUrl, index % 4, cycle * 10 + (index >> 2)),
    )
    await Promise.all(sent)
    await until(
      async () =>
        Number(await call(victim.chain.rpcUrl, 'eth_getBalance', [bob, 'latest'])) === 40 * (cycle + 1),
    )
    await new Promise((resolve) => setTimeout(resolve, 150))
    const before = await allBlocks(victim.chain.rpcUrl)
    await victim.kill(true)
    victim = await startVictim({ dataDir })
    expect(await allBlocks(victim.chain.rpcUrl)).toEqual(before)
  }
})

test('a node left running is adopted with all it has, and mines on', async () => {
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
  // What was mined while nobody looked is in the journal too.
  await second.kill(true)
  const third = await startVictim({ dataDir, blockTimeMs: 1000 })
  expect((await allBlocks(third.chain.rpcUrl)).slice(0, before.length)).toEqual(before)
  await third.stop()
  expect(isRunning(third.chain.pid)).toBe(false)
})

test('a node left running that does not answer is ended and replaced', async () => {
  const dataDir = temporaryDirectory()
  const first = await startVictim({ dataDir })
  const hash = await send(first.chain.rpcUrl, 0, 0)
  await first.kill(false)
  process.kill(first.chain.pid, 'SIGSTOP')
  const second = await startVictim({ dataDir })
  expect(second.chain.pid).not.toBe(first.chain.pid)
  expect(isRunning(first.chain.pid)).toBe(false)
  expect((await receipt(second.chain.rpcUrl, hash))?.status).toBe('0x1')
})

test('a process number that is somebody else by now is left alone', async () => {
  const dataDir = temporaryDirectory()
  const first = await startVictim({ dataDir })
  const hash = await send(first.chain.rpcUrl, 0, 0)
  await first.kill(true)
  const record = {
    pid: process.pid,
    port: Number(new URL(first.chain.nodeUrl).port),
    chainId: 84532,
    isReady: true,
  }
  writeFileSync(join(directoryOf(dataDir), 'node.json'), JSON.stringify(record))
  const second = await startVictim({ dataDir })
  expect(second.chain.pid).not.toBe(process.pid)
  expect((await receipt(second.chain.rpcUrl, hash))?.status).toBe('0x1')
})

test('what a kill in the middle of writing leaves behind does no harm', async () => {
  const dataDir = temporaryDirectory()
  const first = await startVictim({ dataDir })
  const hash = await send(first.chain.rpcUrl, 0, 0)
  await first.kill(true)
  const directory = directoryOf(dataDir)
  writeFileSync(join(directory, 'state-1.json.tmp'), '{"block": {"number"')
  writeFileSync(join(directory, 'journal-1.jsonl'), '{"kind":"head","offsetS":0,"settings":[]}\n')
  appendFileSync(join(directory, 'journal-0.jsonl'), '{"kind":"raw","atS":1,"tx')
  const second = await startVictim({ dataDir })
  expect((await receipt(second.chain.rpcUrl, hash))?.status).toBe('0x1')
  await second.stop()
  const kept = readdirSync(directory).filter((name) => /^(state|journal)/.test(name))
  expect(kept.sort()).toEqual(['journal-1.jsonl', 'state-1.json'])
})

test('a transaction the node refused is not sent again when it would pass later', async () => {
  const dataDir = temporaryDirectory()
  const first = await startVictim({ dataDir })
  const url = first.chain.rpcUrl
  await call(url, 'anvil_setBalance', [dev[0]!.address, '0x0'])
  await expect(send(url, 0, 0)).rejects.toThrow(/funds/)
  await call(url, 'anvil_setBalance', [dev[0]!.address, `0x${(10 ** 18).toString(16)}`])
  await first.kill(true)
  const second = await startVictim({ dataDir })
  expect(await call(second.chain.rpcUrl, 'eth_getTransactionCount', [dev[0]!.address, 'pending'])).toBe('0x0')
  await send(second.chain.rpcUrl, 0, 0)
  await until(async () => Number(await call(second.chain.rpcUrl, 'eth_getBalance', [bob, 'latest'])) === 1)
})

test('Ctrl-C stops everything in order: the state is written, nothing is left running', async () => {
  const dataDir = temporaryDirectory()
  const first = await startVictim({ dataDir })
  const hash = await send(first.chain.rpcUrl, 0, 0)
  const startedMs = performance.now()
  await first.interrupt()
  expect(performance.now() - startedMs).toBeLessThan(15_000)
  expect(isRunning(first.chain.pid)).toBe(false)
  expect(readdirSync(directoryOf(dataDir))).toContain('state-1.json')
  const second = await startVictim({ dataDir })
  expect((await receipt(second.chain.rpcUrl, hash))?.status).toBe('0x1')
})
