import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isDeep } from '#testing/runner/size'
import { type AbiItem, humanReadableAbi } from './human-readable-abi.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bezant-generate-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const leftOver = ['testing/artifacts/gone.ts', 'testing/artifacts/by-hand.ts']

type Run = { status: number; stdout: string; stderr: string }

const abi = 'src/chains/evm/abi/stablecoin.ts'

/**
 * Runs the script five times in one process, each time with another command line. The compiler is the real one; it
 * compiles the same input only once, because that takes seconds.
 */
const driver = `
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import solc from 'solc'
const [script, folder] = process.argv.slice(2)
const compile = solc.compile
const known = new Map()
solc.compile = (input, callbacks) => {
  if (!known.has(input)) known.set(input, compile(input, callbacks))
  return known.get(input)
}
const print = console.log
const runs = []
async function run(...options) {
  const lines = { log: [], error: [] }
  for (const name of ['log', 'error']) console[name] = (line) => lines[name].push(line)
  process.argv = [process.argv[0], script, ...options]
  process.exitCode = 0
  await import(script + '?' + runs.length)
  runs.push({ status: process.exitCode, stdout: lines.log.join('\\n'), stderr: lines.error.join('\\n') })
}
await run('--help')
const compiledForHelp = known.size
await run('--into', folder)
await run('--check', '--into', folder)
const abi = join(folder, '${abi}')
appendFileSync(abi, '\\n')
rmSync(join(folder, 'testing/artifacts/lying-token.ts'))
const banner = readFileSync(abi, 'utf8').split('\\n')[0]
writeFileSync(join(folder, 'testing/artifacts/gone.ts'), banner + '\\n')
writeFileSync(join(folder, 'testing/artifacts/by-hand.ts'), 'export {}\\n')
await run('--check', '--into', folder)
await run('--into', folder)
process.exitCode = 0
print(JSON.stringify({ runs, compiledForHelp }))
`

// `npm run check` compiles them all in any case.
describe.runIf(isDeep)('the script', () => {
  let runs: Run[]
  let compiledForHelp: number
  beforeAll(async () => {
    const script = join(root, 'scripts/generate-contracts.ts')
    // One compilation ends before better machine code would pay for itself.
    const flags = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']
    const args = [...flags, '--import', 'tsx', '--input-type=module', '-', script, folder]
    const running = promisify(execFile)(process.execPath, args, { cwd: root })
    running.child.stdin!.end(driver)
    const { stdout, stderr } = await running
    expect(stderr).toBe('')
    ;({ runs, compiledForHelp } = JSON.parse(stdout))
  })

  test('--help explains itself without compiling', () => {
    expect(runs[0]).toMatchObject({ status: 0, stdout: expect.stringContaining('--check') })
    expect(compiledForHelp).toBe(0)
  })

  test('what is committed is what the sources give, byte for byte', () => {
    expect(runs[1]).toMatchObject({ status: 0, stderr: '' })
    const written = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => name.split(sep).join('/'))
      .filter((name) => name.endsWith('.ts') && !leftOver.includes(name))
    expect(written.length).toBeGreaterThan(7)
    for (const path of written) {
      expect(runs[1]!.stdout).toContain(`wrote ${path}`)
      expect([path, readFileSync(join(folder, path), 'utf8')]).toEqual([
        path,
        readFileSync(join(root, path), 'utf8'),
      ])
    }
  })

  test('--check passes on fresh files and names every stale, missing and left-over one', () => {
    expect(runs[2]).toMatchObject({ status: 0, stderr: '' })
    expect(runs[3]!.status).toBe(1)
    expect(runs[3]!.stderr.split('\n').filter((line) => line.startsWith('stale: '))).toEqual([
      `stale: ${abi}`,
      'stale: testing/artifacts/lying-token.ts',
      'stale: testing/artifacts/gone.ts',
    ])
  })

  test('without --check only what is stale or missing is written, and what is left over is named', () => {
    expect(runs[4]!.stdout.split('\n')).toEqual([
      `wrote ${abi}`,
      'wrote testing/artifacts/lying-token.ts',
      'left over, remove it: testing/artifacts/gone.ts',
    ])
  })
})

test('the signatures mean what the compiler wrote', () => {
  const abi: AbiItem[] = [
    { type: 'constructor', inputs: [{ name: 'owner', type: 'address' }], stateMutability: 'payable' },
    { type: 'error', name: 'Refused', inputs: [{ name: 'payee', type: 'address' }] },
    {
      type: 'event',
      name: 'Moved',
      inputs: [
        { name: 'from', type: 'address', indexed: true },
        { name: 'amount', type: 'uint256' },
      ],
    },
    {
      type: 'function',
      name: 'move',
      inputs: [{ name: 'to', type: 'address[]' }],
      outputs: [{ type: 'bool' }],
      stateMutability: 'payable',
    },
    {
      type: 'function',
      name: 'peek',
      inputs: [],
      outputs: [{ name: 'seen', type: 'bytes' }],
      stateMutability: 'view',
    },
    { type: 'fallback', stateMutability: 'payable' },
    { type: 'receive', stateMutability: 'payable' },
  ]
  expect(parseAbi(humanReadableAbi(abi))).toEqual(abi)
})

test('a struct with structs in it has a name', () => {
  const amount = { name: 'amount', type: 'uint256' }
  const inner = { name: 'inner', type: 'tuple[]', internalType: 'struct Bank.Inner[]', components: [amount] }
  const outer = { name: 'outer', type: 'tuple', internalType: 'struct Bank.Outer', components: [inner] }
  const written = humanReadableAbi([
    { type: 'function', name: 'f', inputs: [outer], outputs: [], stateMutability: 'nonpayable' },
  ])
  expect(written).toEqual([
    'struct Inner { uint256 amount; }',
    'struct Outer { Inner[] inner; }',
    'function f(Outer outer)',
  ])
  const [item] = parseAbi(written as readonly string[])
  expect(item).toMatchObject({ name: 'f', inputs: [{ components: [{ type: 'tuple[]' }] }] })
})

test('a struct is written as its types', () => {
  const left = { name: 'left', type: 'uint256' }
  const pair = { name: 'pair', type: 'tuple[2][]', components: [left, { type: 'tuple', components: [left] }] }
  const abi: AbiItem[] = [
    { type: 'function', name: 'f', inputs: [pair], outputs: [], stateMutability: 'nonpayable' },
  ]
  expect(parseAbi(humanReadableAbi(abi))).toEqual(abi)
})
