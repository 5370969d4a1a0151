import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { isDeep } from './size.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bezant-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the package', () => {
  it('is installed by an empty folder and started, with nothing of this repository beside it', async () => {
    await run('npm', ['pack', '--pack-destination', folder], { cwd: root })
    const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))!
    const [command, ...args] = isDeep ? await installed(archive) : await unpacked(archive)
    const options = ['sandbox', '--json', '--ephemeral', '--port', '0', '--chains', 'BASE-SEPOLIA']
    const child = spawn(command!, [...args, ...options], {
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
      expect((await fetch(answer.console)).status).toBe(200)
    } finally {
      process.kill(-child.pid!, 'SIGTERM')
      await exited
    }
  })
})

/** As a user has it: every dependency is fetched anew. */
async function installed(archive: string): Promise<string[]> {
  await run('npm', ['init', '-y'], { cwd: folder })
  await run('npm', ['install', '--ignore-scripts', '--prefer-offline', `./${archive}`], { cwd: folder })
  return ['npx', '--no-install', 'bezant']
}

/** The same files without the minute that an installation takes: dependencies are those of the repository. */
async function unpacked(archive: string): Promise<string[]> {
  await run('tar', ['-xzf', archive], { cwd: folder })
  symlinkSync(join(root, 'node_modules'), join(folder, 'package', 'node_modules'))
  return [process.execPath, join('package', 'dist', 'main.js')]
}
