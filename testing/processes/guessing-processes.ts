import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Purpose, Submission } from '#identity/user-keys/index'
import type { Connection } from '#runtime/db/db'
import type { FailpointPlan } from '#runtime/scheduling/failpoints'
import { programFile } from './programs.ts'

/** Submissions that a process handles at once, at this time of its clock; or an order to collect garbage. */
export type Job = { nowMs: number; purpose?: Purpose; submissions: readonly JobSubmission[] } | 'collect'
export type JobSubmission = Omit<Submission, 'encryptionKey'> & { key: string }

/** A process that opens keys of users by PIN. */
export type GuessingProcess = {
  /** Resolves to the code of each response: 0 where the key opened. The key signs for a wallet of the user, if there is one. */
  guess(nowMs: number, submissions: readonly Submission[]): Promise<number[]>
  /** Handles submissions of another purpose; a user that is new gets a wallet. */
  handle(nowMs: number, purpose: Purpose, submissions: readonly Submission[]): Promise<number[]>
  collect(): Promise<void>
  pid: number
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  exited: Promise<unknown>
  end(): void
}

export type GuessingOptions = {
  connection: Connection
  entityId: string
  rootKey: Buffer
  memoryKib: number
  guessDirectory?: string
  failpoint?: FailpointPlan
}

export async function startGuessing({ rootKey, ...options }: GuessingOptions): Promise<GuessingProcess> {
  const child: ChildProcess = spawn(process.execPath, ['--expose-gc', await programFile('guessing')], {
    env: { ...process.env, GUESSING: JSON.stringify({ ...options, rootKey: rootKey.toString('hex') }) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  child.stdin!.on('error', () => undefined)
  const lines = createInterface(child.stdout!)
  const order = async (job: Job): Promise<number[]> => {
    const answer = once(lines, 'line')
    child.stdin!.write(`${JSON.stringify(job)}\n`)
    const [line] = await Promise.race([answer, exited.then(() => ['[]'])])
    return JSON.parse(line as string) as number[]
  }
  return {
    guess: (nowMs, submissions) => order({ nowMs, submissions: submissions.map(writable) }),
    handle: (nowMs, purpose, submissions) =>
      order({ nowMs, purpose, submissions: submissions.map(writable) }),
    collect: async () => void (await order('collect')),
    pid: child.pid!,
    signal: (name) => void child.kill(name),
    exited,
    end: () => child.stdin!.end(),
  }
}

const writable = ({ encryptionKey, ...rest }: Submission): JobSubmission => ({
  ...rest,
  key: encryptionKey.toString('hex'),
})
