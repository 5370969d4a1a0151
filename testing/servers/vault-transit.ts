/**
 * The transit secrets engine of Vault at the edge of the network: real AES-256-GCM with versions of keys and associated data, tokens
 * with policies, and the refusals of its documentation.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

type TransitKey = { versions: Buffer[]; minVersion: number }
type Asked = { path: string; token: string | undefined }

export type TestVault = {
  /** The address of the engine. */
  url: string
  /** Its requests, in order. */
  asked: Asked[]
  /** Its only valid token. */
  token: string
  /** Makes a key. */
  createKey(name: string): void
  /** Makes another version of a key, with which it encrypts from then on. */
  rotateKey(name: string): void
  /** Refuses ciphertexts of versions before the newest one. */
  refuseOldVersions(name: string): void
  renewToken(): string
  /** How it behaves from now on. A sealed one answers 503, a silent one nothing. */
  be(state: 'well' | 'sealed' | 'throttled' | 'silent' | 'failing' | 'elsewhere'): void
  /** Ends and begins listening, at the same port. */
  stop(): Promise<void>
  start(): Promise<void>
}

export async function openTestVault(): Promise<TestVault> {
  const keys = new Map<string, TransitKey>()
  const asked: Asked[] = []
  let state: Parameters<TestVault['be']>[0] = 'well'
  let token = `hvs.${randomBytes(18).toString('hex')}`
  let server: Server
  let port = 0
  const answerOf = (path: string, sent: string | undefined, body: Record<string, string>) => {
    if (state === 'sealed') return errors(503, 'Vault is sealed')
    if (state === 'throttled') return errors(429, 'request path "transit/": rate limit quota exceeded')
    if (state === 'failing') return errors(500, 'internal error')
    if (state === 'elsewhere') return { status: 200, body: '<html>Welcome</html>' }
    if (sent !== token) return errors(403, '2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n')
    const [, operation, name] = /^\/v1\/transit\/(encrypt|decrypt)\/([\w-]+)$/.exec(path) ?? []
    const key = keys.get(name ?? '')
    if (operation === undefined)
      return errors(404, `no handler for route "${path.slice(4)}". route entry not found.`)
    if (!key)
      return operation === 'encrypt'
        ? errors(403, '1 error occurred:\n\t* permission denied\n\n')
        : errors(400, 'encryption key not found')
    return operation === 'encrypt' ? encrypt(key, body) : decrypt(key, body)
  }
  const start = async () => {
    server = createServer(async (request, response) => {
      const path = request.url ?? ''
      const sent = request.headers['x-vault-token'] as string | undefined
      asked.push({ path, token: sent })
      const body = (await json(request).catch(() => ({}))) as Record<string, string>
      if (state === 'silent') return
      const { status, body: answer } = answerOf(path, sent, body)
      response.writeHead(status, { 'Content-Type': 'application/json' })
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    }).listen(port, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    port = (server.address() as AddressInfo).port
  }
  await start()
  return {
    url: `http://127.0.0.1:${port}/v1/transit`,
    asked,
    get token() {
      return token
    },
    createKey: (name) => void keys.set(name, { versions: [randomBytes(32)], minVersion: 1 }),
    rotateKey: (name) => void keys.get(name)!.versions.push(randomBytes(32)),
    refuseOldVersions: (name) => {
      const key = keys.get(name)!
      key.minVersion = key.versions.length
    },
    renewToken: () => (token = `hvs.${randomBytes(18).toString('hex')}`),
    be: (next) => {
      state = next
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    start,
  }
}

const errors = (status: number, ...said: string[]) => ({ status, body: { errors: said } })
const data = (fields: object) => ({
  status: 200,
  body: { request_id: randomBytes(8).toString('hex'), data: fields },
})

function encrypt(
  { versions }: TransitKey,
  { plaintext = '', associated_data: aad = '' }: Record<string, string>,
) {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', versions.at(-1)!, iv).setAAD(Buffer.from(aad, 'base64'))
  const bytes = Buffer.concat([iv, cipher.update(plaintext, 'base64'), cipher.final(), cipher.getAuthTag()])
  return data({
    ciphertext: `vault:v${versions.length}:${bytes.toString('base64')}`,
    key_version: versions.length,
  })
}

function decrypt(
  { versions, minVersion }: TransitKey,
  { ciphertext = '', associated_data: aad = '' }: Record<string, string>,
) {
  const [, version = '', text = ''] = /^vault:v(\d+):([\w+/=]+)$/.exec(ciphertext) ?? []
  const key = versions[Number(version) - 1]
  if (!key) return errors(400, 'invalid ciphertext: no prefix')
  if (Number(version) < minVersion)
    return errors(400, 'ciphertext or signature version is disallowed by policy (too old)')
  const bytes = Buffer.from(text, 'base64')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(
      Buffer.from(aad, 'base64'),
    )
    decipher.setAuthTag(bytes.subarray(-16))
    const plain = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
    return data({ plaintext: plain.toString('base64') })
  } catch {
    return errors(400, 'cipher: message authentication failed')
  }
}
