import { type AuditKey, auditVerifyingKey, isAuditSignature } from '#custody/installation/index'
import type { Db } from '#runtime/db/db'
import { hashEntry, hashLink, headBytes, noHash } from './encoding.ts'
import type { AuditLink, SignedHead } from './store/links.ts'
import { type StrayEntry, strayEntries, strayHeads, type TrailItem, type TrailPlace } from './store/trail.ts'
import { trailOf } from './trail.ts'

/** One thing that is wrong, with the row that it was found at. */
export type Finding = { entityId: string; position: number | null; entryId: string | null; problem: string }

type VerifierInput = {
  /** The key that signs heads, and those that did. */
  publicKeys: readonly AuditKey[]
  /** The newest exported head of each entity. */
  exported?: ReadonlyMap<string, SignedHead>
  /** The trail before the first item, where the items do not begin with its first position. */
  before?: VerifiedTrail | undefined
  report(finding: Finding): void
}

/** Takes items by entity and position, and reports what is wrong with each as soon as it is known; `end`, what is missing behind them. */
type Verifier = { take(item: TrailItem): void; end(): { entries: number; entities: number } }

export type VerifiedTrail = {
  entityId: string
  position: number
  hash: string
  /** Whether the next link can be compared with `hash`. */
  comparable: boolean
  /** The last position that a head covers. */
  covered: number
  /** Whether that head is signed with a retired key alone. */
  isOutdated: boolean
}

/** The trail of an entity before its first position. */
export const emptyTrail = (entityId: string): VerifiedTrail => ({
  entityId,
  position: 0,
  hash: noHash,
  comparable: true,
  covered: 0,
  isOutdated: false,
})

/** Returns a function that finds the key with which a head is signed, if it is one of these. */
export function signerAmong(publicKeys: readonly AuditKey[]): (head: SignedHead) => AuditKey | undefined {
  const keys = publicKeys.map((known) => ({ known, key: auditVerifyingKey(known.publicKey) }))
  return (head) => {
    const [bytes, signature] = [headBytes(head), Buffer.from(head.signature, 'hex')]
    return keys.find(({ key }) => isAuditSignature(key, bytes, signature))?.known
  }
}

export function createVerifier({
  publicKeys,
  exported = new Map(),
  before,
  report,
}: VerifierInput): Verifier {
  const signerOf = signerAmong(publicKeys)
  const open = new Map(exported)
  const counts = { entries: 0, entities: 0 }
  let trail = before
  for (const head of exported.values())
    if (!signerOf(head)) report(at(head, null, 'the exported head is altered, or signed by another key'))

  const reportTruncated = ({ entityId, position }: SignedHead, end: number) =>
    report(
      at(
        { entityId, position: end + 1 },
        null,
        `${positions(end + 1, position)} missing: they were exported`,
      ),
    )
  const finish = () => {
    if (!trail) return
    const { entityId, position, covered, isOutdated } = trail
    if (covered < position)
      report(at({ entityId, position: covered + 1 }, null, `${positions(covered + 1, position)} not signed`))
    if (isOutdated)
      report(
        at(
          { entityId, position: covered },
          null,
          'the newest head is signed with a retired root key, and none with a later one follows',
        ),
      )
    const head = open.get(entityId)
    if (head && head.position > position) reportTruncated(head, position)
    open.delete(entityId)
  }
  return {
    take: (item) => {
      const { entityId } = item.link
      if (trail?.entityId !== entityId) {
        finish()
        counts.entities++
        trail = emptyTrail(entityId)
      }
      counts.entries++
      const signer = item.head ? signerOf(item.head) : undefined
      for (const finding of problemsOf(item, trail, signer, open.get(entityId))) report(finding)
      const { position, hash } = item.link
      const covered = item.head ? position : trail.covered
      const isOutdated = item.head ? signer?.isRetired === true : trail.isOutdated
      trail = { entityId, position, hash, comparable: hashLink(item.link) === hash, covered, isOutdated }
    },
    end: () => {
      finish()
      for (const head of open.values()) reportTruncated(head, 0)
      return counts
    },
  }
}

/** Compares an item with the trail before it. */
function* problemsOf(
  { link, entry, head }: TrailItem,
  before: VerifiedTrail,
  signer: AuditKey | undefined,
  exported: SignedHead | undefined,
): Generator<Finding> {
  const { entityId, position, auditId } = link
  const next = before.position + 1
  const found = (problem: string) => at(link, auditId, problem)
  if (position !== next)
    yield at({ entityId, position: next }, null, `${positions(next, position - 1)} missing`)
  const isSound = hashLink(link) === link.hash
  if (!isSound) yield found(problemOfLink(link))
  else if (position === next && before.comparable && link.previous !== before.hash)
    yield found(`the link does not follow that of position ${position - 1}: one of them was replaced`)
  if (isSound && entry.actor === null) yield found('the entry is missing')
  else if (isSound && hashEntry(entry) !== link.entryHash)
    yield found('the entry or its event is not as it was when it was linked')
  if (head && head.firstPosition > before.covered + 1) {
    const unsigned = positions(before.covered + 1, head.firstPosition - 1)
    yield at({ entityId, position: before.covered + 1 }, null, `${unsigned} not signed: a head is missing`)
  }
  if (head && !signer) yield found('the head is altered, or signed by another key')
  else if (head && isSound && head.hash !== link.hash) yield found('the link is not the one that was signed')
  if (exported?.position === position && exported.hash !== link.hash)
    yield found('the link is not the one that was exported: it, or one before it, was replaced')
}

const at = (
  { entityId, position }: Pick<AuditLink, 'entityId' | 'position'>,
  entryId: string | null,
  problem: string,
) => ({
  entityId,
  position,
  entryId,
  problem,
})

const positions = (from: number, to: number) =>
  from === to ? `position ${from} is` : `positions ${from} to ${to} are`

/** How far from its position a moved link is looked for. */
const movedMax = 1_000

function problemOfLink(link: AuditLink): string {
  for (let distance = 1; distance <= movedMax; distance++)
    for (const position of [link.position - distance, link.position + distance])
      if (position > 0 && hashLink({ ...link, position }) === link.hash)
        return `the link was moved here from position ${position}`
  return 'the link is altered'
}

/** Maximum findings of one kind that are not found at a position. */
const straysMax = 1_000

type DatabaseVerification = VerifierInput & {
  entityId?: string | undefined
  progress?(entries: number): void
}

/** Verifies the trails in the database, of one entity or of all. */
export async function verifyDatabase(db: Db, input: DatabaseVerification) {
  const { entityId, report, progress } = input
  const verifier = createVerifier(input)
  let count = 0
  for await (const item of trailOf(db, entityId)) {
    verifier.take(item)
    if (++count % 1_000 === 0) progress?.(count)
  }
  const counts = verifier.end()
  for (const head of await strayHeads(db, entityId, straysMax)) report(ofStrayHead(head))
  for (const stray of await strayEntries(db, entityId, straysMax)) report(ofStrayEntry(stray))
  return counts
}

export const ofStrayHead = (place: TrailPlace): Finding => at(place, null, 'the head has no link')

export const ofStrayEntry = ({ entityId, id }: StrayEntry): Finding => ({
  entityId,
  position: null,
  entryId: id,
  problem: 'the entry was inserted: it is in no link',
})
