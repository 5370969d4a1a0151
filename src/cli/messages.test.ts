import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidIn } from '#lib/ids'
import { sandboxEntity } from '#sandbox/credentials'
import { runCommand } from '#testing/processes/command'
import { type Program, runProgram, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'
import { isDeep } from '#testing/runner/size'

let dataDir: string
let program: Program
/** What it logged until it was ready: later it may warn of trouble with a busy machine. */
let startLog: string
beforeAll(async () => {
  dataDir = await initializedDirectory()
  program = await startProgram({ dataDir, args: ['--chains', 'BASE-SEPOLIA'] })
  startLog = program.stderr()
})
afterAll(async () => {
  program.signal('SIGTERM', 'process')
  await program.exited
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const run = (command: string, args: string[] = [], env: Record<string, string> = {}) =>
  runCommand({ dataDir, command, args, env })

const rows = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('a wrong input is an error that names it and the remedy', () => {
  it('an unknown option is an error that names it', async () => {
    const { code, stderr } = await runProgram({ command: 'migrate', args: ['--prot', '1'] })
    expect([code, stderr]).toEqual([2, 'bezant: unknown option --prot\nSee: bezant migrate --help\n'])
  })

  it.each([['migrate'], ['keys', 'list']])(
    'a database that cannot be reached: %s',
    async (command, ...args) => {
      const { code, stderr } = await run(command, args, {
        DATABASE_URL: 'postgresql://u:secret@127.0.0.1:1/x',
      })
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /^bezant: the database at postgresql:\/\/127\.0\.0\.1:1\/x cannot be used .*: start PostgreSQL there, or correct DATABASE_URL\n$/,
      )
    },
  )

  it.each(['serve', 'worker', 'migrate'])('no database: %s', async (command) => {
    const env = { BEZANT_PORT: '0' }
    const { code, stderr } = await runCommand({ dataDir: join(dataDir, 'nothing'), command, env })
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^bezant: DATABASE_URL is not set, .* Set DATABASE_URL to .*, start a sandbox there first, or name/m,
      ),
    ])
  })

  it('a wrong root key', async () => {
    const env = { BEZANT_ROOT_KEY: randomBytes(32).toString('hex') }
    const { code, stderr } = await runProgram({ dataDir, command: 'reconcile', env })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^bezant: the root key does not decrypt the keys in the database .*BEZANT_ROOT_KEY/m,
    )
  })

  const commands = [
    ['reconcile'],
    ['keys', 'list'],
    ['journal', 'list'],
    ['chain', 'list'],
    ['policy', 'show', '--entity', sandboxEntity.id],
  ]
  // The first two stand for the two ways in which commands read their settings.
  it.each(isDeep ? commands : commands.slice(0, 2))('an unknown setting: %s', async (command, ...args) => {
    const env = { BEZANT_REQUEST_PER_SECOND: '5' }
    const { stdout, stderr } = await runProgram({
      dataDir,
      command: command!,
      args: [...args, '--json'],
      env,
    })
    expect(stderr.match(/"unknown":\["BEZANT_REQUEST_PER_SECOND"\],"msg":"[^"]* are ignored/g)).toHaveLength(
      1,
    )
    rows(stdout)
  })

  it('a missing journal directory', async () => {
    const { code, stderr } = await run('journal', ['merge', '/nope'])
    expect([code, stderr]).toEqual([1, 'bezant: no directory /nope: give the directory of the journal\n'])
  })

  it.each([
    [
      'sandbox',
      '--chains',
      'BASE-SEPOLIA,NOWHERE',
      /--chains must name test networks, not "NOWHERE": choose from ETH-SEPOLIA, /,
    ],
    ['sandbox', '--sca-core', 'v4', /--sca-core must be one of circle_4337_v1, .*, not "v4"/],
    ['sandbox', '--notify', 'nowhere', /--notify must be one of public, /],
    ['serve', '--log-level', 'loud', /--log-level must be one of debug, /],
  ])('a wrong value for an option: %s %s', async (command, flag, value, words) => {
    const { code, stderr } = await run(command, [flag, value])
    expect([code, stderr]).toEqual([2, expect.stringMatching(words)])
  })

  it.each([
    ['BEZANT_ROOT_KEY', 'abc', /BEZANT_ROOT_KEY must hold 64 hexadecimal digits/],
    [
      'BEZANT_NETWORKS',
      '[{"blockchain": "BASE-SEPOLA", "rpcUrl": "http://127.0.0.1:1"}]',
      /no network named "BASE-SEPOLA" in BEZANT_NETWORKS: .*: did you mean BASE-SEPOLIA\?\n$/,
    ],
  ])('a wrong %s is reported before the occupied port', async (name, value, words) => {
    const nowhere = join(dataDir, 'nothing')
    const env = { [name]: value, DATABASE_URL: 'postgresql://u@127.0.0.1:1/x' }
    const args = ['--port', new URL(program.answer.url).port]
    for (const command of ['serve', 'worker', 'sandbox']) {
      const { code, stderr } = await runCommand({ dataDir: nowhere, command, args, env })
      expect([command, code, stderr]).toEqual([command, 1, expect.stringMatching(words)])
    }
    expect(existsSync(nowhere)).toBe(false)
  })
})

