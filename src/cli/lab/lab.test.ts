import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { runCommand } from '#testing/processes/command'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ lab: true, blockchains: ['BASE-SEPOLIA', 'APTOS-TESTNET'] })
})
afterAll(() => harness.close())

const bezant = (...args: string[]) =>
  runCommand({ command: 'sandbox', args, env: { BEZANT_URL: harness.url } })
/** The JSON lines that a command prints where its output is no terminal. */
async function linesOf(...args: string[]) {
  const { code, stdout, stderr } = await bezant(...args)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}
const chain = async (...args: string[]) => (await linesOf('chain', ...args))[0]

describe('bezant sandbox chain', () => {
  it('lists the chains, and mines, pauses, resumes and reorganises one', async () => {
    const [before] = await linesOf('chain', 'list')
    expect(before).toMatchObject({ blockchain: 'BASE-SEPOLIA', chainId: 84_532, mining: 'each_transaction' })
    const { headNumber: height } = await chain('mine', 'base-sepolia', '--blocks', '3')
    expect(height).toBe(before.headNumber + 3)
    expect(await chain('pause', 'BASE-SEPOLIA')).toMatchObject({ isPaused: true })
    expect(await chain('resume', 'BASE-SEPOLIA')).toMatchObject({ isPaused: false })
    expect(await chain('interval', 'BASE-SEPOLIA', '3600')).toMatchObject({ intervalS: 3600 })
    expect(await chain('interval', 'BASE-SEPOLIA', '0')).toMatchObject({ mining: 'each_transaction' })
    expect(await chain('base-fee', 'BASE-SEPOLIA', '30.5')).toMatchObject({ baseFeeGwei: '30.5' })
    const reorg = await chain('reorg', 'BASE-SEPOLIA', '--depth', '2', '--new-blocks', '4')
    expect(reorg.orphaned).toHaveLength(2)
    expect(reorg.head.number).toBe(height + 2)
  })

  it('prints a table on a terminal', async () => {
    const { isTTY } = process.stdout
    process.stdout.isTTY = true
    try {
      expect((await bezant('chain', 'list')).stdout).toMatch(
        /^BLOCKCHAIN +HEAD NUMBER +HEAD HASH +MINING +INTERVAL S +UNMINED +BASE FEE GWEI\nBASE-SEPOLIA +\d+ +0x[0-9a-f]{64} +each_transaction +- +0 +[\d.]+\nAPTOS-TESTNET .+ -\n$/,
      )
      expect((await bezant('chain', 'list', '--json')).stdout).toMatch(/^\{"blockchain"/)
    } finally {
      process.stdout.isTTY = isTTY
    }
  })

  it('drops a transaction', async () => {
    await chain('pause', 'BASE-SEPOLIA')
    const hash = await harness.chain().send(freshAddress(), 1n)
    expect(await chain('drop', 'BASE-SEPOLIA', hash)).toMatchObject({ unmined: 0 })
    await chain('resume', 'BASE-SEPOLIA')
  })
})

describe('bezant sandbox faucet', () => {
  it('pays', async () => {
    const address = freshAddress()
    const amount = ['--blockchain', 'BASE-SEPOLIA', '--token', 'usdc', '--amount', '1000000']
    const [paid] = await linesOf('faucet', address, ...amount)
    expect(paid).toMatchObject({ status: 'mined' })
    const { oracle, tokens } = harness.chain()
    expect(await oracle.balanceOf(address, tokens.USDC)).toBe(1_000_000_000_000n)
  })
})

describe('mistakes', () => {
  const onChain = ['BASE-SEPOLIA', '0x12']
  it.each([
    [2, ['chian'], 'bezant sandbox has no "chian": did you mean chain?'],
    [2, ['chain'], 'name an action: list, mine, pause, resume, interval, base-fee, reorg, drop'],
    [2, ['chain', 'reorgs'], 'unknown action "reorgs": did you mean reorg?'],
    [
      2,
      ['chain', 'mine'],
      'mine needs a blockchain, such as BASE-SEPOLIA: bezant sandbox chain list shows them',
    ],
    [2, ['chain', 'mine', '--blcks', '1'], 'unknown option --blcks: did you mean --blocks?'],
    [2, ['chain', 'mine', 'BASE-SEPOLIA', '3'], 'unexpected argument "3"'],
    [2, ['chain', 'list', 'BASE-SEPOLIA'], 'unexpected argument "BASE-SEPOLIA"'],
    [2, ['faucet', '0x12', '20'], 'unexpected argument "20"'],
    [1, ['faults', 'remove', 'x'], 'There is no plan of faults: apply one first.'],
    [1, ['faults', 'replay'], 'There is no plan of faults: apply one first.'],
    [
      1,
      ['faults', 'apply', '/nowhere/plan.yaml'],
      '/nowhere/plan.yaml cannot be used (ENOENT): it does not exist: correct the path',
    ],
    [
      1,
      ['snapshot', 'import', 'x', '/nowhere/x'],
      '/nowhere/x cannot be used (ENOENT): it does not exist: correct the path',
    ],
    [
      1,
      ['snapshot', 'export', '@fresh', '/nowhere/x'],
      '/nowhere cannot be used (ENOENT): it does not exist: correct the path',
    ],
    [2, ['chain', 'interval', 'BASE-SEPOLIA', 'x'], 'SECONDS must be a whole number, not "x"'],
    [
      2,
      ['chain', 'list', '--url', 'x'],
      'the address of the sandbox must be like http://127.0.0.1:4020, not "x"',
    ],
    [2, ['faucet'], 'faucet needs an address'],
    [2, ['snapshot', 'safe', 'x'], 'unknown action "safe": did you mean save?'],
    [2, ['snapshot', 'restore'], 'restore needs a name: bezant sandbox snapshot list shows them'],
    [2, ['snapshot', 'export', 'x'], 'export needs a name and a file'],
    [1, ['snapshot', 'restore', 'x'], 'NAME matches no snapshot of this sandbox, which has none.'],
    [
      1,
      ['snapshot', 'save', 'X'],
      'NAME must match ^[a-z0-9-]{1,40}$: use up to 40 of a-z, 0-9 and hyphens.',
    ],
    [2, ['faucet', '0x12', '--blockchain', 'BASE-SEPOLIA'], 'faucet needs --amount'],
    [
      1,
      ['chain', 'drop', ...onChain],
      'TXHASH must be the hash of a transaction: 0x and 64 hexadecimal digits.',
    ],
    [
      1,
      ['chain', 'mine', 'BASE-SEPOLA'],
      'BLOCKCHAIN is no chain of this sandbox: did you mean BASE-SEPOLIA?',
    ],
  ])('exits with %i for %j, and says what to do', async (code, args, problem) => {
    const done = await bezant(...args)
    expect([done.code, done.stderr.split('\n')[0], done.stdout]).toEqual([code, `bezant: ${problem}`, ''])
  })

  it.each([
    [['chain', 'reorg', 'BASE-SEPOLIA', '--depth', '65'], '--depth must be at most 64'],
    [['chain', 'reorg', 'BASE-SEPOLIA', '--new-blocks', '0'], '--new-blocks must be at least 1'],
    [['chain', 'base-fee', 'BASE-SEPOLIA', 'dear'], 'GWEI must '],
    [['clock', 'advance', '5d'], 'DURATION must '],
    [['clock', 'advance', '--to', 'soon'], '--to must '],
    [['faucet', '0x12', '--blockchain', 'BASE-SEPOLIA', '--amount', '1'], 'ADDRESS '],
    [['faucet', freshAddress(), '--blockchain', 'BASE-SEPOLIA', '--amount', 'all'], '--amount '],
  ])('names the option or the argument of %j, not the field that is sent', async (args, problem) => {
    const { code, stderr } = await bezant(...args)
    expect(stderr.slice(0, `bezant: ${problem}`.length)).toBe(`bezant: ${problem}`)
    expect(code).toBe(1)
  })

  it('another server is not taken for a sandbox, and none is started first', async () => {
    const server = createServer((_, response) => response.writeHead(404).end('<html>')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const other = await bezant('chain', 'list', '--url', url)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    expect([other.code, other.stderr]).toEqual([
      1,
      `bezant: what answers at ${url} with 404 is no sandbox: give the address of one with --url\n`,
    ])
    const none = await bezant('chain', 'list', '--url', url)
    expect([none.code, none.stderr]).toEqual([
      1,
      `bezant: no sandbox answers at ${url} (ECONNREFUSED): start one with bezant sandbox, or give its address with --url\n`,
    ])
  })

  it('each noun has its help', async () => {
    const { stdout } = await bezant('--help')
    for (const noun of ['chain', 'clock', 'faucet', 'snapshot', 'reset']) {
      expect(stdout).toContain(`bezant sandbox ${noun} `)
      expect((await bezant(noun, '--help')).stdout).toContain(`Usage: bezant sandbox ${noun}`)
      const byHelp = await runCommand({ command: 'help', args: ['sandbox', noun] })
      expect(byHelp.stdout).toBe((await bezant(noun, '--help')).stdout)
    }
  })
})

describe('bezant sandbox snapshot', () => {
  it('prints what a restore returns to without JSON on a terminal', async () => {
    await linesOf('snapshot', 'save', 'readable')
    const { isTTY } = process.stdout
    process.stdout.isTTY = true
    try {
      for (const words of [
        ['snapshot', 'restore', 'readable'],
        ['reset', '--url', harness.url],
      ]) {
        const { code, stdout } = await bezant(...words)
        expect([code, stdout]).toEqual([0, expect.stringMatching(/^chains +BASE-SEPOLIA at block \d+$/m)])
        expect(stdout).not.toMatch(/[[{"]/)
      }
    } finally {
      process.stdout.isTTY = isTTY
    }
    await linesOf('snapshot', 'delete', 'readable')
  })
})

describe('docs/lab.md', () => {
  const blocks = [...readFileSync('docs/lab.md', 'utf8').matchAll(/```sh\n([\s\S]+?)```/g)].map(
    ([, text]) => text!,
  )
  // The test sends no message: it waits a second where a reader waits longer.
  const local = (text: string) =>
    text.replaceAll('http://127.0.0.1:4020', harness.url).replaceAll(/wait=PT\d+S/g, 'wait=PT1S')
  // A line with an ellipsis needs an address or a hash of the reader.
  const isWhole = (line: string) => line !== '' && !line.includes('…') && !line.startsWith('#')
  const lines = blocks.flatMap((text) => text.split('\n').filter(isWhole))

  it('has snippets of commands, each of which succeeds', async () => {
    const commands = lines.filter((line) => line.startsWith('bezant '))
    expect(commands.length).toBeGreaterThan(6)
    const folder = await mkdtemp(join(tmpdir(), 'bezant-lab-'))
    const file = join(folder, 'faults.yaml')
    await writeFile(file, /```yaml\n([\s\S]+?)```/.exec(readFileSync('docs/lab.md', 'utf8'))![1]!)
    for (const line of commands) {
      const [, command, ...args] = line.replace('faults.yaml', file).split(' ')
      const done = await runCommand({ command: command!, args, env: { BEZANT_URL: harness.url } })
      expect([done.code, done.stderr], line).toEqual([0, ''])
    }
    await rm(folder, { recursive: true })
    await chain('resume', 'BASE-SEPOLIA')
    await chain('interval', 'BASE-SEPOLIA', '0')
  })

  it('has snippets of requests, each of which succeeds', async () => {
    const script = lines.filter((line) => !line.startsWith('bezant ')).map(local)
    const { stdout } = await promisify(execFile)('sh', ['-c', `${script.join('; echo;\n')}; echo`])
    const answers = stdout.split('\n').filter(Boolean)
    const asked = script.filter((line) => /^(curl|post) /.test(line))
    expect(asked.length).toBeGreaterThan(8)
    expect(answers.map((answer) => Object.keys(JSON.parse(answer)))).toEqual(asked.map(() => ['data']))
  })
})
