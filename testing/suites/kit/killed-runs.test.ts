import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '#testing/platform/until'
import type { KitProcessLine } from '#testing/processes/kit-process'
import { isRunning, processesUnder } from '#testing/processes/program'
import { programFile } from '#testing/processes/programs'

let folder: string
const children: ChildProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bezant-killed-run-'))
  // PostgreSQL runs as another user where the tests run as root.
  await chmod(folder, 0o755)
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

async function start(args: string[], more: Record<string, string> = {}) {
  const env = { ...process.env, ...more, TMPDIR: folder }
  const child = spawn(process.execPath, [await programFile('kit-process'), ...args], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  children.push(child)
  child.stderr.resume()
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { child, line: JSON.parse(line) as KitProcessLine }
}

const startRunner = async () => start(['runner', await programFile('kit')])
const countAt = async (server: string) => ((await (await fetch(server)).json()) as { count: number }).count
/** The files that a run leaves in the temporary directory; the files of PostgreSQL that are made once for each machine stay. */
const left = async () => (await readdir(folder)).filter((name) => !name.includes('-pg-'))

describe('property 181: whatever is killed, no sandbox outlives the process that asked for it', () => {
  it('drops the sandbox of a killed test process, and no other', async () => {
    const { child, line } = await startRunner()
    const test = await start(['test'], { BEZANT_TEST_SERVER: line.server! })
    expect(await countAt(line.server!)).toBe(2)
    expect(await fetch(`${test.line.url}/ping`)).toMatchObject({ status: 200 })
    test.child.kill('SIGKILL')
    await until(async () => (await countAt(line.server!)) === 1, 'the sandbox of the killed process is gone')
    await expect(fetch(`${test.line.url}/ping`)).rejects.toThrow()
    expect(await fetch(`${line.url}/ping`)).toMatchObject({ status: 200 })
    const tree = processesUnder(child.pid!)
    child.stdin!.end()
    await until(async () => !tree.some(isRunning), 'everything ended with the runner')
    expect(await left()).toEqual([])
  })

  it.each(['runner', 'server'] as const)('leaves nothing of a run whose %s is killed', async (victim) => {
    const { child, line } = await startRunner()
    const tree = processesUnder(child.pid!)
    // The runner, the server, PostgreSQL with its processes, a node, and watchdogs.
    expect(tree.length).toBeGreaterThan(6)
    process.kill(victim === 'runner' ? child.pid! : line.serverPid!, 'SIGKILL')
    const others = tree.filter((pid) => pid !== child.pid)
    await until(async () => !others.some(isRunning), 'every process of the run has ended')
    await until(async () => (await left()).length === 0, 'the directories of the run are gone')
  })
})
