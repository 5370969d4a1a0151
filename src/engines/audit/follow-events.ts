import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { hearNotices } from '#runtime/pg-notifications'
import { isInTrail, type LinkedEvent, lastPosition, linkedEvents, positionOf } from './store/linked-events.ts'
import { linksChannel } from './store/links.ts'

/** An event in the order of the trail; a gap where a reader was too slow for all of them; or that nothing happened for a while. */
export type FollowedEvent =
  | { kind: 'event'; event: LinkedEvent }
  | { kind: 'gap'; fromId: string; toId: string }
  | { kind: 'silence' }

type Following = {
  entityId: string
  /** The position in the trail of the last event that the reader has. */
  after: number
  matches: (event: LinkedEvent) => boolean
}

const batch = 500
/** A reader that is further behind than this is told of the gap, and reads the list. */
const behindMax = 5_000
const silenceMs = 15_000
/** The time after which links are looked for without a notice: a notice may be lost. */
const lookMs = 5_000

/**
 * Follows the events of an entity by their links in the audit trail. Links have no gaps and none is added between two others, so
 * a reader that names its last event misses none and gets none twice, whichever process it asks.
 */
export async function* followEvents(
  ctx: Pick<EngineCtx, 'database' | 'log'>,
  { entityId, after, matches }: Following,
): AsyncGenerator<FollowedEvent> {
  const { database } = ctx
  let position = after
  const bell = openBell(ctx)
  try {
    for (let toldMs = performance.now(); ; ) {
      const events = await linkedEvents(database, entityId, position, batch)
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
        await bell.rings(lookMs)
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
function openBell(ctx: Pick<EngineCtx, 'database' | 'log'>) {
  let hasRung = false
  let ring: () => void = () => undefined
  const end = hearNotices(ctx, linksChannel, () => {
    hasRung = true
    ring()
  })
  return {
    end,
    rings: (withinMs: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(() => done(), withinMs)
        const done = () => {
          clearTimeout(timer)
          hasRung = false
          ring = () => undefined
          resolve()
        }
        ring = done
        if (hasRung) done()
      }),
  }
}
