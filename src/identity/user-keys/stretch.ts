/**
 * Stretches PINs and answers with argon2id (RFC 9106), each in a thread of its own that ends with it: nothing of the secret,
 * of the key or of the 64 MiB between them stays in memory, and the event loop never waits.
 */
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { ApiError } from '#lib/errors'
import { createLanes } from '#runtime/scheduling/fair-concurrency'
import type { UserRef } from '../store/user-keys.ts'

/** The cost of argon2id with one lane. It is stored beside each wrap, so that it can rise. */
export type StretchCost = { memoryKib: number; passes: number }

/**
 * The second recommendation of RFC 9106, with one lane in place of four: a server has as many users at a time as cores. A
 * PIN has 20 bits, so the limit of guesses protects it; the cost is for who stole database and root key.
 */
export const pinCost: StretchCost = { memoryKib: 65_536, passes: 3 }

/**
 * Threads at a time; each takes a core for a third of a second, and the memory of its cost. An entity gets two: its work also
 * waits for its turn at the database, and a busy entity must not hold all threads meanwhile.
 */
const laneCount = 3
const waitingMax = 200
const waitMs = 30_000
const threadMs = 30_000
const threadNiceness = 5

type StretchInput = { secret: Buffer; salt: Buffer; pepper: Buffer; cost: StretchCost }

/** Returns 32 bytes, which the caller wipes. Inputs are unchanged. */
export type Stretch = (input: StretchInput) => Promise<Buffer>

export type Stretcher = {
  readonly cost: StretchCost
  /**
   * Runs `work` at the turn of the user's entity, and there of the user; 429 when the queue is full. A guess is counted
   * inside, so that a refusal for lack of room costs the user no guess.
   */
  run<Result>(user: UserRef, work: (stretch: Stretch) => Promise<Result>): Promise<Result>
}

export function createStretcher(cost: StretchCost): Stretcher {
  const lanes = createLanes({ count: laneCount, leavesRoom: true, waitingMax, waitMs, crowded })
  return {
    cost,
    run: ({ entityId, userId }, work) => lanes.run(entityId, () => work(stretchInThread), userId),
  }
}

const crowded = () =>
  new ApiError('tooManyRequests', 'Too many PINs of your users wait to be compared: try again in a moment.')

/**
 * Plain JavaScript in a string, because the same file has to start from the source, a bundle and the package. On Linux, where
 * a thread has a priority of its own, it yields to the requests of others.
 */
const threadSource = `
  const { readlinkSync } = require('node:fs')
  const { setPriority } = require('node:os')
  const { parentPort, workerData } = require('node:worker_threads')
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').pop()), ${threadNiceness})
  } catch {}
  const { library, secret, salt, pepper, memoryKib, passes, key } = workerData
  require(library)
    .argon2id({ password: secret, salt, secret: pepper, memorySize: memoryKib, iterations: passes, parallelism: 1,
      hashLength: key.length, outputType: 'binary' })
    .then((made) => {
      key.set(made)
      made.fill(0)
      parentPort.postMessage('done')
    })
`

async function stretchInThread({ secret, salt, pepper, cost }: StretchInput): Promise<Buffer> {
  const shared = [shareOf(secret), shareOf(pepper), Buffer.from(new SharedArrayBuffer(32))] as const
  const [sharedSecret, sharedPepper, key] = shared
  const thread = new Worker(threadSource, {
    eval: true,
    execArgv: [],
    env: {},
    workerData: {
      library: createRequire(import.meta.url).resolve('hash-wasm'),
      secret: sharedSecret,
      salt: Uint8Array.from(salt),
      pepper: sharedPepper,
      key,
      ...cost,
    },
  })
  try {
    await endOf(thread)
    return Buffer.from(key)
  } finally {
    await thread.terminate()
    for (const bytes of shared) bytes.fill(0)
  }
}

/** Memory that both threads see, so that no copy is left in a message. */
function shareOf(bytes: Buffer): Buffer {
  const shared = Buffer.from(new SharedArrayBuffer(bytes.length))
  bytes.copy(shared)
  return shared
}

const tooSlow = () =>
  new ApiError('unavailable', 'A PIN could not be compared in time on this server: try again in a moment.')

const endOf = (thread: Worker) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(tooSlow()), threadMs)
    const settle = (then: () => void) => () => {
      clearTimeout(timer)
      then()
    }
    thread.once('message', settle(resolve))
    thread.once('error', (error) => settle(() => reject(error))())
    thread.once(
      'exit',
      settle(() => reject(new Error('a thread that stretches a PIN died'))),
    )
  })
