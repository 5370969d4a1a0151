import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** The parts of an answer that a test may falsify. Each default is that of an honest browser and authenticator. */
export type Falsified = {
  type?: string
  challenge?: string
  origin?: string
  rpId?: string
  /** Bits of the authenticator data: 1 user present, 4 user verified. */
  flags?: number
  counter?: number
  /** Changes the bytes that are signed after they were signed. */
  spoiled?: boolean
  client?: Record<string, unknown>
  userHandle?: string
  attestation?: 'none' | 'certificates'
  /** The curve point of the key; default: the authenticator's own. */
  point?: Buffer
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest()
const base64url = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64url')
const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)])
const byteString = (value: Buffer) =>
  Buffer.concat([Buffer.from([0x59, value.length >> 8, value.length & 255]), value])

/** The bytes of answers: what the browser collects, and the start of the authenticator data. */
const partsOf = (page: string) => ({
  clientData: (type: string, challenge: string, falsified: Falsified) =>
    Buffer.from(
      JSON.stringify({
        type: falsified.type ?? type,
        challenge: falsified.challenge ?? challenge,
        origin: falsified.origin ?? page,
        crossOrigin: false,
        ...falsified.client,
      }),
    ),
  data: ({ rpId, flags, counter }: Falsified, extra: number, defaultCounter: number) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter ?? defaultCounter)
    const bits = Buffer.from([(flags ?? 5) | extra])
    return Buffer.concat([sha256(rpId ?? new URL(page).hostname), bits, count])
  },
})

/** One passkey of ES256 in software, which answers the options of a server as a browser does. */
export function softwareAuthenticator(page = 'http://localhost:3000') {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ format: 'der', type: 'spki' })
  const id = randomBytes(32)
  const user = { handle: '' }
  const idText = base64url(id)

  const parts = partsOf(page)
  return {
    id: idText,
    /** In base64url. */
    publicKey: base64url(spki),
    register: (options: { challenge: string; user: { id: string } }, falsified: Falsified = {}) => {
      user.handle = options.user.id
      const clientDataJSON = base64url(parts.clientData('webauthn.create', options.challenge, falsified))
      const point = falsified.point ?? spki.subarray(-64)
      const cose = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        point.subarray(0, 32),
        Buffer.from('225820', 'hex'),
        point.subarray(32),
      ])
      const idLength = Buffer.from([0, id.length])
      const attested = Buffer.concat([Buffer.alloc(16), idLength, id, cose])
      const authData = Buffer.concat([parts.data(falsified, 0x40, 0), attested])
      const statement =
        falsified.attestation === 'certificates'
          ? [text('packed'), text('attStmt'), Buffer.from([0xa1]), text('x5c'), Buffer.from([0x80])]
          : [text('none'), text('attStmt'), Buffer.from([0xa0])]
      const attestation = [Buffer.from([0xa3]), text('fmt'), ...statement, text('authData')]
      const attestationObject = base64url(Buffer.concat([...attestation, byteString(authData)]))
      return {
        id: idText,
        rawId: idText,
        type: 'public-key',
        response: { clientDataJSON, attestationObject },
      }
    },
    logIn: (options: { challenge: string }, falsified: Falsified = {}) => {
      const clientData = parts.clientData('webauthn.get', options.challenge, falsified)
      const authenticatorData = parts.data(falsified, 0, 1)
      const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(clientData)]), privateKey)
      if (falsified.spoiled) signature[signature.length - 1]! ^= 1
      return {
        id: idText,
        rawId: idText,
        type: 'public-key',
        response: {
          clientDataJSON: base64url(clientData),
          authenticatorData: base64url(authenticatorData),
          signature: base64url(signature),
          userHandle: falsified.userHandle ?? user.handle,
        },
      }
    },
  }
}
