import { createPublicKey } from 'node:crypto'
import { badParams } from '#api/json-rpc/method'

/** A SubjectPublicKeyInfo of P-256 up to the coordinates: the algorithm, the curve, and the mark of an uncompressed point. */
const spkiStart = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex')

/** The COSE key of ES256 around the coordinates. */
const coseStart = Buffer.from('a5010203262001215820', 'hex')
const coseMiddle = Buffer.from('225820', 'hex')

/** The COSE form of a stored key, as the library takes it. */
export const coseOf = (spki: Buffer): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(
    Buffer.concat([
      coseStart,
      spki.subarray(spkiStart.length, spkiStart.length + 32),
      coseMiddle,
      spki.subarray(-32),
    ]),
  )

/** The SubjectPublicKeyInfo of the coordinates of a point. Throws unless it is on the curve. */
export function spkiOf(x: Uint8Array, y: Uint8Array): Buffer {
  const key = Buffer.concat([spkiStart, x, y])
  try {
    createPublicKey({ key, format: 'der', type: 'spki' })
    return key
  } catch {
    throw badParams('params[0].response.attestationObject has a public key that is no point of P-256')
  }
}
