import { setImmediate as turn } from 'node:timers/promises'
import type { Custody } from '#custody/index'
import type { AuditKey } from '#custody/installation/index'
import { ApiError } from '#lib/errors'
import type { Db } from '#runtime/db/db'
import { hashLink } from './encoding.ts'
import type { SignedHead } from './store/links.ts'
import {
  countUnlinked,
  linkUpTo,
  lockVerification,
  newestHeads,
  strayEntriesPage,
  strayHeadsIn,
  type TrailPlace,
  trailPage,
} from './store/trail.ts'
import {
  createVerifier,
  emptyTrail,
  type Finding,
  ofStrayEntry,
  ofStrayHead,
  signerAmong,
  type VerifiedTrail,
} from './verify.ts'

/** The place behind which the next page of a trail begins: a position of its links, and the id of an entry. */
export type VerifiedPlace = { position: number; entryId?: string | undefined }

type PageVerdict = {
  /** The number of entries of the page. */
  entries: number
  findings: Finding[]
  /** The last position of the page. */
  position: number
  /** The place where the next page begins; absent of the last one. */
  next?: VerifiedPlace
  /** The newest head of the trail, and whether it is signed with the key of this server. */
  head?: SignedHead & { isSigned: boolean }
  /** The number of entries that wait for a link. */
  unlinked: number
  publicKey: Buffer
}

/** The time after which other work of the process gets its turn. */
const turnMs = 2

/**
 * Verifies one page of the trail of an entity: links, signed heads, and entries that are in no link. A page begins where the one
 * before ended, so that a trail of any length is verified in requests that are short; nothing of it is kept in between.
 */
export const verifyPage = (
  { db, custody }: { db: Db; custody: Pick<Custody, 'auditSigner'> },
  entityId: string,
  after: VerifiedPlace,
  pageSize = 2_000,
): Promise<PageVerdict> =>
  db.tx(async (tx) => {
    if (!(await lockVerification(tx, entityId))) throw new ApiError('auditVerificationInProgress')
    const publicKeys = custody.auditSigner.publicKeys()
    const links = await verifyLinks(tx, { entityId, position: after.position }, publicKeys, pageSize)
    const { last, strays } = await strayEntriesPage(tx, entityId, after.entryId, pageSize)
    const { findings, entries, position } = links
    findings.push(...strays.map(ofStrayEntry))
    const isEnd = links.isEnd && last === undefined
    const [head] = await newestHeads(tx, entityId, undefined, 1)
    return {
      entries,
      findings,
      position,
      ...(!isEnd && {
        next: { position: links.isEnd ? lastOfPositions : position, entryId: last ?? lastOfIds },
      }),
      ...(head && { head: { ...head, isSigned: signerAmong(publicKeys)(head)?.isRetired === false } }),
      unlinked: await countUnlinked(tx, entityId),
      publicKey: publicKeys[0].publicKey,
    }
  })

/** The id behind those of all entries: where they are all verified and links are not yet. */
const lastOfIds = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
/** The position behind all links: where they are all verified, with what is missing behind them, and entries are not yet. */
const lastOfPositions = Number.MAX_SAFE_INTEGER

async function verifyLinks(tx: Db, after: TrailPlace, publicKeys: readonly AuditKey[], pageSize: number) {
  const findings: Finding[] = []
  const before = await trailUpTo(tx, after)
  if (after.position === lastOfPositions)
    return { findings, entries: 0, position: before.position, isEnd: true }
  const verifier = createVerifier({ publicKeys, before, report: (finding) => void findings.push(finding) })
  const items = await trailPage(tx, after.entityId, before, pageSize)
  let begunMs = performance.now()
  for (const item of items) {
    verifier.take(item)
    if (performance.now() - begunMs < turnMs) continue
    await turn()
    begunMs = performance.now()
  }
  const isEnd = items.length < pageSize
  if (isEnd) verifier.end()
  const position = items.at(-1)?.link.position ?? before.position
  findings.push(...(await strayHeadsIn(tx, before, isEnd ? undefined : position)).map(ofStrayHead))
  return { findings, entries: items.length, position, isEnd }
}

/** The trail as it is before the position behind `position`. */
async function trailUpTo(tx: Db, after: TrailPlace): Promise<VerifiedTrail> {
  const link = await linkUpTo(tx, after)
  if (!link) return emptyTrail(after.entityId)
  return { ...link, comparable: hashLink(link) === link.hash, isOutdated: false }
}
