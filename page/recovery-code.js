/**
 * The recovery secret as a text that people copy: 32 bytes and the first 3 of their SHA-256 as 56 letters and digits, without
 * those that look alike.
 */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const secretBytes = 32
const checkBytes = 3
const codeLength = ((secretBytes + checkBytes) * 8) / 5

export async function codeOf(secret) {
  const bytes = Uint8Array.of(...secret, ...(await checkOf(secret)))
  let code = ''
  for (let at = 0; at < codeLength; at++) code += alphabet[fiveBits(bytes, at)]
  bytes.fill(0)
  return code.match(/.{4}/g).join('-')
}

function fiveBits(bytes, index) {
  const bit = index * 5
  const pair = (bytes[bit >> 3] << 8) | (bytes[(bit >> 3) + 1] ?? 0)
  return (pair >> (11 - (bit & 7))) & 31
}

/** The secret of a code, however it is spaced; `undefined` when a letter is wrong or missing. The caller wipes it. */
export async function secretOf(text) {
  const letters = text.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')
  const digits = Array.from(letters, (letter) => alphabet.indexOf(letter))
  if (digits.length !== codeLength || digits.includes(-1)) return undefined
  const bytes = new Uint8Array(secretBytes + checkBytes)
  digits.forEach((digit, index) => {
    const bit = index * 5
    const shifted = digit << (11 - (bit & 7))
    bytes[bit >> 3] |= shifted >> 8
    if ((bit >> 3) + 1 < bytes.length) bytes[(bit >> 3) + 1] |= shifted & 255
  })
  const secret = bytes.slice(0, secretBytes)
  const check = await checkOf(secret)
  const isRight = check.every((byte, index) => byte === bytes[secretBytes + index])
  bytes.fill(0)
  if (isRight) return secret
  secret.fill(0)
  return undefined
}

async function checkOf(secret) {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', secret)).slice(0, checkBytes)
}
