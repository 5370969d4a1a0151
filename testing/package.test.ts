import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bezant-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the package', () => {
  it('is installed by an empty folder and started with npx, with nothing of this repository beside it', async () => {
    await run('npm', ['pack', '--pack-destination', folder], { cwd: root })
    const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))!
    await run('npm', ['init', '-y'], { cwd: folder })
    await run('npm', ['install', '--ignore-scripts', '--prefer-offline', `./${archive}`], { cwd: folder })
    const args = [
      '--no-install',
      'bezant',
      'sandbox',
      '--json',
      '--ephemeral',
      '--port',
      '0',
      '--chains',
      'BASE-SEPOLIA',
    ]
    const child = spawn('npx', args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
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
  }, 240_000)
})
