/**
 * AWS KMS at the edge of the network: it verifies Signature Version 4, encrypts with real AES-256-GCM under the encryption context,
 * and has the errors of its documentation.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

type KeyState = 'Enabled' | 'Disabled' | 'PendingDeletion'
type Context = Record<string, string>

export type TestAwsKms = {
  url: string
  keyArn: string
  /** The environment with credentials that it accepts. */
  env: Record<string, string>
  /** The encryption contexts of requests that it granted, as a log of its owner shows them. */
  granted: { operation: string; context: Context }[]
  set(state: KeyState): void
  /** The error that all requests get from now on, after their signature was verified. */
  fail(error: { status: number; type: string } | undefined): void
  /** Makes the former wrapped keys unreadable, as another key does. */
  replaceKey(): void
  close(): void
}

const region = 'eu-central-1'
const account = '111122223333'
const clockMs = 300_000

export async function openTestAwsKms(): Promise<TestAwsKms> {
  const keyArn = `arn:aws:kms:${region}:${account}:key/1234abcd-12ab-34cd-56ef-1234567890ab`
  const accessKeyId = 'AKIAIOSFODNN7EXAMPLE'
  const secret = randomBytes(30).toString('base64')
  const granted: TestAwsKms['granted'] = []
  let key = randomBytes(32)
  let state: KeyState = 'Enabled'
  let failure: { status: number; type: string } | undefined
  const run = (operation: string, body: KmsRequest) => {
    if (body.KeyId !== keyArn) return fault('NotFoundException', `Key '${body.KeyId}' does not exist`)
    if (state === 'Disabled') return fault('DisabledException', `${keyArn} is disabled.`)
    if (state === 'PendingDeletion')
      return fault('KMSInvalidStateException', `${keyArn} is pending deletion.`)
    const context = body.EncryptionContext ?? {}
    const aad = Buffer.from(JSON.stringify(Object.entries(context).toSorted()))
    granted.push({ operation, context })
    if (operation === 'Encrypt')
      return ok({
        KeyId: keyArn,
        CiphertextBlob: encrypt(key, aad, body.Plaintext ?? ''),
        EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
      })
    const plain = decrypt(key, aad, body.CiphertextBlob ?? '')
    return plain === undefined
      ? fault('InvalidCiphertextException', '')
      : ok({ KeyId: keyArn, Plaintext: plain, EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' })
  }
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const operation = /^TrentService\.(Encrypt|Decrypt)$/.exec(String(request.headers['x-amz-target']))?.[1]
    const refusal = refusalOf(request, body, { accessKeyId, secret })
    const answer = refusal
      ? fault(refusal, 'The request signature we calculated does not match the signature you provided.')
      : failure
        ? { ...fault(failure.type, 'as the test said'), status: failure.status }
        : operation
          ? run(operation, JSON.parse(body.toString()))
          : fault('UnknownOperationException', '')
    response.writeHead(answer.status, { 'Content-Type': 'application/x-amz-json-1.1' })
    response.end(JSON.stringify(answer.body))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    keyArn,
    env: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secret, AWS_ENDPOINT_URL_KMS: url },
    granted,
    set: (next) => {
      state = next
    },
    fail: (error) => {
      failure = error
    },
    replaceKey: () => {
      key = randomBytes(32)
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

type KmsRequest = { KeyId?: string; Plaintext?: string; CiphertextBlob?: string; EncryptionContext?: Context }

const ok = (body: object) => ({ status: 200, body })
const fault = (type: string, message: string) => ({ status: 400, body: { __type: type, message } })

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The error for a request that is not signed by these credentials now (Signature Version 4). */
function refusalOf(
  { headers, method = '', url = '' }: IncomingMessage,
  body: Buffer,
  { accessKeyId, secret }: { accessKeyId: string; secret: string },
): string | undefined {
  const authorization =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/kms\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
  const found = authorization.exec(headers.authorization ?? '')
  if (!found) return 'MissingAuthenticationToken'
  const [, given, day = '', at = '', names = '', signature = ''] = found
  if (given !== accessKeyId) return 'UnrecognizedClientException'
  const time = String(headers['x-amz-date'])
  const [, date, ...clock] = /^(\d{4}\d{2}\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(time) ?? []
  if (date !== day || at !== region) return 'IncompleteSignature'
  const ms = Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${clock.join(':')}Z`)
  if (Math.abs(ms - Date.now()) > clockMs) return 'SignatureDoesNotMatch'
  const signed = names.split(';')
  if (!['host', 'x-amz-date', 'x-amz-target'].every((name) => signed.includes(name)))
    return 'IncompleteSignature'
  const canonical = [
    ...[method, url, ''],
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    ...['', names, sha256(body)],
  ].join('\n')
  const scope = `${day}/${at}/kms/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = [day, at, 'kms', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  const isSame = timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'))
  return isSame ? undefined : 'InvalidSignatureException'
}

function encrypt(key: Buffer, aad: Buffer, plain: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(aad)
  const bytes = Buffer.concat([iv, cipher.update(plain, 'base64'), cipher.final(), cipher.getAuthTag()])
  return bytes.toString('base64')
}

function decrypt(key: Buffer, aad: Buffer, text: string): string | undefined {
  const bytes = Buffer.from(text, 'base64')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(aad)
    decipher.setAuthTag(bytes.subarray(-16))
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('base64')
  } catch {
    return undefined
  }
}
