import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import type { Turn } from '#runtime/turns/store'
import { type AuditEntry, hashEntry, hashLink, headBytes, noHash } from './encoding.ts'
import {
  type AuditLink,
  insertLinks,
  isAnyUnlinked,
  lastLinks,
  lockLinking,
  type SignedHead,
  unlinkedEntries,
} from './store/links.ts'

/** Maximum entries of one `tx`. */
const batchMax = 1_000

export type LinkingCtx = Pick<EngineCtx, 'database' | 'clock' | 'custody'>

/** Links one batch of entries, of many entities in turns, and signs the new heads. True when more entries may wait. */
export const linkEntries = async (ctx: LinkingCtx, turn: Turn): Promise<boolean> =>
  (await isAnyUnlinked(ctx.database)) && linkBatch(ctx, turn)

const linkBatch = ({ database, clock, custody }: LinkingCtx, turn: Turn): Promise<boolean> =>
  database.tx(async (tx) => {
    if (!(await lockLinking(tx))) return false
    const entries = await unlinkedEntries(tx, turn, batchMax)
    if (entries.length === 0) return false
    const entityIds = [...new Set(entries.map(({ entityId }) => entityId))]
    const last = new Map((await lastLinks(tx, entityIds)).map((link) => [link.entityId, link]))
    const links: AuditLink[] = []
    const heads: SignedHead[] = []
    const createDate = formatInstant(clock.nowMs())
    for (const entityId of entityIds) {
      const { position, hash } = last.get(entityId) ?? { position: 0, hash: noHash }
      const own = entries.filter((entry) => entry.entityId === entityId)
      const made = linksOf(own, position, hash)
      const { position: end, hash: endHash } = made.at(-1)!
      const head = { entityId, firstPosition: position + 1, position: end, hash: endHash, createDate }
      links.push(...made)
      heads.push({ ...head, signature: custody.auditSigner.sign(headBytes(head)).toString('hex') })
    }
    await insertLinks(tx, links, heads)
    return entries.length === batchMax
  })

function linksOf(entries: readonly AuditEntry[], lastPosition: number, lastHash: string): AuditLink[] {
  let previous = lastHash
  return entries.map((entry, index) => {
    const content = {
      entityId: entry.entityId,
      position: lastPosition + index + 1,
      auditId: entry.id,
      previous,
      entryHash: hashEntry(entry),
    }
    previous = hashLink(content)
    return { ...content, hash: previous }
  })
}
