/**
 * The signing ledger. Before a payload is signed for a nonce of a key, it takes the next place in the sequence of that nonce,
 * in the same database transaction; the table refuses every second payload that is not a linked replacement with a sufficient
 * fee bump. So no key signs two payloads that could be mined as different intents, whatever the engine above does.
 */
import { formatInstant } from '#lib/time'
import { constraintOf, type Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import {
  insertInSequence,
  insertOperations,
  type NonceRef,
  type OperationRow,
  type PayloadRow,
  payloadsOf,
} from '../store/signatures.ts'

/** Thrown for a payload that custody refuses to sign, because another one was signed for its nonce. */
export class SecondPayload extends Error {}

/** Records the payloads about to be signed. Throws `SecondPayload` for the first one refused; then none may be signed. */
export async function recordPayloads(tx: Db, rows: readonly PayloadRow[], nowMs: number): Promise<void> {
  const createDate = formatInstant(nowMs)
  const dated = rows.map((row) => ({ ...row, createDate }))
  const taken = await insertInSequence(tx, dated).catch((error) => {
    const broken = constraintOf(error)
    if (!broken?.startsWith('signatures_')) throw error
    throw new SecondPayload((error as Error).message, { cause: error })
  })
  await recordChanges(
    tx,
    nowMs,
    taken.map(({ entityId, address, digest, ...payload }) => ({
      entityId,
      actor: 'transactions',
      type: 'signature.recorded',
      resourceId: address,
      data: { ...payload, digest: digest.toString('hex') },
    })),
  )
  if (taken.length === rows.length) return
  const known = new Set((await payloadsOf(tx, rows)).map(placeOf))
  const refused = rows.find((row) => !known.has(placeOf(row)))
  if (!refused) return
  const { nonce, address, blockchain } = refused
  throw new SecondPayload(`something else was signed for nonce ${nonce} of ${address} on ${blockchain}`)
}

/** Records the user operations about to be signed: an intent may have several. */
export async function recordOperations(
  tx: Db,
  rows: readonly Omit<OperationRow, 'createDate'>[],
  nowMs: number,
): Promise<void> {
  const createDate = formatInstant(nowMs)
  await insertOperations(
    tx,
    rows.map((row) => ({ ...row, createDate })),
  )
  await recordChanges(
    tx,
    nowMs,
    rows.map(({ entityId, intentId, blockchain, address, digest }) => ({
      entityId,
      actor: 'transactions',
      type: 'signature.recorded',
      resourceId: address,
      data: { blockchain, intentId, digest: digest.toString('hex') },
    })),
  )
}

/**
 * Returns the digest of the payload that was signed for a nonce with this fee cap (wei per gas): a replacement has to name it.
 * Each replacement has a higher cap, so that it identifies one payload. Throws `SecondPayload` when there is none.
 */
export async function signedDigest(db: Db, ref: NonceRef & { maxFeeAtomic: bigint }): Promise<Buffer> {
  const line = await payloadsOf(db, [ref])
  const found = line.find(({ maxFeeAtomic }) => maxFeeAtomic === ref.maxFeeAtomic)
  if (found) return found.digest
  throw new SecondPayload(`nothing of this price was signed for nonce ${ref.nonce} of ${ref.address}`)
}

/** A signed payload from a journal or backup, with its place in the sequence of its nonce, from 0. */
type KeptPayload = PayloadRow & { ordinal: number; createDate: string }

/** Records again the signed payloads that a restored database lacks. A nonce that has other payloads there stays unchanged. */
export async function restorePayloads(tx: Db, rows: readonly KeptPayload[]): Promise<void> {
  const standing = linesOf(await payloadsOf(tx, rows))
  const missing: KeptPayload[] = []
  for (const [nonce, line] of linesOf(rows)) {
    const there = standing.get(nonce) ?? []
    const continues = there.every(({ digest }, place) => line[place]?.digest.equals(digest))
    if (continues) missing.push(...line.slice(there.length))
  }
  // A replacement needs the payload that it replaces to be recorded.
  const ordinals = [...new Set(missing.map(({ ordinal }) => ordinal))].sort((one, other) => one - other)
  for (const ordinal of ordinals)
    await insertInSequence(
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
