import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { settings } from '#runtime/settings'
import { runCommand } from '../../testing/command.ts'
import { runProgram } from '../../testing/program.ts'

const bezant = (command: string, ...args: string[]) => runCommand({ command, args })

describe('bezant help', () => {
  const listed = (stdout: string) => [...stdout.matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name]) => name)

  it('worker --help lists every setting except those of the API', async () => {
    const all = listed((await bezant('serve', '--help')).stdout)
    const ofWorkers = listed((await bezant('worker', '--help')).stdout)
    expect(all.filter((name) => !ofWorkers.includes(name))).toEqual([
      'BEZANT_PORT',
      'BEZANT_PAGE_PORT',
      'BEZANT_CHALLENGE_URL',
      'BEZANT_BODY_BYTES_MAX',
      'BEZANT_PASSKEY_ORIGINS',
      'BEZANT_SMTP_URL',
      'BEZANT_MAIL_FROM',
      'BEZANT_SOCIAL_PROVIDERS',
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

  it('help COMMAND prints the same as COMMAND --help, and the README lists every command', async () => {
    const { stdout } = await bezant('help')
    const commands = [...stdout.matchAll(/^ {2}([\w-]+) /gm)].map(([, name]) => name!)
    expect(commands).toContain('policy')
    const readme = readFileSync('README.md', 'utf8')
    for (const command of commands) {
      expect((await bezant('help', command)).stdout).toContain(`Usage: bezant ${command}`)
      expect(readme).toContain(`| \`bezant ${command}\` |`)
    }
    expect((await bezant('help', 'keys')).stdout).toBe((await bezant('keys', '--help')).stdout)
  })

  it('an unknown command is an error that names it', async () => {
    const { code, stderr } = await runProgram({ command: 'help', args: ['nothing'] })
    expect([code, stderr]).toEqual([2, 'bezant: unknown command "nothing"\nSee: bezant --help\n'])
  })
})
