import { createPrivateKey, createPublicKey, generatePrimeSync } from 'node:crypto'

const modulusBits = 4096
const primeCount = 4
const publicExponent = 65_537n

export type RsaKeyPair = { publicKey: string; privateKey: Buffer }

/**
 * Makes an RSA key of the usual size from four primes instead of two (RFC 8017): clients see no difference, and it decrypts
 * in a third of the time, which is most of the time of a test request with an entity secret.
 */
export function makeFourPrimeKey(): RsaKeyPair {
  const primes = Array.from({ length: primeCount }, () =>
    generatePrimeSync(modulusBits / primeCount, { bigint: true }),
  )
  const modulus = product(primes)
  const isFit = modulus >> BigInt(modulusBits - 1) === 1n && primes.every(isCoprime)
  return isFit ? encode(primes, modulus) : makeFourPrimeKey()
}

const isCoprime = (prime: bigint) => (prime - 1n) % publicExponent !== 0n
const product = (factors: readonly bigint[]) => factors.reduce((all, factor) => all * factor, 1n)

function encode(primes: readonly bigint[], modulus: bigint): RsaKeyPair {
  const exponent = inverse(publicExponent, product(primes.map((prime) => prime - 1n)))
  const exponentOf = (prime: bigint) => exponent % (prime - 1n)
  const [p, q, ...others] = primes as [bigint, bigint, ...bigint[]]
  const more = others.map((prime, index) =>
    sequence(...[prime, exponentOf(prime), inverse(product(primes.slice(0, index + 2)), prime)].map(integer)),
  )
  const version = 1n
  const numbers = [
    version,
    modulus,
    publicExponent,
    exponent,
    p,
    q,
    exponentOf(p),
    exponentOf(q),
    inverse(q, p),
  ]
  const key = createPrivateKey({
    key: sequence(...numbers.map(integer), sequence(...more)),
    format: 'der',
    type: 'pkcs1',
  })
  return {
    publicKey: createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(),
    privateKey: key.export({ type: 'pkcs8', format: 'der' }),
  }
}

/** The number that times `value` leaves 1 modulo `modulus`, by the extended algorithm of Euclid. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [left, right, atLeft, atRight] = [value % modulus, modulus, 1n, 0n]
  while (left > 1n) {
    const times = right / left
    ;[left, right, atLeft, atRight] = [right - times * left, left, atRight - times * atLeft, atLeft]
  }
  return ((atLeft % modulus) + modulus) % modulus
}

const sequence = (...parts: readonly Buffer[]) => tagged(0x30, Buffer.concat(parts))

/** A positive number in DER: its first bit is off. */
function integer(value: bigint): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return tagged(0x02, bytes[0]! < 0x80 ? bytes : Buffer.concat([Buffer.of(0), bytes]))
}

function tagged(tag: number, content: Buffer): Buffer {
  const length =
    content.length < 0x80
      ? Buffer.of(content.length)
      : Buffer.of(0x82, content.length >> 8, content.length & 0xff)
  return Buffer.concat([Buffer.of(tag), length, content])
}