it('a sandbox logs no warning about its own settings', () => {
  expect(startLog).not.toContain('"level":40')
})

it('reconcile reports a chain that was not compared, and exits with 1', async () => {
  const BEZANT_NETWORKS = JSON.stringify([{ blockchain: 'ETH-SEPOLIA', rpcUrl: 'http://127.0.0.1:1' }])
  const { code, stdout } = await run('reconcile', ['--chain', 'ETH-SEPOLIA'], { BEZANT_NETWORKS })
  expect(code).toBe(1)
  expect(stdout).toContain('ETH-SEPOLIA is not compared')
  expect(stdout).not.toContain('the books equal')
  const json = await run('reconcile', ['--chain', 'ETH-SEPOLIA', '--json'], { BEZANT_NETWORKS })
  expect(JSON.parse(json.stdout)).toMatchObject({ gaps: 0, notCompared: ['ETH-SEPOLIA'] })
})

it('keys list shows the API keys of an entity, and revoke revokes one', async () => {
  const made = rows((await run('keys', ['create', '--json', '--entity', sandboxEntity.id])).stdout)[0]!
  const id = uuidIn(String(made['apiKey']).split(':')[1]!)!
  const secret = String(made['apiKey']).split(':')[2]!
  const listed = await run('keys', ['list', '--json', '--entity', sandboxEntity.id])
  expect(listed.stdout).not.toContain(secret)
  const shown = { id, scopes: 'api', createDate: expect.any(String) }
  const unused = { allowedAddresses: null, expireDate: null, usedDate: null, usedAddress: null }
  expect(rows(listed.stdout)).toContainEqual({ ...shown, ...unused, revokedDate: null })
  expect((await run('keys', ['revoke', '--key', id])).code).toBe(0)
  const after = await run('keys', ['list', '--json', '--entity', sandboxEntity.id])
  expect(rows(after.stdout)).toContainEqual({ ...shown, ...unused, revokedDate: expect.any(String) })
  const again = await run('keys', ['revoke', '--key', id])
  expect([again.code, again.stderr]).toEqual([
    2,
    expect.stringContaining('is already revoked: see bezant keys list --entity'),
  ])
})

it('keys create --client makes a key for pages, which keys list shows and keys revoke revokes', async () => {
  const create = ['create', '--json', '--entity', sandboxEntity.id, '--client']
  const made = rows((await run('keys', create)).stdout)[0]!
  expect(made).toEqual({
    entity: sandboxEntity.id,
    scopes: 'client',
    clientKey: expect.stringMatching(/^TEST_CLIENT_KEY:[0-9a-f]{32}:[0-9a-f]{64}$/),
  })
  // The middle part of the key, as an operator copies it.
  const shown = String(made['clientKey']).split(':')[1]!
  const id = uuidIn(shown)!
  const listed = rows((await run('keys', ['list', '--json', '--entity', sandboxEntity.id])).stdout)
  expect(listed).toContainEqual(expect.objectContaining({ id, scopes: 'client', revokedDate: null }))
  expect((await run('keys', ['revoke', '--key', shown])).code).toBe(0)
  const both = await run('keys', [...create, '--scope', 'api'])
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('exclude each other')])
})
