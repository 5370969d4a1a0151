import { setTimeout as sleep } from 'node:timers/promises'
import type { FailpointPlan } from '#runtime/scheduling/failpoints'
import { startWorker, type Worker } from '#testing/processes/worker'
import type { Role, WorkerOptions } from '#testing/processes/worker-process'

/** Idle worker processes, reused by later runs: only killed ones are started anew. */
export type IdleWorkers = { take(): Promise<Worker>; put(worker: Worker): void; killAll(): void }

export function openIdleWorkers(workerArgs: readonly string[]): IdleWorkers {
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
    put: (worker) => void idle.push(worker),
    killAll: () => {
      for (const worker of all) worker.signal('SIGKILL')
    },
  }
}

/** Three times the length of a lease. */
const frozenMs = 9_000
const pollMs = 20

/** One process of a pool, and its successors after it was killed. */
export type Slot = {
  /** URL of its API; undefined while the slot has no running process. */
  url(): string | undefined
  kill(): void
  /** Stops the process for three leases. */
  freeze(): void
}

/** The worker processes of one run: a dead one is replaced, a frozen one continues after three leases. */
export type WorkerPool = {
  slots: readonly Slot[]
  /** Number of times an armed failpoint was reached, a process died, and a process froze. */
  counts: Counts
  arm(plans: readonly (FailpointPlan | undefined)[]): Promise<void>
  /** Ends all faults: every process is resumed or replaced, and disarmed. */
  endFaults(): Promise<void>
  /** Stops in order; the processes become idle. */
  stop(): Promise<void>
  killAll(): void
  /** Rejects when a process ended by itself: a defect, and it is not replaced. */
  failed: Promise<never>
  /** State of each process, for the diagnosis of a run that hangs. */
  states(): string
}

type Counts = { reached: number; deaths: number; freezes: number }

export type WorkerPoolOptions = {
  idleWorkers: IdleWorkers
  platform: Omit<WorkerOptions, 'roles'>
  /** Roles of each process. */
  roles: readonly (readonly Role[])[]
  /** Time until a dead process is replaced. */
  restartMs: number
}

export function openWorkerPool({ idleWorkers, platform, roles, restartMs }: WorkerPoolOptions): WorkerPool {
  const counts: Counts = { reached: 0, deaths: 0, freezes: 0 }
  const slots = roles.map((own) => openSlot(idleWorkers, { ...platform, roles: own }, restartMs, counts))
  const all = async (act: (slot: (typeof slots)[number], index: number) => Promise<void>) =>
    void (await Promise.all(slots.map(act)))
  return {
    slots,
    counts,
    arm: (plans) => all((slot, index) => slot.arm(plans[index])),
    endFaults: () => all((slot) => slot.endFaults()),
    stop: () => all((slot) => slot.stop()),
    killAll: () => {
      for (const slot of slots) slot.killForGood()
    },
    failed: Promise.race(slots.map((slot) => slot.failed)),
    states: () => slots.map((slot) => slot.state()).join(', '),
  }
}

type SlotState = {
  idleWorkers: IdleWorkers
  options: WorkerOptions
  restartMs: number
  counts: Counts
  worker: Worker | undefined
  url: string | undefined
  started: boolean
  /** Whether its death or freeze was requested by `kill` or `freeze`, not by its failpoint. */
  wasSignalled: boolean
  /** Whether faults are over: `kill` and `freeze` have no effect, and a replacement starts at once. */
  faultsEnded: boolean
  ended: boolean
}

function openSlot(idleWorkers: IdleWorkers, options: WorkerOptions, restartMs: number, counts: Counts) {
  const none = { worker: undefined, url: undefined, started: false, wasSignalled: false, faultsEnded: false }
  const slot: SlotState = { idleWorkers, options, restartMs, counts, ended: false, ...none }
  const supervised = supervise(slot)
  const failed = supervised.then(() => new Promise<never>(() => undefined))
  failed.catch(() => undefined)
  const signal = (name: 'SIGKILL' | 'SIGSTOP') => {
    if (slot.faultsEnded || slot.worker?.state() !== 'running') return
    slot.wasSignalled = true
    slot.worker.signal(name)
  }
  const isUp = () => slot.started && slot.worker?.state() === 'running'
  const arm = async (plan: FailpointPlan | undefined) => {
    while (!isUp()) {
      if (slot.ended) throw new Error('the run ended while a worker was being replaced')
      await sleep(pollMs)
    }
    // Another process may have replaced it before the failure is reported.
    const worker = slot.worker!
    await worker.arm(plan).catch((error) => unlessDead(worker, error))
  }
  return {
    url: () => slot.url,
    kill: () => signal('SIGKILL'),
    freeze: () => signal('SIGSTOP'),
    arm,
    endFaults: async () => {
      slot.faultsEnded = true
      // A process may die at its failpoint just before it is disarmed.
      do await arm(undefined)
      while (!isUp())
    },
    stop: async () => {
      slot.ended = true
      await supervised
      await slot.worker!.close()
      idleWorkers.put(slot.worker!)
    },
    killForGood: () => {
      slot.ended = true
      slot.worker?.signal('SIGKILL')
    },
    failed,
    state: () => `${slot.worker?.state() ?? 'no process'}${slot.started ? '' : ', starting'}`,
  }
}

async function supervise(slot: SlotState): Promise<void> {
  await Promise.all([replaceDead(slot), resumeFrozen(slot)])
}

async function replaceDead(slot: SlotState): Promise<void> {
  await open(slot)
  while (!slot.ended) {
    // The process may die again while it is being opened.
    if (slot.worker!.state() === 'dead')
      await replace(slot, slot.worker!).catch((error) => unlessDead(slot.worker, error))
    await sleep(pollMs)
  }
}

/** A separate loop, because a process may freeze while it is being opened. */
async function resumeFrozen(slot: SlotState): Promise<void> {
  while (!slot.ended) {
    if (slot.worker?.state() === 'frozen') await resume(slot, slot.worker)
    await sleep(pollMs)
  }
}

async function open(slot: SlotState): Promise<void> {
  slot.worker = await slot.idleWorkers.take()
  slot.wasSignalled = false
  await slot.worker.open(slot.options)
  slot.url = await slot.worker.start()
  slot.started = true
}

async function resume(slot: SlotState, frozen: Worker): Promise<void> {
  slot.counts.freezes += 1
  if (!slot.wasSignalled) slot.counts.reached += 1
  for (let ms = 0; ms < frozenMs && !slot.ended; ms += 100) await sleep(100)
  frozen.signal('SIGCONT')
  if (slot.worker === frozen) slot.wasSignalled = false
}

async function replace(slot: SlotState, dead: Worker): Promise<void> {
  if (dead.failed()) throw new Error(`worker ${dead.pid} ended by itself`)
  slot.counts.deaths += 1
  if (!slot.wasSignalled) slot.counts.reached += 1
  slot.started = false
  slot.url = undefined
  if (!slot.faultsEnded) await sleep(slot.restartMs)
  await open(slot)
}

function unlessDead(worker: Worker | undefined, error: Error): void {
  if (worker?.state() !== 'dead' || worker.failed()) throw error
}
