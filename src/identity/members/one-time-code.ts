import { createHmac, timingSafeEqual } from 'node:crypto'

/** One-time codes by time (RFC 6238), as every authenticator makes them: SHA-1, six digits, a new one each 30 seconds. */

export const codeKeyBytes = 20
const periodMs = 30_000

/** The code of a period, which is counted from 1970. */
export function codeAt(key: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', key).update(counter).digest()
  const number = mac.readUInt32BE(mac[19]! & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

/** The period that a code belongs to: the present one or one beside it, since clocks differ. Undefined for a wrong code. */
export function stepOfCode(key: Buffer, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const now = Math.floor(nowMs / periodMs)
  return [now, now - 1, now + 1].find((step) =>
    timingSafeEqual(Buffer.from(codeAt(key, step)), Buffer.from(code)),
  )
}

/** The address from which an authenticator takes the key, by hand or as a QR code. */
export const codeKeyUri = (name: string, key: Buffer): string =>
  `otpauth://totp/Bezant:${encodeURIComponent(name)}?secret=${base32(key)}&issuer=Bezant`

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Writes bytes in base 32 (RFC 4648); keys of 20 bytes need no padding. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replaceAll(/.{5}/g, (five) => letters[Number.parseInt(five, 2)]!)
}
