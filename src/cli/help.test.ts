import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { invalid } from '#lib/errors'
import { settings } from '#runtime/settings'
import { runCommand } from '#testing/processes/command'
import { runProgram } from '#testing/processes/program'
import { programFile } from '#testing/processes/programs'
import { explainError } from './explain-error.ts'

const bezant = (command: string, ...args: string[]) => runCommand({ command, args })

describe('bezant help', () => {
  const listed = (stdout: string) => [...stdout.matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name]) => name)

  it('worker --help lists every setting except those of the API', async () => {
    const all = listed((await bezant('serve', '--help')).stdout)
    const ofWorkers = listed((await bezant('worker', '--help')).stdout)
    expect(all.filter((name) => !ofWorkers.includes(name))).toEqual([
      'BEZANT_READ_DATABASE_URL',
      'BEZANT_PORT',
      'BEZANT_PAGE_PORT',
      'BEZANT_CHALLENGE_URL',
      'BEZANT_BODY_BYTES_MAX',
      'BEZANT_PAGE_NODE_MS',
      'BEZANT_REQUEST_LOG',
      'BEZANT_PASSKEY_ORIGINS',
      'BEZANT_SMTP_URL',
      'BEZANT_MAIL_FROM',
      'BEZANT_SOCIAL_PROVIDERS',
      'BEZANT_SIGN_IN_PROVIDER',
      'BEZANT_ATTESTATION_SERVICE',
      'BEZANT_RECIPIENT_HOLD_HOURS',
      'BEZANT_CONTRACT_SOURCES_DIR',
      'BEZANT_CONTRACT_SOURCES_URL',
    ])
  })

  it('serve --help lists every setting', async () => {
    const { stdout } = await runProgram({ command: 'serve', args: ['--help'] })
    expect(listed(stdout)).toEqual(Object.keys(settings))
    expect(stdout).toMatch(/BEZANT_PORT +Port of the API\. Default: 4020\.\n/)
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
  })

  it('help COMMAND prints the same as COMMAND --help, and docs/commands.md lists every command', async () => {
    const { stdout } = await bezant('help')
    const commands = [...stdout.matchAll(/^ {2}([\w-]+) /gm)].map(([, name]) => name!)
    expect(commands).toContain('policy')
    const page = readFileSync('docs/commands.md', 'utf8')
    for (const command of commands) {
      expect((await bezant('help', command)).stdout).toContain(`Usage: bezant ${command}`)
      expect(page).toContain(`| \`bezant ${command}\` |`)
    }
    expect((await bezant('help', 'keys')).stdout).toBe((await bezant('keys', '--help')).stdout)
  })

  it('an unknown command is an error that names it', async () => {
    const { code, stderr } = await runProgram({ command: 'help', args: ['nothing'] })
    expect([code, stderr]).toEqual([2, 'bezant: unknown command "nothing"\nSee: bezant --help\n'])
  })

  it.each([
    ['sandbx', [], 'unknown command "sandbx": did you mean sandbox?'],
    ['sandbox', ['--prt', '1'], 'unknown option --prt: did you mean --port?'],
    ['sandbox', ['--port'], '--port needs a value: --port PORT'],
    ['sandbox', ['--port', '-1'], '--port needs a value; write --port=PORT where it begins with a dash'],
    ['sandbox', ['--json=1'], '--json takes no value'],
    ['keys', ['lst'], 'unknown action "lst": did you mean list?'],
    ['keys', ['zzz'], 'unknown action "zzz": choose from create-entity, create, revoke, list'],
    ['keys', [], 'name an action: create-entity, create, revoke, list'],
  ])('bezant %s %j names the mistake and the nearest word', async (command, args, problem) => {
    const { code, stderr } = await bezant(command, ...args)
    expect([code, stderr.split('\n')[0]]).toEqual([2, `bezant: ${problem}`])
  })

  it('a data directory that cannot be used, and a database that does not run, have a remedy', async () => {
    const file = fileURLToPath(import.meta.url)
    const inFile = await runCommand({ command: 'sandbox', dataDir: join(file, 'x'), args: ['--port', '0'] })
    expect([inFile.code, inFile.stderr]).toEqual([
      1,
      expect.stringMatching(/x\/root\.key cannot be used \(ENOTDIR\): .*give another one\n$/),
    ])
    const url = 'postgresql://u@127.0.0.1:1/away'
    const away = await runCommand({ command: 'keys', args: ['list'], env: { DATABASE_URL: url } })
    expect([away.code, away.stderr]).toEqual([
      1,
      expect.stringMatching(/ECONNREFUSED.*: start PostgreSQL there, or correct DATABASE_URL\n$/),
    ])
  })

  it('a sandbox that the network would reach needs --expose', async () => {
    const refused = await runCommand({ command: 'sandbox', env: { BEZANT_HOST: '0.0.0.0' } })
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/BEZANT_HOST is 0\.0\.0\.0.*credentials are public: unset it, or pass --expose/),
    ])
  })

  it('an error of a rule begins with the reason, not with the words of an answer of the API', () => {
    expect(explainError(invalid({ at: 'state', reason: 'must be one of a, b', value: 'c' }))).toBe(
      'state must be one of a, b.',
    )
  })

  it('an older Node is told which version is needed, before anything is imported that it lacks', async () => {
    const older = 'Object.defineProperty(process.versions, "node", { value: "18.20.4" })'
    const started = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(older)}`, await programFile('bezant'), 'help'],
      { encoding: 'utf8' },
    )
    expect([started.status, started.stderr]).toEqual([
      1,
      'bezant: Node 18.20.4 is too old: install Node 20.19 or newer\n',
    ])
  })
})
