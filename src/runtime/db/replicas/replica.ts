import { alarmWhile } from '#runtime/log/alarms'
import type { Log } from '#runtime/log/log'
import { repeat } from '#runtime/scheduling/loop'
import { resultWithin } from '#runtime/scheduling/time-limit'
import { openSession, type Primary, ReplicaRefused, type ReplicaSession } from './session.ts'

/** A replica that is used while it can be, and tried again while it cannot. */
export type Replica = {
  host: string
  /** Present while reads may go to the replica. */
  usable(): ReplicaSession | undefined
  isBehind(): boolean
  session(): ReplicaSession | undefined
  /** Takes the replica out of use until it has reached what the primary shows. */
  fellBehind(session: ReplicaSession): void
  /** Gives the session up, because the replica cannot be used. */
  giveUp(session: ReplicaSession, reason: Error): void
  stop(): Promise<void>
}

type ReplicaInput = { url: string; maxConnections: number; primary: Primary; log: Log; waitMs: number }

const lookMs = 250
const retryMs = 1_000
/** Time without use after which an operator is told. */
const unusedMs = 10_000
/** Time in which the connections must end when the process stops. */
const endMs = 1_000

export function openReplica({ url, maxConnections, primary, log, waitMs }: ReplicaInput): Replica {
  const { host } = new URL(url)
  let session: ReplicaSession | undefined
  let trouble: string | undefined = 'it has not been connected to yet'
  let isBehind = false
  let retryAtMs = 0
  const report = reportUnused(log, host)

  const giveUp = (lost: ReplicaSession, { message }: Error) => {
    if (session !== lost) return
    session = undefined
    isBehind = false
    trouble = message
    retryAtMs = performance.now() + retryMs
    log.warn({ replica: host, reason: message }, 'a read replica is not used')
    void lost.end(new ReplicaRefused(message))
  }
  const connect = async () => {
    if (performance.now() < retryAtMs) return
    try {
      session = await openSession(url, maxConnections, primary)
      trouble = undefined
      log.info({ replica: host }, 'a read replica is used')
    } catch (error) {
      trouble = (error as Error).message
      retryAtMs = performance.now() + retryMs
    }
  }
  const look = async (open: ReplicaSession) => {
    try {
      if (!isBehind) return await open.look()
      if (!(await open.reaches(await primary.position(), waitMs))) return
      if (session === open) {
        isBehind = false
        trouble = undefined
      }
    } catch (error) {
      if (error instanceof ReplicaRefused) giveUp(open, error)
    }
  }
  const turn = async () => {
    await (session ? look(session) : connect())
    report(trouble)
    return false
  }
  const loop = repeat(
    turn,
    { failed: (error) => log.error({ err: error }, 'watching a replica failed') },
    lookMs,
  )
  return {
    host,
    usable: () => (isBehind ? undefined : session),
    isBehind: () => isBehind,
    session: () => session,
    fellBehind: (late) => {
      if (session !== late) return
      isBehind = true
      trouble = 'it is behind the primary'
    },
    giveUp,
    stop: async () => {
      await loop.stop()
      const open = session
      session = undefined
      if (open) await resultWithin(endMs, open.end(new ReplicaRefused('this process stops')))
    },
  }
}

/** Returns a function that is told again and again why a replica is not used, if so, and raises the alarm when that lasts. */
function reportUnused(log: Log, host: string): (trouble: string | undefined) => void {
  let usedMs = performance.now()
  const report = alarmWhile(log, 'replica-unused', {
    begins: 'a read replica cannot be used: the primary serves its reads',
    ends: 'the read replica is used again',
  })
  return (trouble) => {
    if (trouble === undefined) usedMs = performance.now()
    report(performance.now() - usedMs > unusedMs ? { replica: host, reason: trouble } : undefined)
  }
}
