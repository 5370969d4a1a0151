/**
 * Writes the request log: after the answers, in batches, from a bounded queue. A request never waits for it and never fails by it.
 * When the queue is full, or the database refuses a batch, rows are dropped and counted.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { isDatabaseAway } from '#runtime/db/db'
import type { SessionLimits } from '#runtime/db/limits'
import { logTrouble } from '#runtime/scheduling/loop'
import type { Scope } from '#runtime/scope'
import { createBoundedQueue, type LoggedRequest } from './bounded-queue.ts'
import { insertRequests } from './store.ts'

type RequestLog = {
  /** Queues a request, or drops it when the queue is full. */
  add(request: LoggedRequest): void
  /** Writes what waits, for two seconds at most; the rest is dropped. */
  close(): Promise<void>
}

const batchMax = 200
const batchMs = 50
const retryMs = 1_000
const closeMs = 2_000

/** A batch gives up sooner than work that counts, and with it a stop of the server. */
const limits: SessionLimits = { idleMs: 5_000, lockMs: 1_500, statementMs: 5_000 }

export function openRequestLog({
  database,
  log,
  metrics,
}: Pick<Scope, 'database' | 'log' | 'metrics'>): RequestLog {
  const queue = createBoundedQueue()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let closing = false
  const trouble = logTrouble(log, 'writing the request log')
  const count = (outcome: 'written' | 'dropped', rows: number) =>
    metrics.loggedRequests.inc({ outcome }, rows)

  /** Writes the oldest batch. False when the database is away: the batch stays. */
  const writeBatch = async (): Promise<boolean> => {
    const batch = queue.oldest(batchMax)
    try {
      await write(database, batch)
      trouble.went()
      count('written', batch.length)
    } catch (error) {
      trouble.failed(error)
      if (isDatabaseAway(error) && !closing) return false
      count('dropped', batch.length)
    }
    queue.remove(batch.length)
    return true
  }
  const run = async () => {
    while (queue.length() > 0) {
      const isWritten = await writeBatch()
      if (closing) continue
      if (!isWritten) return schedule(retryMs)
      // A batch that fills slowly waits for the timer: each takes a turn of the database.
      if (queue.length() < batchMax) return queue.length() > 0 ? schedule(batchMs) : undefined
    }
  }
  const start = () => {
    clearTimeout(timer)
    timer = undefined
    writing ??= run().finally(() => {
      writing = undefined
    })
    return writing
  }
  const schedule = (afterMs: number) => {
    timer ??= setTimeout(start, afterMs)
    timer.unref()
  }
  const add = (request: LoggedRequest) => {
    if (closing || !queue.add(request)) return count('dropped', 1)
    if (writing) return
    if (queue.length() === batchMax) void start()
    else schedule(batchMs)
  }
  const close = async () => {
    closing = true
    const ended = new AbortController()
    const last = (writing ?? Promise.resolve()).then(start)
    await Promise.race([last, delay(closeMs, undefined, { signal: ended.signal })])
    ended.abort()
    count('dropped', queue.length())
    queue.remove(queue.length())
  }
  return { add, close }
}

const write = (database: Scope['database'], batch: readonly LoggedRequest[]) =>
  database.tx(
    (tx) =>
      insertRequests(
        tx,
        batch.map(({ row }) => row),
        batch.flatMap(({ bodies }) => (bodies ? [bodies] : [])),
      ),
    limits,
  )
