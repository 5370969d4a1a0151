import { formatInstant } from '#lib/time'
import { type Db, jsonOf, sql } from '#runtime/db/db'

/**
 * The use of a key: `message` signs cross-chain messages, `balance` transfers and burns of unified balances, `quote` the fees that
 * burns pay beforehand.
 */
export type AttestationPurpose = 'message' | 'balance' | 'quote'

/** The public part of an attestation key. */
export type AttestationKey = {
  id: string
  purpose: AttestationPurpose
  /** Canonical address of the key, which is registered with contracts. */
  address: string
  /** Uncompressed, 65 bytes. */
  publicKey: Buffer
  createDate: string
  /** Since then the key signs nothing more. */
  retiredDate: string | null
}

export type AttestationKeyRow = AttestationKey & { sealedPrivateKey: Buffer }

const columns = sql`id, purpose, address, public_key, create_date, retired_date`

/** All keys of a purpose, newest first. */
export const listAttestationKeys = (db: Db, purpose: AttestationPurpose) =>
  db.all<AttestationKey>(sql`select ${columns} from attestation_keys where purpose = ${purpose}
    order by create_date desc, id desc`)

/** Returns the keys of a purpose that are not retired, newest first. */
export const attestationKeysInUse = async (db: Db, purpose: AttestationPurpose) =>
  (await listAttestationKeys(db, purpose)).filter(({ retiredDate }) => retiredDate === null)

const inUse = (purpose: AttestationPurpose) =>
  sql`from attestation_keys where purpose = ${purpose} and retired_date is null order by create_date, id limit 1`

/** Returns the oldest key that is not retired, which signs. A newer one is registered with the contracts meanwhile, and takes its place. */
export const attestationKeyInUse = (db: Db, purpose: AttestationPurpose) =>
  db.maybe<AttestationKey>(sql`select ${columns} ${inUse(purpose)}`)

/** The same with its sealed private key. */
export const attestationKeyRowInUse = (db: Db, purpose: AttestationPurpose) =>
  db.maybe<AttestationKeyRow>(sql`select ${columns}, sealed_private_key ${inUse(purpose)}`)

export const findAttestationKey = (db: Db, id: string) =>
  db.maybe<AttestationKeyRow>(sql`select ${columns}, sealed_private_key
    from attestation_keys where id = ${id}`)

/** Inserts a key; returns false when the purpose has one with this address. */
export async function insertAttestationKey(
  tx: Db,
  row: Omit<AttestationKeyRow, 'retiredDate'>,
): Promise<boolean> {
  const { id, purpose, address, publicKey, sealedPrivateKey, createDate } = row
  const count =
    await tx.run(sql`insert into attestation_keys (id, purpose, address, public_key, sealed_private_key,
      create_date)
    values (${id}, ${purpose}, ${address}, ${publicKey}, ${sealedPrivateKey}, ${createDate}) on conflict do nothing`)
  return count === 1
}

/** Retires a key; returns false when it was retired before. */
export const retireAttestationKey = async (tx: Db, id: string, nowMs: number): Promise<boolean> =>
  (await tx.run(sql`update attestation_keys set retired_date = ${formatInstant(nowMs)}
    where id = ${id} and retired_date is null`)) === 1

/** Records digests before they are signed; a digest that was signed before may be signed again. */
export const insertAttestationSignatures = (
  tx: Db,
  { purpose, id }: Pick<AttestationKey, 'purpose' | 'id'>,
  requests: readonly { subject: string; digest: string }[],
  nowMs: number,
) =>
  tx.run(sql`insert into attestation_signatures (purpose, subject, key_id, digest, create_date)
    select ${purpose}, subject, ${id}, decode(substr(digest, 3), 'hex'), ${formatInstant(nowMs)}::timestamptz
    from jsonb_to_recordset(${jsonOf(requests)}::jsonb) as row(subject text, digest text)
    order by subject
    on conflict (purpose, subject, key_id, digest) do nothing`)

/** Returns the newest `limit` digests that keys of a purpose signed for a subject, newest first. */
export const attestedDigests = async (
  db: Db,
  purpose: AttestationPurpose,
  subject: string,
  limit: number,
): Promise<Buffer[]> =>
  (
    await db.all<{ digest: Buffer }>(sql`select digest from attestation_signatures
      where purpose = ${purpose} and subject = ${subject} order by create_date desc limit ${limit}`)
  ).map(({ digest }) => digest)

/** A signature of this server; `recordedAt` is in the time of the database. */
export type AttestationSignature = { subject: string; address: string; digest: Buffer; recordedAt: string }

const shownMax = 100

/** All that this server signed for these subjects, oldest first. */
export const attestationSignatures = (db: Db, purpose: AttestationPurpose, subjects: readonly string[]) =>
  db.all<AttestationSignature>(sql`select s.subject, k.address, s.digest, coalesce(s.recorded_at, s.create_date) as recorded_at
    from attestation_signatures s join attestation_keys k on k.id = s.key_id
    where s.purpose = ${purpose} and s.subject = any(${subjects}::text[])
    order by coalesce(s.recorded_at, s.create_date), k.address limit ${shownMax}`)
