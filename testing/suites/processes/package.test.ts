import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ListeningServer, startPage } from '#context'
import { makeUser } from '#testing/builders/users'
import { type World, worldOf } from '#testing/builders/world'
import type { AppPage } from '#testing/pages/app-site'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { answers, pageActions } from '#testing/pages/page-actions'
import { buildApp, type Given, openBuilt } from '#testing/pages/vite-app'
import { type Harness, openHarness } from '#testing/platform/harness'
import { endGroup } from '#testing/processes/process-group'
import { root } from '#testing/runner/root'
import { isDeep } from '#testing/runner/size'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'bezant-package-'))
const clients = [
  '@circle-fin/circle-sdk',
  '@circle-fin/developer-controlled-wallets',
  '@circle-fin/w3s-pw-web-sdk',
]
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
  const others = ['jest@30.5.2', 'vite-plugin-node-polyfills@0.28.0']
  await run('npm', ['install', ...options, `./${archive}`, ...beside, ...others], { cwd: folder })
  await run('npm', ['install', ...options, './node_modules/bezant/client/web'], { cwd: folder })
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

/** A use of the kit with its types, and mistakes that these find. */
const typedUse = `
import { startSandbox, type Sandbox, type TimelineDocument } from 'bezant/testing'
import setUp from 'bezant/testing/vitest'
import 'bezant/testing/vitest/matchers'
import { expect } from 'vitest'

const sandbox: Sandbox = await startSandbox({ blockchains: ['BASE-SEPOLIA'], seed: 7 })
const timeline: TimelineDocument = await sandbox.timeline('id', { until: 'paid' })
expect(timeline).toPassThrough('pending', 'paid')
const { offsetMs }: { offsetMs: number } = await sandbox.clock.advance('P2D')
const tearDown: () => Promise<void> = await setUp()
// @ts-expect-error the depth is missing
await sandbox.chain().reorg({})
// @ts-expect-error there is no such option
await startSandbox({ chains: ['BASE-SEPOLIA'] })
export { offsetMs, tearDown }
`

/** The same in CommonJS, as Jest runs it. */
const requiredUse = `
import kit = require('bezant/testing')
import setUp = require('bezant/testing/jest')

export async function use(): Promise<string> {
  await setUp.default()
  const sandbox: kit.Sandbox = await kit.startSandbox({ blockchains: ['BASE-SEPOLIA'] })
  // @ts-expect-error the depth is missing
  await sandbox.chain().reorg({})
  return sandbox.url
}
`

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
      const page = await (await fetch(answer.console)).text()
      const [, script] = /src="([^"]+\.js)"/.exec(page)!
      expect((await fetch(answer.url + script)).status).toBe(200)
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

  it('runs the ten tests of the shop', async () => {
    cpSync(join(folder, 'node_modules/bezant/examples/shop'), join(folder, 'shop'), { recursive: true })
    const { code, said } = await runStep('cd shop && npx vitest run', environment)
    expect(code, said).toBe(0)
    expect(said).toMatch(/10 passed/)
  })

  it('has types for the kit that need nothing but the package', async () => {
    writeFileSync(join(folder, 'kit.mts'), typedUse)
    writeFileSync(join(folder, 'required.cts'), requiredUse)
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const options = '--noEmit --strict --target es2022 --module nodenext --skipLibCheck'
    const command = `'${process.execPath}' '${tsc}' ${options} kit.mts required.cts`
    const { code, said } = await runStep(command, environment)
    expect(code, said).toBe(0)
  })
})

describe.runIf(isDeep && chromiumPath)('a plain Vite app in which the package is installed', () => {
  let harness: Harness
  let world: World
  let users: ListeningServer
  let browser: Browser
  let server: ReturnType<typeof initiateUserControlledWalletsClient>

  beforeAll(async () => {
    harness = await openHarness()
    world = worldOf(harness)
    server = initiateUserControlledWalletsClient({ apiKey: harness.apiKey, baseUrl: harness.url })
    ;[users, browser] = await Promise.all([startPage(harness.ctx), openBrowser()])
  })
  afterAll(async () => {
    await browser?.close()
    await users?.stop()
    await harness?.close()
  })

  it.each([
    { name: 'published', client: 'the published client', configuredBy: 'docs/user-wallets.md' },
    { name: 'own', client: '@bezant/web and no polyfill', configuredBy: 'client/web/README.md' },
  ])(
    'property 153: sets and restores a PIN with the documented lines, by $client',
    async ({ name, configuredBy }) => {
      const site = await buildApp(folder, name, configuredBy)
      const { id: userId } = await makeUser(world)
      const { userToken, encryptionKey } = (await server.createUserToken({ userId })).data!
      const { appId } = await world.call('GET', '/v1/w3s/config/entity')
      const context = await browser.newContext({ reducedMotion: 'reduce' })
      const open = async (challengeId: string) => {
        const given = {
          appId,
          userToken,
          encryptionKey: encryptionKey!,
          challengeUrl: users.url,
          challengeId,
        }
        const restorePin = async () => (await server.restoreUserPin({ userToken })).data!.challengeId!
        app = await openBuilt(await context.newPage(), site, { given, restorePin })
      }
      let app: AppPage
      const { screen, go, choosePin, chooseQuestions } = pageActions(() => app)

      await open((await server.createUserPin({ userToken })).data!.challengeId!)
      await choosePin()
      await chooseQuestions()
      expect(await app!.called()).toMatchObject([[null, { type: 'SET_PIN', status: 'COMPLETE' }]])

      await open((await server.updateUserPin({ userToken })).data!.challengeId!)
      await app!.frame.getByText('Forgot PIN?').click()
      await screen('recoverPincode')
      for (const [index, answer] of answers.entries())
        await app!.frame.getByTestId('answer-text-input').nth(index).fill(answer)
      await go()
      await choosePin('917364', 'newPincode', 'confirmNewPincode')
      expect(await app!.called()).toMatchObject([[null, { type: 'RESTORE_PIN', status: 'COMPLETE' }]])
      await context.close()
      await site.close()
    },
  )

  it('needs the documented polyfill for the published client', async () => {
    const site = await buildApp(folder, 'without-polyfill')
    const page = await browser.newPage()
    const failed = page.waitForEvent('pageerror')
    await openBuilt(page, site, { given: {} as Given, restorePin: async () => '' })
    expect((await failed).message).toContain('Object prototype may only be an Object or null')
    await page.close()
    await site.close()
  })
})
