import { invalid } from '#lib/errors'
import { formatInstant } from '#lib/time'
import { isLoopback, parseOrigin } from '#lib/web-origin'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import {
  deletePageOrigin,
  findPageOrigins,
  insertPageOrigin,
  isListed,
  lockPageOrigins,
  type PageOrigin,
} from './store.ts'

/** Maximum number of origins of an entity. */
export const pageOriginsMax = 100

type OriginsScope = { db: Db; clock: { nowMs(): number }; actor: string; requestId?: string }

/** Replaces the list of an entity, in a `tx`; each origin that comes or goes is an entry of the audit. */
export function setPageOrigins(
  scope: OriginsScope,
  entityId: string,
  origins: readonly string[],
): Promise<PageOrigin[]> {
  for (const [index, origin] of origins.entries()) requireListable(origin, `origins[${index}]`)
  return change(scope, entityId, () => origins)
}

/** Adds an origin to the list of an entity. */
export function allowPageOrigin(
  scope: OriginsScope,
  entityId: string,
  origin: string,
): Promise<PageOrigin[]> {
  requireListable(origin, 'origin')
  return change(scope, entityId, (present) => [...present, origin])
}

/** Removes an origin from the list of an entity; the error of one that is not on it names the list. */
export const removePageOrigin = (
  scope: OriginsScope,
  entityId: string,
  origin: string,
): Promise<PageOrigin[]> =>
  change(scope, entityId, (present) => {
    if (!present.includes(origin))
      throw invalid({ at: 'origin', reason: 'is not on the list of this entity', value: origin })
    return present.filter((each) => each !== origin)
  })

const change = (
  { db, clock, actor, requestId }: OriginsScope,
  entityId: string,
  wantedOf: (present: readonly string[]) => readonly string[],
): Promise<PageOrigin[]> =>
  db.tx(async (tx) => {
    await lockPageOrigins(tx, entityId)
    const nowMs = clock.nowMs()
    const present = new Set((await findPageOrigins(tx, entityId)).map(({ origin }) => origin))
    const wanted = new Set(wantedOf([...present]))
    if (wanted.size > pageOriginsMax)
      throw invalid({ at: 'origins', reason: `must be at most ${pageOriginsMax}`, value: wanted.size })
    const added = [...wanted].filter((origin) => !present.has(origin))
    const removed = [...present].filter((origin) => !wanted.has(origin))
    for (const origin of added) await insertPageOrigin(tx, entityId, origin, formatInstant(nowMs))
    for (const origin of removed) await deletePageOrigin(tx, entityId, origin)
    const noted = (type: string) => (origin: string) => ({
      entityId,
      actor,
      type,
      resourceId: origin,
      requestId,
    })
    const changes = [...added.map(noted('pageOrigin.allowed')), ...removed.map(noted('pageOrigin.removed'))]
    await recordChanges(tx, nowMs, changes)
    return findPageOrigins(tx, entityId)
  })

const originLengthMax = 261

/** Plain http is for pages of this machine: anything else on the way could change the page that frames. */
function requireListable(origin: string, location: string): void {
  const url = origin.length <= originLengthMax ? parseOrigin(origin) : undefined
  if (url && (url.protocol === 'https:' || isLoopback(url))) return
  throw invalid({
    at: location,
    reason: 'must be an origin such as https://shop.example, without a path',
    value: origin,
  })
}

/** Whether pages of this origin may frame the page of users for one entity, or for any when none is named. */
export async function isPageOrigin(
  { config, db }: { config: Config; db: Db },
  origin: string,
  entityId?: string,
): Promise<boolean> {
  const url = origin.length <= originLengthMax ? parseOrigin(origin) : undefined
  if (!url) return false
  return (config.loopbackPages && isLoopback(url)) || isListed(db, origin, entityId)
}
