/**
 * Google Cloud KMS at the edge of the network, with the server of metadata that gives tokens to the machines of its cloud: it verifies
 * tokens, encrypts with real AES-256-GCM and additional authenticated data, and has the errors of its documentation.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type TestGoogleKms = {
  /** The address of its key. */
  keyUrl: string
  /** The environment of a machine whose role it knows. */
  env: Record<string, string>
  /** The error that all requests get from now on, after their token was verified. */
  fail(error: { status: number; name: string } | undefined): void
  /** Gives tokens from now on, or fails to. */
  tokens(state: 'given' | 'failing'): void
  /** Ends all tokens. */
  endTokens(): void
  close(): void
}

type GoogleRequest = { plaintext?: string; ciphertext?: string; additionalAuthenticatedData?: string }

const keyName = 'projects/test/locations/europe-west1/keyRings/bezant/cryptoKeys/root'

export async function openTestGoogleKms(): Promise<TestGoogleKms> {
  const key = randomBytes(32)
  const given = new Set<string>()
  let failure: { status: number; name: string } | undefined
  let state: Parameters<TestGoogleKms['tokens']>[0] = 'given'
  const metadata = (path: string) => {
    if (!path.startsWith('/computeMetadata/v1/instance/service-accounts/default/token'))
      return { status: 200, body: {} }
    if (state === 'failing') return { status: 503, body: {} }
    const token = `ya29.${randomBytes(24).toString('hex')}`
    given.add(token)
    return { status: 200, body: { access_token: token, expires_in: 3_599, token_type: 'Bearer' } }
  }
  const run = (path: string, token: string | undefined, body: GoogleRequest) => {
    if (token === undefined || !given.has(token)) return fault(401, 'UNAUTHENTICATED')
    if (failure) return fault(failure.status, failure.name)
    const [, name, operation] = /^\/v1\/(.+):(encrypt|decrypt)$/.exec(path) ?? []
    if (name !== keyName) return fault(404, 'NOT_FOUND')
    const aad = Buffer.from(body.additionalAuthenticatedData ?? '', 'base64')
    if (operation === 'encrypt') {
      const ciphertext = encrypt(key, aad, Buffer.from(body.plaintext ?? '', 'base64'))
      return {
        status: 200,
        body: { name: `${keyName}/cryptoKeyVersions/1`, ciphertext: ciphertext.toString('base64') },
      }
    }
    const plain = decrypt(key, aad, Buffer.from(body.ciphertext ?? '', 'base64'))
    return plain
      ? { status: 200, body: { plaintext: plain.toString('base64') } }
      : fault(400, 'INVALID_ARGUMENT')
  }
  const server = createServer(async (request, response) => {
    const sent = await text(request)
    const { url: path = '', headers } = request
    // The server of metadata answers programs of the machine alone, which say what they want.
    const isMetadata = headers['metadata-flavor'] === 'Google' && path.startsWith('/computeMetadata/')
    const answer = isMetadata
      ? metadata(path)
      : run(path, /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1], JSON.parse(sent || '{}'))
    response
      .writeHead(answer.status, {
        'Content-Type': 'application/json',
        ...(isMetadata && { 'Metadata-Flavor': 'Google' }),
      })
      .end(JSON.stringify(answer.body))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    keyUrl: `http://${host}/v1/${keyName}`,
    env: { GCE_METADATA_HOST: host },
    fail: (error) => {
      failure = error
    },
    tokens: (next) => {
      state = next
    },
    endTokens: () => given.clear(),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const fault = (code: number, status: string) => ({
  status: code,
  body: { error: { code, status, message: 'as documented' } },
})

function encrypt(key: Buffer, aad: Buffer, plain: Buffer): Buffer {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(aad)
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: Buffer, aad: Buffer, bytes: Buffer): Buffer | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(aad)
    decipher.setAuthTag(bytes.subarray(-16))
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
  } catch {
    return undefined
  }
}
