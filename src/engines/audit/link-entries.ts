import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import type { Turn } from '#runtime/turns/store'
import { type AuditEntry, hashEntry, hashLink, headBytes, noHash } from './encoding.ts'
import {
  type AuditLink,
  insertLinks,
  isAnyUnlinked,
  lockLinking,
  type SignedHead,
  type UnlinkedEntry,
  unlinkedEntries,
} from './store/links.ts'

/** Maximum entries of one `tx`. */
const batchMax = 1_000

export type LinkingCtx = Pick<EngineCtx, 'database' | 'clock' | 'custody'>

/** Links one batch of entries, of many entities in turns, and signs the new heads. True when it had some: more may wait. */
export const linkEntries = async (ctx: LinkingCtx, turn: Turn): Promise<boolean> =>
  (await isAnyUnlinked(ctx.database)) && linkBatch(ctx, turn)

const linkBatch = ({ database, clock, custody }: LinkingCtx, turn: Turn): Promise<boolean> =>
  database.tx(async (tx) => {
    if (!(await lockLinking(tx))) return false
    const entries = await unlinkedEntries(tx, turn, batchMax)
    if (entries.length === 0) return false
    const sign = await custody.auditSigner.signIn(tx)
    const entityIds = [...new Set(entries.map(({ entityId }) => entityId))]
    const links: AuditLink[] = []
    const heads: SignedHead[] = []
    const createDate = formatInstant(clock.nowMs())
    for (const entityId of entityIds) {
      const own = entries.filter((entry) => entry.entityId === entityId)
      const [{ lastPosition, lastHash }] = own as [UnlinkedEntry]
      const position = lastPosition ?? 0
      const made = linksOf(own, position, lastHash ?? noHash)
      const { position: end, hash: endHash } = made.at(-1)!
      const head = { entityId, firstPosition: position + 1, position: end, hash: endHash, createDate }
      links.push(...made)
      heads.push({ ...head, signature: sign(headBytes(head)).toString('hex') })
    }
    await insertLinks(tx, links, heads)
    return true
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
