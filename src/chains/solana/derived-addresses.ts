/** Addresses that programs derive: no key has them, because they are no points of the curve. */
import { createHash } from 'node:crypto'
import { decodeBase58, encodeBase58 } from '../addresses/base-encodings.ts'
import { programIds } from './programs.ts'

const bumpMax = 255

/** The prime of the field of Ed25519, and the factor in the equation of its curve (RFC 8032, 5.1). */
const prime = 2n ** 255n - 19n
const factor = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/** Whether a number has a square root in the field: its Jacobi symbol, a power would take ten times as long. */
function hasRoot(number: bigint): boolean {
  let [upper, lower, sign] = [number % prime, prime, 1]
  while (upper > 0n) {
    for (; (upper & 1n) === 0n; upper >>= 1n) {
      const last = lower & 7n
      if (last === 3n || last === 5n) sign = -sign
    }
    if ((upper & 3n) === 3n && (lower & 3n) === 3n) sign = -sign
    ;[upper, lower] = [lower % upper, upper]
  }
  return sign === 1
}

/** Whether an address could be that of a key: the square of its other coordinate has a root. */
export function isOnCurve(address: Uint8Array): boolean {
  const bytes = Buffer.from(address).reverse()
  bytes[0]! &= 0x7f
  const y = BigInt(`0x${bytes.toString('hex')}`)
  const square = (y * y) % prime
  // Its product with a square has a root where the quotient has one.
  const product = ((square + prime - 1n) * (factor * square + 1n)) % prime
  return product === 0n || hasRoot(product)
}

/** The address that seeds give with this number behind them. */
function addressWith(seeds: readonly Buffer[], bump: number, program: Buffer): Buffer {
  const hash = createHash('sha256')
  for (const seed of [...seeds, Buffer.of(bump), program]) hash.update(seed)
  return hash.update('ProgramDerivedAddress').digest()
}

/** The first address off the curve that seeds give. */
function derivedAddress(seeds: readonly Buffer[], program: Buffer): string {
  for (let bump = bumpMax; bump >= 0; bump--) {
    const address = addressWith(seeds, bump, program)
    if (!isOnCurve(address)) return encodeBase58(address)
  }
  throw new Error('no address off the curve follows from the seeds')
}

const associatedProgram = decodeBase58(programIds.associatedToken)!
const metadataProgram = decodeBase58(programIds.tokenMetadata)!

const associatedSeeds = (owner: string, mint: string, program: string): Buffer[] =>
  [owner, program, mint].map((address) => decodeBase58(address)!)

/** The account of an owner that wallets pay tokens of a mint to. */
export const associatedAccountOf = (owner: string, mint: string, program: string): string =>
  derivedAddress(associatedSeeds(owner, mint, program), associatedProgram)

/** The account in which the metadata program describes a mint. */
export const metadataAccountOf = (mint: string): string =>
  derivedAddress([Buffer.from('metadata'), metadataProgram, decodeBase58(mint)!], metadataProgram)

/** Half of all addresses are on the curve, so that more numbers are not tried for one. */
const bumpsTried = 64

/**
 * Whether an account is the associated one of an owner. Faster than to derive it: the program makes no account at an address that
 * follows from another number.
 */
export function isAssociatedAccount(account: string, owner: string, mint: string, program: string): boolean {
  const [seeds, wanted] = [associatedSeeds(owner, mint, program), decodeBase58(account)!]
  for (let tried = 0; tried < bumpsTried; tried++)
    if (addressWith(seeds, bumpMax - tried, associatedProgram).equals(wanted)) return true
  return false
}
