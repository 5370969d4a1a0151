import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { runCommand } from '#testing/processes/command'
import { joinRootKey, rootKeyFingerprint, SharesRefused, splitRootKey } from './index.ts'

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bezant-shares-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** All choices of `count` lines, in their order. */
const choices = (lines: readonly string[], count: number): string[][] =>
  count === 0
    ? [[]]
    : lines.flatMap((line, index) =>
        choices(lines.slice(index + 1), count - 1).map((rest) => [line, ...rest]),
      )

/** A share with a part of its text replaced, and the checksum that belongs to it. */
function forged(line: string, replace: (parts: string[]) => void): string {
  const parts = line.split(':').slice(0, -1)
  replace(parts)
  const text = parts.join(':')
  return `${text}:${createHash('sha256').update(text).digest('hex').slice(0, 8)}`
}

it.each([
  [2, 2],
  [3, 2],
  [5, 3],
  [7, 6],
])(
  'property 290: of %i shares any %i give the root key back, and fewer do not',
  async (shares, threshold) => {
    const key = randomBytes(32)
    const lines = await splitRootKey(key, { shares, threshold })
    expect(lines).toHaveLength(shares)
    for (const some of choices(lines, threshold))
      expect(await joinRootKey(some.toReversed().join('\n'))).toEqual(key)
    for (const few of choices(lines, threshold - 1)) {
      await expect(joinRootKey(few.join('\n'))).rejects.toThrow('1 more is missing')
      // Even where the shares say that they are enough.
      const claimed = few.map((line) => forged(line, (parts) => void (parts[2] = String(threshold - 1))))
      if (few.length > 1)
        await expect(joinRootKey(claimed.join('\n'))).rejects.toThrow('one of them was changed')
    }
  },
)

it('names the share that is wrong', async () => {
  const key = randomBytes(32)
  const [first, second, third] = (await splitRootKey(key, { shares: 3, threshold: 2 })) as [
    string,
    string,
    string,
  ]
  const [other] = (await splitRootKey(key, { shares: 3, threshold: 2 })) as [string]
  const wrong = second.replace(/.(?=.{20}$)/, (digit) => (digit === '0' ? '1' : '0'))
  const refusals = [
    ['', 'there is no share'],
    [`${first}\n${first}`, 'these are there: 1. 1 more is missing'],
    [`${first}\n${wrong}`, 'share 2 has another checksum than its text'],
    [`${third}\n${other}`, /^share 1 of set [0-9a-f]{8} is of another splitting than share 3 of set/],
    [
      [first, forged(second, (parts) => void (parts[6] = first.split(':')[6]!))].join('\n'),
      'one of them was changed',
    ],
  ] as const
  for (const [text, problem] of refusals) {
    const refused = joinRootKey(text)
    await expect(refused).rejects.toThrow(SharesRefused)
    await expect(refused).rejects.toThrow(problem)
  }
  expect(await joinRootKey(`Dear operator,\n  "${second.toUpperCase()}"\r\nand ${first}.`)).toEqual(key)
})

it('writes shares to files that their owner alone reads, joins them again, and prints no secret', async () => {
  const key = randomBytes(32)
  const env = { BEZANT_ROOT_KEY: key.toString('hex') }
  const bezant = async (...args: string[]) =>
    runCommand({ command: 'root-key', args, env, dataDir: directory })
  const out = join(directory, 'shares')
  const split = ['split', '--shares', '3', '--threshold', '2', '--out', out]
  const made = await bezant(...split, '--json')
  expect([made.code, made.stderr]).toEqual([0, ''])
  const rows = made.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rows[1]).toEqual({
    share: 2,
    file: join(out, 'share-2-of-3.txt'),
    fingerprint: rootKeyFingerprint(key),
  })
  const texts = await Promise.all((await readdir(out)).map((name) => readFile(join(out, name), 'utf8')))
  for (const text of texts) {
    expect(text).not.toContain(key.toString('hex'))
    expect(made.stdout).not.toContain(text.trim().split('\n').at(-1)!.split(':')[6]!)
  }
  expect((await stat(rows[0].file)).mode & 0o777).toBe(0o600)
  expect((await bezant(...split)).stderr).toContain('share-1-of-3.txt exists already')

  const file = join(directory, 'joined.key')
  const joined = await given(texts.slice(1).join('\n'), () => bezant('join', '--out', file, '--json'))
  expect([joined.code, JSON.parse(joined.stdout)]).toEqual([
    0,
    { file, fingerprint: rootKeyFingerprint(key) },
  ])
  expect(await readFile(file, 'utf8')).toBe(`${key.toString('hex')}\n`)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const shown = await given(texts.slice(1).join('\n'), () => bezant('join', '--out', '-'))
  expect(shown.stdout).toBe(`${key.toString('hex')}\n`)
  const few = await given(texts[0]!, () => bezant('join', '--out', join(directory, 'none.key')))
  expect([few.code, few.stderr]).toEqual([2, expect.stringContaining('1 more is missing')])
  for (const [args, problem] of [
    [['split', '--out', out], 'split needs --shares and --threshold'],
    [['split', '--shares', '3', '--threshold', '1', '--out', out], 'with 1, each share would be the key'],
    [['split', '--shares', '3', '--threshold', '4', '--out', out], 'must be from 2 to the number of shares'],
    [['split', '--shares', '3', '--threshold', '2'], '--out is missing'],
  ] as const)
    expect(await bezant(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) })
})

/** Runs a command with this text as its standard input. */
async function given<Result>(input: string, work: () => Promise<Result>): Promise<Result> {
  const own = Object.getOwnPropertyDescriptor(process, 'stdin')!
  const restore = () => Object.defineProperty(process, 'stdin', own)
  onTestFinished(() => void restore())
  Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true })
  return work().finally(restore)
}
