/** The processes of the platform: started, killed, frozen and replaced, and asked for their memory. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogWatch } from './log-watch.ts'

export type ProcessKind = 'serve' | 'worker'

/** Memory of a process in bytes: what is alive after a collection of garbage, and what the system counts. */
export type Memory = { heapBytes: number; externalBytes: number; rssBytes: number }

export type PlatformProcess = {
  name: string
  kind: ProcessKind
  /** Its API; undefined while the process is not ready. */
  url(): string | undefined
  /** Number of the life: it increases with each replacement. */
  life(): number
  pid(): number | undefined
  isReady(): boolean
  signal(name: 'SIGKILL' | 'SIGTERM'): void
  /** Stops the process for this time, as a machine that is suspended. */
  freeze(ms: number): Promise<void>
  /** The next life has a machine whose clock is ahead by this time. */
  nextClockOffMs(ms: number): void
  /** Ends a life whose clock is wrong; the next one has the right time. */
  rightClock(): void
  memory(): Promise<Memory | undefined>
  stop(): Promise<void>
}

/** Lets a process collect its garbage and tell its memory when the drill asks, and end when the drill is gone. */
const agentCode = `
process.on('message', () => { gc(); setImmediate(() => { gc(); const m = process.memoryUsage();
  process.send({ heapBytes: m.heapUsed, externalBytes: m.external, rssBytes: m.rss }) }) });
process.channel.unref();
process.on('disconnect', () => process.exit(1));
const now = Date.now, off = Number(process.env.SOAK_CLOCK_OFF_MS ?? 0);
if (off) Date.now = () => now() + off;`
const agent = `data:text/javascript,${encodeURIComponent(agentCode)}`

export type ProcessOptions = {
  program: string
  kind: ProcessKind
  name: string
  args: readonly string[]
  env: Record<string, string>
  url?: string
  logFile: string
  watch: LogWatch
  /** Told of an end that the drill did not cause. */
  onFailure(what: string): void
}

const startWithinMs = 120_000

export function superviseProcess(options: ProcessOptions): PlatformProcess {
  const { kind, name, watch, onFailure } = options
  let child: ChildProcess | undefined
  let life = 0
  let isReady = false
  let isStopping = false
  let wasSignalled = false
  let clockOffMs = 0
  let isClockOff = false
  const live = async () => {
    while (!isStopping) {
      life += 1
      wasSignalled = false
      const last: string[] = []
      child = start(options, clockOffMs, (line) => {
        last.push(line)
        if (last.length > 20) last.shift()
        if (/"msg":"ready"/.test(line)) isReady = true
      })
      isClockOff = clockOffMs !== 0
      clockOffMs = 0
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
      isReady = false
      watch.forget(name)
      if (!wasSignalled && !isStopping) {
        onFailure(`${name} ended by itself with ${code ?? signal}: ${last.join('\n')}`)
        await sleep(1_000)
      }
      if (!isStopping) await sleep(300)
    }
  }
  const lives = live()
  const signal = (given: 'SIGTERM' | 'SIGKILL') => {
    if (!pid()) return
    wasSignalled = true
    isReady = false
    child!.kill(given)
  }
  const pid = () => (child?.exitCode === null && child.signalCode === null ? child.pid : undefined)
  return {
    name,
    kind,
    url: () => (isReady ? options.url : undefined),
    life: () => life,
    pid,
    isReady: () => isReady,
    signal,
    rightClock: () => {
      if (isClockOff) signal('SIGTERM')
    },
    freeze: (ms) => frozen(child, ms),
    nextClockOffMs: (ms) => {
      clockOffMs = ms
    },
    memory: () => memoryOf(pid() && isReady ? child : undefined),
    stop: async () => {
      isStopping = true
      child?.kill('SIGCONT')
      child?.kill('SIGTERM')
      const timer = setTimeout(() => {
        onFailure(`${name} did not stop within 30 s of SIGTERM`)
        child?.kill('SIGKILL')
      }, 30_000)
      await lives
      clearTimeout(timer)
    },
  }
}

async function frozen(child: ChildProcess | undefined, ms: number): Promise<void> {
  child?.kill('SIGSTOP')
  await sleep(ms)
  child?.kill('SIGCONT')
}

function start(
  { program, kind, args, env, logFile, name, watch }: ProcessOptions,
  clockOffMs: number,
  onLine: (line: string) => void,
): ChildProcess {
  const clock: Record<string, string> = clockOffMs ? { SOAK_CLOCK_OFF_MS: String(clockOffMs) } : {}
  const child = spawn(process.execPath, ['--expose-gc', '--import', agent, program, kind, ...args], {
    env: { ...env, ...clock },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  createInterface({ input: child.stderr! }).on('line', (line) => {
    onLine(line)
    const parsed = parse(line)
    if (parsed) watch.read(name, parsed)
    if (!parsed || parsed['alarm'] || parsed['alarmOver'] || !/"level":"?(info|30)/.test(line))
      appendFileSync(logFile, `${name} ${line}\n`)
  })
  return child
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** Asks a process for its memory; undefined when it does not answer, because it is frozen or ends. */
async function memoryOf(child: ChildProcess | undefined): Promise<Memory | undefined> {
  if (!child?.connected) return undefined
  const patience = new AbortController()
  const timer = setTimeout(() => patience.abort(), 5_000)
  try {
    const answered = once(child, 'message', { signal: patience.signal })
    child.send('memory', () => undefined)
    const [memory] = (await answered) as [Memory]
    return memory
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

/** Resident bytes of a process that is none of ours; undefined where /proc does not exist. */
export function residentBytes(pid: number): number | undefined {
  try {
    const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kib ? Number(kib) * 1024 : undefined
  } catch {
    return undefined
  }
}

export async function untilReady(processes: readonly PlatformProcess[]): Promise<void> {
  const giveUpMs = performance.now() + startWithinMs
  while (!processes.every((each) => each.isReady())) {
    if (performance.now() > giveUpMs)
      throw new Error(`not ready: ${processes.filter((each) => !each.isReady()).map(({ name }) => name)}`)
    await sleep(100)
  }
}
