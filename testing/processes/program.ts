import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type Tenant, tenantOf } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { programFile } from './programs.ts'

/** The output of `sandbox --json`. */
export type ProgramAnswer = {
  url: string
  apiKey: string
  entitySecret: string
  console: string
  docs: string
  challengeUrl: string
  /** With `--tls`. */
  certificate?: string
  chains: { blockchain: string; chainId: number; rpcUrl: string; tokens: { USDC: string; EURC: string } }[]
}

export type Exit = { code: number | null; signal: NodeJS.Signals | null }

/** The program as a user starts it: a separate process, with all its child processes. */
export type Program = {
  pid: number
  answer: ProgramAnswer
  tenant: Tenant
  stdout(): string
  stderr(): string
  exited: Promise<Exit>
  /** Signals the whole process group, as a terminal's Ctrl-C, or the process alone. */
  signal(name: NodeJS.Signals, to: 'group' | 'process'): void
  /** Every process that this one started, directly or not, itself included. */
  tree(): number[]
  /** `kill -9` of all of them; resolves when they are gone. */
  killAll(): Promise<void>
}

export type ProgramOptions = {
  /** The file of the compiled program; default: the one of this test run. */
  program?: string
  /** Default: the program's own. */
  dataDir?: string
  args?: readonly string[]
  command?: string
  /** Prints the banner for a person instead of one line of JSON. */
  banner?: boolean
  env?: Record<string, string>
}

/** Starts the sandbox and waits until it is ready; throws with its output when it ends before. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { child, ...started } = await spawnProgram(options)
  await until(
    async () => started.stdout().includes('\n') || child.exitCode !== null || child.signalCode !== null,
    `the program is ready: ${started.stderr()}`,
  )
  if (!started.stdout().includes('\n')) throw new Error(`the program ended: ${started.stderr()}`)
  const answer = JSON.parse(started.stdout().split('\n')[0]!) as ProgramAnswer
  const { apiKey, entitySecret } = answer
  const pid = child.pid!
  return {
    ...started,
    pid,
    answer,
    tenant: tenantOf(answer.url, { entityId: '', apiKey, entitySecret }),
    signal: (name, to) => void process.kill(to === 'group' ? -pid : pid, name),
    tree: () => processesUnder(pid),
    killAll: () => killTree(pid),
  }
}

/** Starts the program without waiting for anything. */
export async function spawnProgram({
  program,
  dataDir,
  args = [],
  command = 'sandbox',
  banner = false,
  env: more = {},
}: ProgramOptions) {
  const { DATABASE_URL: _, ...own } = process.env
  const env = { ...own, ...more }
  const flags = command === 'sandbox' ? [...(banner ? [] : ['--json']), '--port', '0'] : []
  if (dataDir !== undefined) flags.push('--data-dir', dataDir)
  const child: ChildProcess = spawn(
    process.execPath,
    [program ?? (await programFile('bezant')), command, ...flags, ...args],
    { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let stdout = ''
  let stderr = ''
  child.stdout!.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr!.on('data', (chunk) => {
    stderr += chunk
  })
  const exited = new Promise<Exit>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  return { child, exited, stdout: () => stdout, stderr: () => stderr }
}

/** Runs a command to its end. Output may arrive after its exit, so its pipes are awaited too. */
export async function runProgram(options: ProgramOptions) {
  const { child, stdout, stderr } = await spawnProgram(options)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout: stdout(), stderr: stderr() }
}

/** Kills a process and everything that it started. */
export async function killTree(pid: number): Promise<void> {
  const pids = processesUnder(pid)
  for (const each of pids) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // The process ended by itself a moment ago.
    }
  }
  await until(async () => !pids.some(isRunning), 'every killed process is gone')
}

export const isRunning = (pid: number): boolean =>
  hasProc ? fromProc(String(pid)).length > 0 : processes().some((found) => found.pid === pid)

/** The process and everything that it started, directly or not. */
export function processesUnder(pid: number): number[] {
  const all = processes()
  const tree = all.some((each) => each.pid === pid) ? [pid] : []
  for (const parent of tree) tree.push(...all.filter(({ ppid }) => ppid === parent).map((each) => each.pid))
  return tree
}

/** Whether /proc exists: Linux then reads single processes without listing all. */
const hasProc = existsSync('/proc/self/stat')

/** All running processes; zombies do not count. */
function processes(): { pid: number; ppid: number }[] {
  if (hasProc) return readdirSync('/proc').flatMap(fromProc)
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => state && !state.startsWith('Z'))
    .map(([pid, ppid]) => ({ pid: Number(pid), ppid: Number(ppid) }))
}

function fromProc(name: string): { pid: number; ppid: number }[] {
  if (!/^\d+$/.test(name)) return []
  try {
    // The name in parentheses may hold anything, so the fields are counted from its end.
    const [state, ppid] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return state === 'Z' ? [] : [{ pid: Number(name), ppid: Number(ppid) }]
  } catch {
    return []
  }
}
