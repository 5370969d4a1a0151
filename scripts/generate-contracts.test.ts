import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AbiItem, humanReadableAbi } from './human-readable-abi.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bezant-generate-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(...options: string[]) {
  const script = join(root, 'scripts/generate-contracts.ts')
  return spawnSync(process.execPath, ['--import', 'tsx', script, ...options], { cwd: root, encoding: 'utf8' })
}

test('what is committed is what the sources give, byte for byte', () => {
  expect(run('--into', folder)).toMatchObject({ status: 0, stderr: '' })
  const written = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  expect(written.length).toBeGreaterThan(7)
  for (const path of written) {
    expect([path, readFileSync(join(folder, path), 'utf8')]).toEqual([
      path,
      readFileSync(join(root, path), 'utf8'),
    ])
  }
})

test('--check passes on fresh files and names every stale, missing and left-over one', () => {
  expect(run('--check', '--into', folder)).toMatchObject({ status: 0, stderr: '' })
  const abi = 'src/chains/evm/abi/stablecoin.ts'
  appendFileSync(join(folder, abi), '\n')
  rmSync(join(folder, 'testing/artifacts/lying-token.ts'))
  const banner = readFileSync(join(folder, abi), 'utf8').split('\n')[0]
  writeFileSync(join(folder, 'testing/artifacts/gone.ts'), `${banner}\n`)
  writeFileSync(join(folder, 'testing/artifacts/by-hand.ts'), 'export {}\n')
  const { status, stderr } = run('--check', '--into', folder)
  expect(status).toBe(1)
  expect(stderr.split('\n').filter((line) => line.startsWith('stale: '))).toEqual([
    `stale: ${abi}`,
    'stale: testing/artifacts/lying-token.ts',
    'stale: testing/artifacts/gone.ts',
  ])
})

test('--help explains itself without compiling', () => {
  expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--check') })
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

test('a struct is refused rather than written wrongly', () => {
  const inputs = [{ name: 'pair', type: 'tuple', components: [{ name: 'left', type: 'uint256' }] }]
  expect(() => humanReadableAbi([{ type: 'function', name: 'f', inputs }])).toThrow(/structs/)
})
