import { type KeyObject, sign } from 'node:crypto'

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A JWT with any header and claims, signed by RSA with SHA-256 whatever the header says. */
export function signJwt(header: object, claims: object, key: KeyObject): string {
  const signed = `${encoded(header)}.${encoded(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}
