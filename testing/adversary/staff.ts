import { setTimeout as sleep } from 'node:timers/promises'
import type { FailpointPlan } from '#lib/failpoints'
import type { Role, TransactionProcessOptions } from '../transaction-process.ts'
import { startWorker, type Worker } from '../worker.ts'

/** Idle worker processes, shared by all runs: only killed ones are started anew. */
export type Pool = { take(): Promise<Worker>; give(worker: Worker): void; end(): void }

export function openPool(workerArgs: readonly string[]): Pool {
  const idle: Worker[] = []
  const all = new Set<Worker>()
  return {
    take: async () => {
      for (let worker = idle.pop(); worker; worker = idle.pop())
        if (worker.state() === 'running') return worker
      const worker = await startWorker(workerArgs)
      all.add(worker)
      void worker.exited.then(() => all.delete(worker))
      return worker
    },
    give: (worker) => void idle.push(worker),
    end: () => {
      for (const worker of all) worker.signal('SIGKILL')
    },
  }
}

/** Three times the length of a lease. */
const frozenMs = 9_000
const watchMs = 20

export type Seat = {
  /** URL of its API; undefined while the seat has no running process. */
  url(): string | undefined
  kill(): void
  /** Stops the process for three leases. */
  freeze(): void
}

/** The worker processes of one run: a dead one is replaced, a frozen one continues after three leases. */
export type Staff = {
  seats: readonly Seat[]
  /** Number of times an armed point was reached, a process died, and a process froze. */
  counts: Counts
  arm(plans: readonly (FailpointPlan | undefined)[]): Promise<void>
  /** Ends all faults: every process is woken, replaced and disarmed. */
  relent(): Promise<void>
  /** Shuts down in order; the processes go back to the pool. */
  dismiss(): Promise<void>
  /** Kills the processes. */
  fire(): void
  /** Rejects when a process ended by itself: a defect, and it is not replaced. */
  failed: Promise<never>
  /** State of each process, for the diagnosis of a run that hangs. */
  states(): string
}

type Counts = { reached: number; deaths: number; freezes: number }

export type StaffOptions = {
  pool: Pool
  platform: Omit<TransactionProcessOptions, 'roles'>
  /** Roles of each process. */
  roles: readonly (readonly Role[])[]
  /** Time until a dead process is replaced. */
  restartMs: number
}

export function hire({ pool, platform, roles, restartMs }: StaffOptions): Staff {
  const counts: Counts = { reached: 0, deaths: 0, freezes: 0 }
  const seats = roles.map((own) => openSeat(pool, { ...platform, roles: own }, restartMs, counts))
  const all = async (act: (seat: (typeof seats)[number], index: number) => Promise<void>) =>
    void (await Promise.all(seats.map(act)))
  return {
    seats,
    counts,
    arm: (plans) => all((seat, index) => seat.arm(plans[index])),
    relent: () => all((seat) => seat.relent()),
    dismiss: () => all((seat) => seat.dismiss()),
    fire: () => {
      for (const seat of seats) seat.fire()
    },
    failed: Promise.race(seats.map((seat) => seat.failed)),
    states: () => seats.map((seat) => seat.state()).join(', '),
  }
}

type Post = {
  pool: Pool
  options: TransactionProcessOptions
  restartMs: number
  counts: Counts
  worker: Worker | undefined
  url: string | undefined
  started: boolean
  /** Whether its death or freeze was requested from outside, not by its point. */
  told: boolean
  relenting: boolean
  ended: boolean
}

function openSeat(pool: Pool, options: TransactionProcessOptions, restartMs: number, counts: Counts) {
  const none = { worker: undefined, url: undefined, started: false, told: false, relenting: false }
  const post: Post = { pool, options, restartMs, counts, ended: false, ...none }
  const kept = keep(post)
  const failed = kept.then(() => new Promise<never>(() => undefined))
  failed.catch(() => undefined)
  const tell = (signal: 'SIGKILL' | 'SIGSTOP') => {
    if (post.relenting || post.worker?.state() !== 'running') return
    post.told = true
    post.worker.signal(signal)
  }
  const isUp = () => post.started && post.worker?.state() === 'running'
  const arm = async (plan: FailpointPlan | undefined) => {
    while (!isUp()) {
      if (post.ended) throw new Error('the run ended while a worker was missed')
      await sleep(watchMs)
    }
    // Another process may have replaced it before the failure is reported.
    const worker = post.worker!
    await worker.arm(plan).catch((error) => unlessDead(worker, error))
  }
  return {
    url: () => post.url,
    kill: () => tell('SIGKILL'),
    freeze: () => tell('SIGSTOP'),
    arm,
    relent: async () => {
      post.relenting = true
      // A process may die at its point just before it is disarmed.
      do await arm(undefined)
      while (!isUp())
    },
    dismiss: async () => {
      post.ended = true
      await kept
      await post.worker!.close()
      pool.give(post.worker!)
    },
    fire: () => {
      post.ended = true
      post.worker?.signal('SIGKILL')
    },
    failed,
    state: () => `${post.worker?.state() ?? 'nobody'}${post.started ? '' : ' and being opened'}`,
  }
}

async function keep(post: Post): Promise<void> {
  await Promise.all([replaceDead(post), wakeFrozen(post)])
}

async function replaceDead(post: Post): Promise<void> {
  await open(post)
  while (!post.ended) {
    // The process may die again while it is being opened.
    if (post.worker!.state() === 'dead')
      await replace(post, post.worker!).catch((error) => unlessDead(post.worker, error))
    await sleep(watchMs)
  }
}

/** A separate loop, because a process may freeze while it is being opened. */
async function wakeFrozen(post: Post): Promise<void> {
  while (!post.ended) {
    if (post.worker?.state() === 'frozen') await wake(post, post.worker)
    await sleep(watchMs)
  }
}

async function open(post: Post): Promise<void> {
  post.worker = await post.pool.take()
  post.told = false
  await post.worker.open(post.options)
  post.url = await post.worker.start()
  post.started = true
}

async function wake(post: Post, frozen: Worker): Promise<void> {
  post.counts.freezes += 1
  if (!post.told) post.counts.reached += 1
  for (let ms = 0; ms < frozenMs && !post.ended; ms += 100) await sleep(100)
  frozen.signal('SIGCONT')
  if (post.worker === frozen) post.told = false
}

async function replace(post: Post, dead: Worker): Promise<void> {
  if (dead.failed()) throw new Error(`worker ${dead.pid} ended by itself`)
  post.counts.deaths += 1
  if (!post.told) post.counts.reached += 1
  post.started = false
  post.url = undefined
  if (!post.relenting) await sleep(post.restartMs)
  await open(post)
}

function unlessDead(worker: Worker | undefined, error: Error): void {
  if (worker?.state() !== 'dead' || worker.failed()) throw error
}
