/**
 * The signing ledger. Before a payload is signed for a nonce of a key it takes a place in the line of that nonce, in the
 * same database transaction; the table refuses every second payload that is not a linked replacement offering enough
 * more. So no key ever signs two things that could both be mined as different intents, whatever the engine above does.
 */
import { formatInstant } from '#lib/time'
import { constraintOf, type Db } from '#runtime/db/db'
import { type NonceRef, type PayloadRow, payloadsOf, takePlaces } from './store/signatures.ts'

/** A payload that custody does not sign, because something else was signed for its nonce. */
export class SecondPayload extends Error {}

/** Writes down what is about to be signed. Throws `SecondPayload` for the first one that may not be; then none may. */
export async function recordPayloads(tx: Db, rows: readonly PayloadRow[], nowMs: number): Promise<void> {
  const createDate = formatInstant(nowMs)
  const dated = rows.map((row) => ({ ...row, createDate }))
  const taken = await takePlaces(tx, dated).catch((error) => {
    const broken = constraintOf(error)
    if (!broken?.startsWith('signatures_')) throw error
    throw new SecondPayload((error as Error).message, { cause: error })
  })
  if (taken === rows.length) return
  const known = new Set((await payloadsOf(tx, rows)).map(placeOf))
  const refused = rows.find((row) => !known.has(placeOf(row)))
  if (!refused) return
  const { nonce, address, blockchain } = refused
  throw new SecondPayload(`something else was signed for nonce ${nonce} of ${address} on ${blockchain}`)
}

/**
 * The digest of a payload that was signed before, to name as what a replacement takes the place of. Within the line of a
 * nonce the cap (wei per gas) tells the payloads apart, because it only rises.
 */
export async function signedDigest(db: Db, ref: NonceRef & { maxFeeAtomic: bigint }): Promise<Buffer> {
  const line = await payloadsOf(db, [ref])
  const found = line.find(({ maxFeeAtomic }) => maxFeeAtomic === ref.maxFeeAtomic)
  if (found) return found.digest
  throw new SecondPayload(`nothing of this price was signed for nonce ${ref.nonce} of ${ref.address}`)
}

export type KeptPayload = PayloadRow & { ordinal: number; createDate: string }

/**
 * Writes down again what was signed before a restored copy of the database knew of it. Where something else stands now, that
 * stays.
 */
export async function restorePayloads(tx: Db, rows: readonly KeptPayload[]): Promise<void> {
  const standing = linesOf(await payloadsOf(tx, rows))
  const missing: KeptPayload[] = []
  for (const [nonce, line] of linesOf(rows)) {
    const there = standing.get(nonce) ?? []
    const continues = there.every(({ digest }, place) => line[place]?.digest.equals(digest))
    if (continues) missing.push(...line.slice(there.length))
  }
  // A replacement needs what it replaces to be there.
  const ordinals = [...new Set(missing.map(({ ordinal }) => ordinal))].sort((one, other) => one - other)
  for (const ordinal of ordinals)
    await takePlaces(
      tx,
      missing.filter((row) => row.ordinal === ordinal),
    )
}

function linesOf<Row extends KeptPayload>(rows: readonly Row[]): Map<string, Row[]> {
  const lines = new Map<string, Row[]>()
  for (const row of rows) {
    const line = lines.get(nonceOf(row)) ?? []
    line[row.ordinal] = row
    lines.set(nonceOf(row), line)
  }
  return lines
}

const nonceOf = ({ entityId, address, blockchain, nonce }: NonceRef) =>
  [entityId, address, blockchain, nonce].join()

const placeOf = ({ entityId, address, blockchain, nonce, digest }: NonceRef & { digest: Buffer }) =>
  [entityId, address, blockchain, nonce, digest.toString('hex')].join()
