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
  const taken = await takePlaces(tx, rows, formatInstant(nowMs)).catch((error) => {
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

const placeOf = ({ entityId, address, blockchain, nonce, digest }: NonceRef & { digest: Buffer }) =>
  [entityId, address, blockchain, nonce, digest.toString('hex')].join()
