import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '#testing/local-chains/kit'
import { createChainJournal, type JournalEntry, openChainJournal } from './journal.ts'
import { createGate } from './read-write-lock.ts'
import { mayChange, requestKindOf, requestsIn } from './requests.ts'
import { createSettings } from './settings.ts'
import { generationsIn, keepOnly, neededStates, stateFilesIn } from './state-file.ts'

const head: JournalEntry = { kind: 'head', offsetS: 7, settings: [] }
const raw: JournalEntry = { kind: 'raw', atS: 1, txs: ['0xaa', '0xbb'] }

test('a journal returns every appended entry, over several openings', () => {
  const path = join(temporaryDirectory(), 'journal')
  const first = createChainJournal(path, [head])
  first.append(raw)
  first.close()
  const second = openChainJournal(path)
  expect(second.entries).toEqual([head, raw])
  expect([second.journal.changes(), second.journal.blocks()]).toEqual([2, 0])
  second.journal.append({ kind: 'refused', txs: ['0xbb'] })
  second.journal.close()
  expect(openChainJournal(path).entries).toEqual([head, raw, { kind: 'refused', txs: ['0xbb'] }])
})

test('a journal cut anywhere in its last line loses only that line, and accepts further entries', () => {
  const path = join(temporaryDirectory(), 'journal')
  createChainJournal(path, [head, raw]).close()
  const whole = readFileSync(path)
  const lastLine = whole.indexOf(10) + 1
  for (let length = lastLine; length < whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length))
    const { journal, entries } = openChainJournal(path)
    expect(entries).toEqual([head])
    journal.append(raw)
    journal.close()
    expect(readFileSync(path)).toEqual(whole)
  }
})

test('a line that a lost write broke in the middle is left out', () => {
  const path = join(temporaryDirectory(), 'journal')
  createChainJournal(path, [head]).close()
  appendFileSync(path, '\0\0\0{"kind"\n')
  appendFileSync(path, `${JSON.stringify(raw)}\n`)
  expect(openChainJournal(path).entries).toEqual([head, raw])
})

test('journals since the oldest state that is needed are kept; what a killed dump left is removed', () => {
  const directory = temporaryDirectory()
  const files = stateFilesIn(directory)
  expect(generationsIn(directory)).toEqual([0])
  const whole = [8, 9, 10].flatMap((generation) => [files.state(generation), files.journal(generation)])
  for (const path of [...whole, `${files.state(11)}.tmp`, files.journal(11)]) writeFileSync(path, '{}')
  expect(generationsIn(directory)).toEqual([8, 9, 10])
  keepOnly(directory, [8, 10])
  expect(generationsIn(directory)).toEqual([8, 10])
  const names = ['journal-10.jsonl', 'journal-8.jsonl', 'journal-9.jsonl', 'state-10.json', 'state-8.json']
  expect(readdirSync(directory).sort()).toEqual(names)
})

test('however often the state is written, at most three are kept, and 64 to 328 blocks follow the oldest', () => {
  let states = [{ generation: 0, block: 0 }]
  for (let height = 0, generation = 1; generation < 500; generation++) {
    height += (generation * 37) % 200
    const written = [...states, { generation, block: height }]
    const needed = neededStates(written, height)
    states = written.filter((state) => needed.includes(state.generation))
    expect(states.length).toBeLessThanOrEqual(3)
    expect(states.at(-1)).toEqual({ generation, block: height })
    const behind = height - states[0]!.block
    expect(behind <= 328 && (behind >= 64 || states[0]!.block === 0), `${behind} blocks`).toBe(true)
  }
})

test('requests are classified by their effect on the chain', () => {
  const kinds = {
    eth_sendRawTransaction: 'raw',
    eth_sendRawTransactionSync: 'raw',
    eth_sendTransaction: 'unsigned',
    eth_sendUnsignedTransaction: 'unsigned',
    evm_mine: 'admin',
    anvil_setBalance: 'admin',
    hardhat_impersonateAccount: 'admin',
    evm_revert: 'replacement',
    anvil_reorg: 'replacement',
    anvil_dumpState: 'read',
    anvil_nodeInfo: 'read',
    anvil_getAutomine: 'read',
    eth_call: 'read',
    debug_traceTransaction: 'read',
  }
  for (const [method, kind] of Object.entries(kinds)) {
    expect([method, requestKindOf(method)]).toEqual([method, kind])
    const body = Buffer.from(JSON.stringify([{ id: 1, method }]))
    if (kind !== 'read') expect(mayChange(body)).toBe(true)
  }
  const escaped = Buffer.from('{"method":"\\u0065vm_mine"}')
  expect(mayChange(escaped)).toBe(true)
  expect(requestsIn(escaped)).toEqual([{ method: 'evm_mine' }])
  expect(mayChange(Buffer.from('{"method":"eth_getLogs","params":[{}]}'))).toBe(false)
  expect(requestsIn(Buffer.from('{"method":'))).toBeUndefined()
  expect(requestsIn(Buffer.from('[null, 3, {"method": 5}]'))).toEqual([])
})

test('the last of each setting is kept, and what is for the next block until that block', () => {
  const settings = createSettings()
  settings.note('anvil_setCoinbase', ['0x1'])
  settings.note('hardhat_setCoinbase', ['0x2'])
  settings.note('anvil_impersonateAccount', ['0xAB'])
  settings.note('anvil_impersonateAccount', ['0xcd'])
  settings.note('anvil_stopImpersonatingAccount', ['0xab'])
  settings.note('evm_setNextBlockTimestamp', [5])
  settings.note('anvil_setBalance', ['0x1', '0x2'])
  expect(settings.pending()).toEqual([{ method: 'evm_setNextBlockTimestamp', params: [5] }])
  settings.blockMined()
  expect(settings.list()).toEqual([
    { method: 'hardhat_setCoinbase', params: ['0x2'] },
    { method: 'anvil_impersonateAccount', params: ['0xcd'] },
  ])
})

test('work that runs alone at the gate excludes other work, and no work waits forever', async () => {
  const gate = createGate()
  let together = 0
  let most = 0
  const visit = async (isAlone: boolean) => {
    together++
    most = Math.max(most, together)
    if (isAlone) expect(together).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
    if (isAlone) expect(together).toBe(1)
    together--
  }
  const visits = Array.from({ length: 200 }, (_, index) =>
    index % 5 === 0 ? gate.alone(() => visit(true)) : gate.shared(() => visit(false)),
  )
  await Promise.all(visits)
  expect(most).toBeGreaterThan(1)
  await expect(gate.alone(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await gate.shared(() => visit(false))
})
