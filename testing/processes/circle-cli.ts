import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mailedCode } from '#testing/builders/users'
import type { World } from '#testing/builders/world'
import { until } from '#testing/platform/until'
import { spawnProgram } from './program.ts'

export type CommandAnswer = { code: number; stdout: string; stderr: string }

/** The published tool on one device: a home directory of its own, and the proxy. */
export type CircleCli = {
  run(...args: string[]): Promise<CommandAnswer>
  /** Runs a command that must succeed, and returns its output as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: every command has its own output
  json(...args: string[]): Promise<any>
  /** Logs in by the mailed code. */
  logIn(email: string): Promise<void>
}

const program = join(import.meta.dirname, '../../node_modules/@circle-fin/cli/dist/index.js')

/** Starts `bezant agent-proxy`, and returns its address. */
export async function startAgentProxy({ harness }: World, args: readonly string[] = []): Promise<string> {
  const { child, exited, stdout, stderr } = await spawnProgram({
    command: 'agent-proxy',
    args: ['--listen', '0', '--emails', '*@example.com', ...args],
    env: { BEZANT_URL: harness.url, BEZANT_API_KEY: harness.apiKey },
  })
  harness.atClose(async () => {
    child.kill('SIGTERM')
    await exited
  })
  await until(() => stdout().includes('\n') || child.exitCode !== null, `the proxy serves: ${stderr()}`)
  return /CIRCLE_PROXY_URL=(\S+)/.exec(stdout())![1]!
}

/** A device with the published tool. It tells its vendor nothing, and looks for no new version. */
export async function openCircleCli(world: World, proxyUrl: string): Promise<CircleCli> {
  const home = await mkdtemp(join(tmpdir(), 'bezant-circle-cli-'))
  world.harness.atClose(() => rm(home, { recursive: true, force: true }))
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    CIRCLE_CLI_HOME: home,
    CIRCLE_PROXY_URL: proxyUrl,
    CIRCLE_DISCOVERY_URL: `${proxyUrl}/v2/x402/discovery/resources`,
    CIRCLE_ACCEPT_TERMS: '1',
    CIRCLE_VERSION_CHECK: 'off',
    DO_NOT_TRACK: '1',
  }
  const run = (...args: string[]) =>
    new Promise<CommandAnswer>((resolve) => {
      const child = execFile(process.execPath, [program, ...args], { env }, (_, stdout, stderr) =>
        resolve({ code: child.exitCode ?? 1, stdout, stderr }),
      )
    })
  return {
    run,
    json: async (...args) => {
      const { code, stdout, stderr } = await run(...args, '--output', 'json')
      if (code !== 0) throw new Error(`circle ${args.join(' ')}: ${stderr}`)
      const answer = JSON.parse(stdout)
      return answer.data ?? answer
    },
    logIn: async (email) => {
      const begun = await run('wallet', 'login', email, '--testnet', '--init')
      if (begun.code !== 0) throw new Error(`the login does not begin: ${begun.stderr}`)
      const [request] = readdirSync(join(home, 'login-requests'))
      const otp = await mailedCode(world, email)
      const named = ['--request', request!.replace('.json', ''), '--otp', otp, '--testnet']
      const done = await run('wallet', 'login', ...named)
      if (done.code !== 0) throw new Error(`the login does not end: ${done.stderr}`)
    },
  }
}
