import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { succeedOnce } from '#runtime/scheduling/memoize'
import { compileAll } from '#testing/processes/compile-programs'
import type { Run } from './run.ts'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Arguments of `node` that run the program from its source, and as the package ships it. */
export const fromSource = ['--conditions=source', '--import', 'tsx', `${root}src/main.ts`]
export const fromPackage = [`${root}dist/main.js`]

/** The programs that benches start, compiled once: their loading from source takes seconds of a core each time. */
export const compiled = succeedOnce(() => {
  const directory = mkdtempSync(join(tmpdir(), 'bezant-bench-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const programs = {
    bezant: 'src/main.ts',
    kit: 'src/kit/server/main.ts',
    platform: 'bench/drain/platform.ts',
    worker: 'bench/drain/worker.ts',
    stubNode: 'bench/drain/stub/main.ts',
    bareServer: 'bench/bare-server.ts',
  }
  return compileAll(programs, directory)
})

/** BENCH_PROFILE names a directory for CPU profiles of the processes that run engines. */
export const profiling = (): string[] => {
  const directory = process.env['BENCH_PROFILE']
  return directory ? ['--cpu-prof', `--cpu-prof-dir=${directory}`] : []
}

export type Started = { line: string; child: ChildProcess; stop(): Promise<void> }

export type Program = {
  /** Arguments of `node`. */
  args: readonly string[]
  env?: Record<string, string>
  cwd?: string
  /** The stream to read, and the test for its ready line. */
  readyOn: 'stdout' | 'stderr'
  isReady: (line: string) => boolean
}

/** Starts a Node program and resolves with the line that says it is ready; it is stopped at the end of the run. */
export async function startProgram(run: Run, program: Program): Promise<Started> {
  const child = spawn(process.execPath, program.args, {
    cwd: program.cwd ?? root,
    env: { ...process.env, ...program.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
    await exited
    clearTimeout(timer)
  }
  run.atEnd(stop)
  const said: string[] = []
  const line = await new Promise<string>((resolve, reject) => {
    for (const name of ['stdout', 'stderr'] as const) {
      createInterface({ input: child[name]! }).on('line', (text) => {
        if (said.length < 50) said.push(text)
        if (name === program.readyOn && program.isReady(text)) resolve(text)
      })
    }
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${said.join('\n').slice(-2_000)}`)))
  })
  return { line, child, stop }
}
