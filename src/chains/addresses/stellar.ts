import { decodeBase32 } from '#chains/addresses/base-encodings'

const accountVersion = 6 << 3

/** A classic account (SEP-23, "G…"): version, public key of 32 bytes and CRC-16, in base32. */
export function isStellarAddress(text: string): boolean {
  const bytes = decodeBase32(text)
  if (bytes?.length !== 35 || bytes[0] !== accountVersion) return false
  return crc16(bytes.subarray(0, 33)) === bytes.readUInt16LE(33)
}

/** XMODEM: polynomial 0x1021, starting at zero. */
function crc16(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
  }
  return crc
}
