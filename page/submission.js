/**
 * Encrypts what the user entered for one challenge, in the format that the server describes: version, nonce, and the fields
 * under AES-256-GCM, bound to the user, the challenge and the purpose.
 */
const version = 1
const nonceBytes = 12

/** Imports the key of the session, which scripts cannot read afterwards. */
export async function importKey(text) {
  const bytes = bytesOf(text)
  try {
    return await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt'])
  } finally {
    bytes.fill(0)
  }
}

/** Seals fields of `[kind, bytes]`. The caller wipes the bytes. */
export async function seal({ key, userId, challengeId }, purpose, fields) {
  const plain = joined(fields)
  const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes))
  const additionalData = encode(['bezant submission 1', userId, challengeId, purpose].join('\n'))
  try {
    const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce, additionalData }, key, plain)
    return base64Of(Uint8Array.of(version, ...nonce, ...new Uint8Array(sealed)))
  } finally {
    plain.fill(0)
  }
}

function joined(fields) {
  const plain = new Uint8Array(fields.reduce((total, [, bytes]) => total + 3 + bytes.length, 0))
  let at = 0
  for (const [kind, bytes] of fields) {
    plain.set([kind.charCodeAt(0), bytes.length >> 8, bytes.length & 255], at)
    plain.set(bytes, at + 3)
    at += 3 + bytes.length
  }
  return plain
}

const encoder = new TextEncoder()
export const encode = (text) => encoder.encode(text)

const base64Of = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))

function bytesOf(text) {
  const binary = atob(text)
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0))
}

/** Overwrites secrets that are not needed any more. */
export function wipe(...secrets) {
  for (const secret of secrets) secret?.fill(0)
}

export const equal = (one, other) =>
  one.length === other.length && one.every((byte, index) => byte === other[index])
