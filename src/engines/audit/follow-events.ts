import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineCtx } from '#engines/ctx'
import type { Database, Db } from '#runtime/db/db'
import { hearNotices } from '#runtime/pg-notifications'
import { keptFor, oncePer } from '#runtime/scheduling/memoize'
import { newTurn } from '#runtime/turns/store'
import { type LinkingCtx, linkEntries } from './link-entries.ts'
import { isInTrail, type LinkedEvent, lastPosition, linkedEvents, positionOf } from './store/linked-events.ts'
import { linksChannel } from './store/links.ts'

/**
 * An event in the order of the trail; a gap where a reader was too slow for all of them; that nothing happened for a while; or that
 * another state has taken the place of the present one, with its last event.
 */
export type FollowedEvent =
  | { kind: 'event'; event: LinkedEvent }
  | { kind: 'gap'; fromId: string; toId: string }
  | { kind: 'silence' }
  | { kind: 'restored'; snapshot: string; lastId: string | undefined }

/** The restores of snapshots, which only a sandbox has. The last one is known before the database answers with what it brought. */
export type Restores = {
  last(): { count: number; snapshot: string } | undefined
  /** Calls the listener after each restore, until the returned function is called. */
  hear(listener: () => void): () => void
}

type Following = {
  entityId: string
  /** The position in the trail of the last event that the reader has. */
  after: number
  matches: (event: LinkedEvent) => boolean
  restores?: Restores | undefined
}

const batch = 500
/** A reader that is further behind than this is told of the gap, and reads the list. */
const behindMax = 5_000
const silenceMs = 15_000
/** The time after which links are looked for without a notice: a notice may be lost. */
const lookMs = 5_000
/** The time for which an entry waits for its link while a reader follows. */
const hasteMs = 50

const turnOf = oncePer((_: Database) => newTurn('linking audit entries'))
const shareLinking = keptFor<Database, boolean>(hasteMs)

/**
 * Links what waits, once for all followers of this process: they would notice the second for which entries wait for the step of the
 * workers. Without followers that second keeps the signed heads few. The step of the workers reports what fails.
 */
const linkWaiting = (ctx: LinkingCtx) =>
  shareLinking(ctx.database, () => linkEntries(ctx, turnOf(ctx.database)).catch(() => false))

/**
 * Follows the events of an entity by their links in the audit trail. Links have no gaps and none is added between two others, so
 * a reader that names its last event misses none and gets none twice, whichever process it asks.
 */
export async function* followEvents(
  ctx: LinkingCtx & Pick<EngineCtx, 'log'>,
  { entityId, after, matches, restores }: Following,
): AsyncGenerator<FollowedEvent> {
  const { database } = ctx
  let position = after
  const bell = openBell(ctx, restores)
  const restoreCount = () => restores?.last()?.count ?? 0
  let restoresSeen = restoreCount()
  try {
    for (let toldMs = performance.now(); ; ) {
      const events = await linkedEvents(database, entityId, position, batch)
      // Events behind the position are no continuation of another trail.
      if (restoreCount() !== restoresSeen) {
        restoresSeen = restoreCount()
        position = await lastPosition(database, entityId)
        const [newest] = await linkedEvents(database, entityId, position - 1, 1)
        toldMs = performance.now()
        yield { kind: 'restored', snapshot: restores!.last()!.snapshot, lastId: newest?.id }
        continue
      }
      for (const event of events) {
        position = event.position
        if (!matches(event)) continue
        toldMs = performance.now()
        yield { kind: 'event', event }
      }
      const last = events.length === batch ? await lastPosition(database, entityId) : position
      if (last - position > behindMax) {
        const [from] = await linkedEvents(database, entityId, position, 1)
        const [to] = await linkedEvents(database, entityId, last - 1, 1)
        position = last
        yield { kind: 'gap', fromId: from!.id, toId: to!.id }
      } else if (events.length < batch) {
        const lookAgainMs = performance.now() + lookMs
        while (!(await bell.rings(hasteMs)) && performance.now() < lookAgainMs) await linkWaiting(ctx)
        if (performance.now() - toldMs < silenceMs) continue
        toldMs = performance.now()
        yield { kind: 'silence' }
      }
    }
  } finally {
    await bell.end()
  }
}

/** The time in which a new event gets its link. */
const linkedWithinMs = 5_000
const linkPollMs = 50

/**
 * The position behind which a reader follows: that of the last event that it has, or the end of the trail. Undefined for an id
 * that is of no event of the entity.
 */
export async function placeInTrail(
  db: Db,
  entityId: string,
  lastId: string | undefined,
): Promise<number | undefined> {
  if (lastId === undefined) return lastPosition(db, entityId)
  const endMs = performance.now() + linkedWithinMs
  for (;;) {
    const position = await positionOf(db, entityId, lastId)
    if (position !== undefined) return position
    if (performance.now() > endMs || !(await isInTrail(db, entityId, lastId))) return undefined
    await sleep(linkPollMs)
  }
}

/** Rings when further entries are linked. A ring while no reader waits is kept for the next that does. */
function openBell(ctx: Pick<EngineCtx, 'database' | 'log'>, restores: Restores | undefined) {
  let hasRung = false
  let ring: () => void = () => undefined
  const sound = () => {
    hasRung = true
    ring()
  }
  const unhear = restores?.hear(sound)
  const end = hearNotices(ctx, linksChannel, sound)
  return {
    end: () => {
      unhear?.()
      return end()
    },
    /** Whether it rings within this time. */
    rings: (withinMs: number) =>
      new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => done(), withinMs)
        const done = () => {
          clearTimeout(timer)
          const rang = hasRung
          hasRung = false
          ring = () => undefined
          resolve(rang)
        }
        ring = done
        if (hasRung) done()
      }),
  }
}
