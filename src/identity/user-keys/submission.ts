/**
 * Submissions of a page for a challenge: PINs, answers and secrets of devices, encrypted to the session. The page sends
 * canonical base64 of
 *
 * | Bytes | Contents |
 * |---|---|
 * | 1 | version: 1 |
 * | 12 | nonce, random |
 * | n | the fields, encrypted with AES-256-GCM under the session's encryption key |
 * | 16 | tag |
 *
 * The associated data is the ASCII text `bezant submission 1`, the user's internal id, the challenge's id and the purpose,
 * joined by line feeds; ids are lower-case UUIDs. Each field is
 *
 * | Bytes | Contents |
 * |---|---|
 * | 1 | kind: P the PIN, N a new PIN, Q a question, A an answer, D the secret of the device, R the recovery secret |
 * | 2 | length, big-endian |
 * | length | PIN: 6 ASCII digits; question and answer: UTF-8; secrets: 32 random bytes |
 *
 * and `purposes` says which fields follow one another. A submission works once, by its bytes.
 */
import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { decrypt, nonceBytes, tagBytes } from '#custody/sealing/index'
import { parseBase64 } from '#lib/base64'

/** The fields of each purpose, in their order. */
export const purposes = {
  setPin: /^N(QA){0,10}$/,
  setQuestions: /^P(QA){1,10}$/,
  changePin: /^PN$/,
  restorePin: /^A{1,10}N$/,
  open: /^P$/,
  setDevice: /^DR$/,
  setLogin: /^D$/,
  addDevice: /^RD$/,
  openWithDevice: /^D$/,
} as const

export type Purpose = keyof typeof purposes

export type Submission = {
  /** Internal id of the user (UUID). */
  userId: string
  challengeId: string
  /** As the page sent it: base64. */
  sealed: string
  /** The 32 bytes that belong to the user token of the request; the caller wipes them. */
  encryptionKey: Buffer
  /** The digest that identifies it, where it was sent in another protocol; default: that of its own bytes. */
  sha256?: Buffer | undefined
}

export type FieldKind = 'P' | 'N' | 'Q' | 'A' | 'D' | 'R'
export type SubmittedField = { kind: FieldKind; bytes: Buffer }

type OpenedSubmission = {
  /** Identifies the submission, opened or not. */
  sha256: Buffer
  /** Undefined when it does not open: malformed, of another session, challenge or purpose. */
  plain: Buffer | undefined
}

const version = 1
const bytesMax = 16_384
const overhead = 1 + nonceBytes + tagBytes

/** Opens a submission; the caller wipes `plain`. Every submission that does not open takes the same steps. */
export function openSubmission(submission: Submission, purpose: Purpose): OpenedSubmission {
  const bytes = parseBase64(submission.sealed) ?? Buffer.alloc(0)
  const sha256 = submission.sha256 ?? createHash('sha256').update(bytes).digest()
  const isWellFormed = bytes.length >= overhead && bytes.length <= bytesMax && bytes[0] === version
  // Zeros take the same work and never open.
  const plain = plainOf(submission, purpose, isWellFormed ? bytes : Buffer.alloc(overhead))
  return { sha256, plain }
}

function plainOf(submission: Submission, purpose: Purpose, bytes: Buffer): Buffer | undefined {
  const nonce = bytes.subarray(1, 1 + nonceBytes)
  const bound = boundOf(submission, purpose)
  return decrypt(submission.encryptionKey, nonce, bound, bytes.subarray(1 + nonceBytes))
}

/** Makes a submission of this format from what was sent in another protocol. */
export function sealSubmission(
  { encryptionKey, userId, challengeId }: Omit<Submission, 'sealed'>,
  purpose: Purpose,
  fields: readonly SubmittedField[],
): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', encryptionKey, nonce)
  cipher.setAAD(boundOf({ userId, challengeId }, purpose))
  const sealed = fields.flatMap(({ kind, bytes }) => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(bytes.length)
    return [cipher.update(kind), cipher.update(length), cipher.update(bytes)]
  })
  const parts = [Buffer.of(version), nonce, ...sealed, cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(parts).toString('base64')
}

const boundOf = ({ userId, challengeId }: Pick<Submission, 'userId' | 'challengeId'>, purpose: Purpose) =>
  Buffer.from(['bezant submission 1', userId, challengeId, purpose].join('\n'))

/** The fields as views of the plain bytes; `undefined` unless they are those of the purpose. */
export function fieldsOf(plain: Buffer, purpose: Purpose): SubmittedField[] | undefined {
  const fields: SubmittedField[] = []
  let at = 0
  while (at + 3 <= plain.length) {
    const length = plain.readUInt16BE(at + 1)
    const kind = String.fromCharCode(plain[at]!) as FieldKind
    fields.push({ kind, bytes: plain.subarray(at + 3, at + 3 + length) })
    at += 3 + length
  }
  const isFit = at === plain.length && purposes[purpose].test(fields.map(({ kind }) => kind).join(''))
  return isFit ? fields : undefined
}
