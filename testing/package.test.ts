import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endGroup } from './process-group.ts'
import { isDeep } from './size.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bezant-package-'))
const clients = ['@circle-fin/circle-sdk', '@circle-fin/developer-controlled-wallets']
/** Processes that workflow steps leave running, as a runner does until its job ends. */
const left: number[] = []

beforeAll(async () => {
  await run('npm', ['pack', '--pack-destination', folder], { cwd: root })
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))!
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true }))
  await install(archive)
  for (const { path, text } of snippets()) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
})
afterAll(async () => {
  await Promise.all(left.map(endGroup))
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

/** Installs the package as a user does: every dependency is fetched anew, and no install script runs. */
async function install(archive: string): Promise<void> {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const beside = ['vitest', ...clients].map((name) => `${name}@${devDependencies[name]}`)
  const options = ['--ignore-scripts', '--prefer-offline', '--save-dev']
  await run('npm', ['install', ...options, `./${archive}`, ...beside, 'jest@30.5.2'], { cwd: folder })
}

/** The files that a documentation page shows, each with its path in a comment on its first line. */
const snippets = (): { path: string; text: string }[] =>
  [
    ...readFileSync(join(root, 'docs/ci.md'), 'utf8').matchAll(/```\w+\n(?:\/\/|#) (\S+)\n([\s\S]+?)```/g),
  ].map(([, path, text]) => ({ path: path!, text: text! }))

/** The commands of the workflow's steps: one line, or the indented lines after `|`. */
const stepsOf = (workflow: string): string[] =>
  [...workflow.matchAll(/^ +- run: (?:\|\n((?: {10}.*\n)+)|(.+)\n)/gm)].map(
    ([, lines, line]) => lines ?? line!,
  )

/** Runs one step as a runner does, in its own process group. Variables written to GITHUB_ENV apply to later steps. */
async function runStep(script: string, env: NodeJS.ProcessEnv): Promise<{ code: number; said: string }> {
  const child = spawn('bash', ['-e', '-c', script], { cwd: folder, env, detached: true })
  left.push(child.pid!)
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const code = await new Promise<number>((resolve) => child.once('exit', (status) => resolve(status ?? -1)))
  return { code, said }
}

const { NODE_OPTIONS: _, VITEST: __, ...environment } = process.env

describe.runIf(isDeep)('the package, installed in an empty folder', () => {
  it('serves its console, and contains every document that its documents link to', async () => {
    const options = ['sandbox', '--json', '--ephemeral', '--port', '0', '--chains', 'BASE-SEPOLIA']
    const child = spawn(process.execPath, ['node_modules/bezant/dist/main.js', ...options], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    })
    const exited = new Promise((resolve) => child.once('exit', resolve))
    let lines = ''
    const ready = new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk) => {
        lines += chunk
        if (lines.includes('\n')) resolve()
      })
      child.once('exit', () => reject(new Error('the program ended')))
    })
    try {
      await ready
      const answer = JSON.parse(lines) as { url: string; console: string }
      expect(await (await fetch(`${answer.url}/ping`)).json()).toEqual({ message: 'pong' })
      for (const path of ['', '/console.js', '/table.js'])
        expect((await fetch(answer.console + path)).status).toBe(200)
    } finally {
      process.kill(-child.pid!, 'SIGTERM')
      await exited
    }
    const shipped = readdirSync(join(folder, 'node_modules/bezant'))
    expect(shipped).toEqual(expect.arrayContaining(['README.md', 'docs', 'examples', 'CONTRIBUTING.md']))
  })

  it('starts a sandbox for the documented workflow: its run steps, Vitest among them', async () => {
    const workflow = snippets().find(({ path }) => path.endsWith('.yml'))!
    const steps = stepsOf(workflow.text)
    expect(steps).toHaveLength(4)
    const env = { ...environment, GITHUB_ENV: join(folder, 'github-env') }
    writeFileSync(env.GITHUB_ENV, '')
    for (const script of steps) {
      const told = Object.fromEntries(
        readFileSync(env.GITHUB_ENV, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      )
      const { code, said } = await runStep(script, { ...env, ...told })
      expect(code, `${script}\n${said}`).toBe(0)
      if (script.includes('vitest')) expect(said).toMatch(/1 passed/)
      if (script.includes('curl')) expect(said).toContain('pong')
    }
  })

  it('starts a sandbox for the documented Jest', async () => {
    const { code, said } = await runStep('npx jest', environment)
    expect(code, said).toBe(0)
    expect(said).toMatch(/1 passed/)
  })
})
