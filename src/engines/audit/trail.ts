import type { Db } from '#runtime/db/db'
import type { SignedHead } from './store/links.ts'
import { newestHeads, type TrailItem, type TrailPlace, trailPage } from './store/trail.ts'

const pageSize = 2_000
const noEntity = '00000000-0000-0000-0000-000000000000'

/** Every item of the trails, by entity and position, one page in memory at a time. */
export async function* trailOf(db: Db, entityId?: string): AsyncGenerator<TrailItem> {
  // No position is 0: the trail of the installation, whose id this is, is behind it.
  let after: TrailPlace = { entityId: noEntity, position: 0 }
  for (;;) {
    const page = await trailPage(db, entityId, after, pageSize)
    yield* page
    if (page.length < pageSize) return
    after = page.at(-1)!.link
  }
}

/** The newest head of every entity that has one. */
export async function* signedHeads(db: Db, entityId?: string): AsyncGenerator<SignedHead> {
  let after: string | undefined
  for (;;) {
    const page = await newestHeads(db, entityId, after, pageSize)
    yield* page
    if (page.length < pageSize) return
    after = page.at(-1)!.entityId
  }
}
