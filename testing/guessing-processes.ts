import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Submission } from '#custody/index'
import type { FailpointPlan } from '#lib/failpoints'
import type { Connection } from '#runtime/db/db'
import { compileSnippet } from './compile-snippet.ts'

/** Submissions that a process opens at once, at this time of its clock. */
type Job = { nowMs: number; submissions: readonly (Omit<Submission, 'encryptionKey'> & { key: string })[] }

/** A process that opens keys of users by PIN. */
export type GuessingProcess = {
  /** Resolves to the code of each response: 0 where the key opened. */
  guess(nowMs: number, submissions: readonly Submission[]): Promise<number[]>
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

const contents = `
  import { createInterface } from 'node:readline'
  import { openCustody, openWithPin } from '#custody/index'
  import { armFailpoint } from '#lib/failpoints'
  import { openDatabase } from '#runtime/db/db'
  import { testLog } from './log.ts'

  const options = JSON.parse(process.env.GUESSING)
  armFailpoint(options.failpoint)
  let nowMs = 0
  const clock = { nowMs: () => nowMs }
  const database = openDatabase(options.connection, 6)
  const log = testLog('silent')
  const custody = await openCustody({ database, log, clock, rootKey: Buffer.from(options.rootKey, 'hex'),
    pinCost: { memoryKib: options.memoryKib, passes: 1 }, guessDirectory: options.guessDirectory })
  const ctx = { database, db: database, clock, log, custody, entity: { id: options.entityId }, actor: 'test', requestId: 'test' }
  const codeOf = ({ key, ...submission }) =>
    openWithPin(ctx, { ...submission, encryptionKey: Buffer.from(key, 'hex') }).then(
      () => 0,
      (error) => error.code ?? -2,
    )
  for await (const line of createInterface(process.stdin)) {
    const job = JSON.parse(line)
    nowMs = job.nowMs
    console.log(JSON.stringify(await Promise.all(job.submissions.map(codeOf))))
  }
  await custody.close()
  await database.close()
`

let compiled: Promise<string[]> | undefined

export async function startGuessing({ rootKey, ...options }: GuessingOptions): Promise<GuessingProcess> {
  compiled ??= compileSnippet(contents)
  const child: ChildProcess = spawn(process.execPath, await compiled, {
    env: { ...process.env, GUESSING: JSON.stringify({ ...options, rootKey: rootKey.toString('hex') }) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  child.stdin!.on('error', () => undefined)
  const lines = createInterface(child.stdout!)
  return {
    guess: async (nowMs, submissions) => {
      const job: Job = {
        nowMs,
        submissions: submissions.map(({ encryptionKey, ...rest }) => ({
          ...rest,
          key: encryptionKey.toString('hex'),
        })),
      }
      const answer = once(lines, 'line')
      child.stdin!.write(`${JSON.stringify(job)}\n`)
      const [line] = await Promise.race([answer, exited.then(() => ['[]'])])
      return JSON.parse(line as string) as number[]
    },
    exited,
    end: () => child.stdin!.end(),
  }
}
