/**
 * Shares of a root key by Shamir's scheme, so that no person alone holds the key or its only copy: any `threshold` of them give it back,
 * and fewer say nothing about it.
 */
import { createHash, randomBytes } from 'node:crypto'
import { combine, split } from 'shamir-secret-sharing'
import { isSameText } from '#lib/same-text'
import { checkFingerprintOf, rootCheckValueOf } from '../sealing/sealing.ts'

/** The number of shares, and how many of them give the key back. */
export type ShareCounts = { shares: number; threshold: number }

export const sharesMax = 255

/** Thrown for shares that do not give a key: the text says which one is wrong, or how many are missing. */
export class SharesRefused extends Error {}

// One share is one line: prefix-version:set:threshold:shares:number:fingerprint:share:checksum. The set is drawn for each splitting, so
// that shares of two splittings are not mixed up. The fingerprint recognises the key, and opens nothing. The checksum finds slips of a pen.
const prefix = 'bezant-root-key-share-1'
const pattern = new RegExp(
  `${prefix}:([0-9a-f]{8}):(\\d{1,3}):(\\d{1,3}):(\\d{1,3}):([0-9a-f]{16}):([0-9a-f]{66}):([0-9a-f]{8})`,
  'gi',
)

type Share = ShareCounts & { set: string; number: number; fingerprint: string; bytes: Uint8Array }

/** Splits a root key of 32 bytes. Returns the lines of the shares, after every run of `threshold` of them has given the key back. */
export async function splitRootKey(rootKey: Buffer, { shares, threshold }: ShareCounts): Promise<string[]> {
  const set = randomBytes(4).toString('hex')
  const fingerprint = rootKeyFingerprint(rootKey)
  const parts = await split(new Uint8Array(rootKey), shares, threshold)
  const lines = parts.map((bytes, index) => {
    const hex = Buffer.from(bytes).toString('hex')
    const text = [prefix, set, threshold, shares, index + 1, fingerprint, hex].join(':')
    return `${text}:${checksumOf(text)}`
  })
  for (const part of parts) part.fill(0)
  for (let first = 0; first < shares; first++) {
    const some = Array.from({ length: threshold }, (_, index) => lines[(first + index) % shares]!)
    const joined = await joinRootKey(some.join('\n'))
    if (!joined.equals(rootKey))
      throw new Error('shares of a root key do not give it back: nothing was written')
    joined.fill(0)
  }
  return lines
}

/** Joins the shares that a text has, among other lines and in any order. Throws `SharesRefused`. */
export async function joinRootKey(text: string): Promise<Buffer> {
  const found = [...text.matchAll(pattern)].map((match) => shareOf(match))
  const shares = [...new Map(found.map((share) => [share.number, share])).values()]
  const [first] = shares
  if (!first)
    throw new SharesRefused(
      `there is no share: each is a line that begins with ${prefix}, and has to be whole`,
    )
  const foreign = found.find(({ set, fingerprint }) => set !== first.set || fingerprint !== first.fingerprint)
  if (foreign)
    throw new SharesRefused(
      `share ${foreign.number} of set ${foreign.set} is of another splitting than share ${first.number} of set ${first.set}: give shares of one`,
    )
  const missing = first.threshold - shares.length
  if (missing > 0)
    throw new SharesRefused(
      `${first.threshold} shares of set ${first.set} are needed, and these are there: ${shares.map(({ number }) => number).join(', ')}. ${missing} more ${missing === 1 ? 'is' : 'are'} missing`,
    )
  // The library refuses shares of which two are the same, and joins others to some key.
  const joined = await combine(shares.map(({ bytes }) => bytes)).catch(() => undefined)
  for (const { bytes } of shares) bytes.fill(0)
  if (joined && rootKeyFingerprint(Buffer.from(joined)) === first.fingerprint) return Buffer.from(joined)
  throw new SharesRefused(
    `the shares of set ${first.set} do not give the key of fingerprint ${first.fingerprint}: one of them was changed`,
  )
}

function shareOf([
  line,
  set = '',
  threshold,
  shares,
  number,
  fingerprint = '',
  hex = '',
  checksum = '',
]: RegExpExecArray): Share {
  const text = line.slice(0, line.lastIndexOf(':')).toLowerCase()
  if (!isSameText(checksum.toLowerCase(), checksumOf(text)))
    throw new SharesRefused(
      `share ${number} has another checksum than its text: a character of it is wrong, so compare it with the original`,
    )
  return {
    set: set.toLowerCase(),
    threshold: Number(threshold),
    shares: Number(shares),
    number: Number(number),
    fingerprint: fingerprint.toLowerCase(),
    bytes: new Uint8Array(Buffer.from(hex, 'hex')),
  }
}

const checksumOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)

/** The fingerprint of a root key, as `bezant root-key list` shows it. */
export const rootKeyFingerprint = (rootKey: Buffer): string => checkFingerprintOf(rootCheckValueOf(rootKey))
