import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { selfSignedCertificate } from '#custody/installation/index'
import type { ServerTls } from '#runtime/config'

/** The file that clients have to trust: it holds the certificate alone. */
export const certificateFile = (dataDir: string): string => join(dataDir, 'tls', 'certificate.pem')

const pairFile = (dataDir: string) => join(dataDir, 'tls', 'server.pem')

const yearMs = 365 * 86_400_000
/** A certificate that ends sooner is replaced. */
const leftMinMs = yearMs / 12

/**
 * Returns the certificate of a sandbox, which is for this machine alone and cannot sign others: the one in the data directory,
 * so that a client trusts it once, or a new one.
 */
export async function openServerTls(dataDir: string, host: string, nowMs: number): Promise<ServerTls> {
  const hosts = [...new Set(['localhost', '127.0.0.1', '::1', host])]
  const kept = await readFile(pairFile(dataDir), 'utf8').catch(() => '')
  const [key, cert] = kept.split(/(?=-----BEGIN CERTIFICATE)/)
  if (key && cert && isGood(cert, hosts, nowMs)) return { key, cert }
  const made = makePair(hosts, nowMs)
  await mkdir(join(dataDir, 'tls'), { recursive: true, mode: 0o700 })
  await replaceFile(pairFile(dataDir), made.key + made.cert)
  await replaceFile(certificateFile(dataDir), made.cert)
  return made
}

function isGood(cert: string, hosts: readonly string[], nowMs: number): boolean {
  const read = new X509Certificate(cert)
  const names = hosts.map((host) => read.checkHost(host) ?? read.checkIP(host))
  return names.every(Boolean) && Date.parse(read.validTo) > nowMs + leftMinMs
}

function makePair(hosts: readonly string[], nowMs: number): ServerTls {
  const { privateKey: key } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const dates = { notBeforeMs: nowMs - 3_600_000, notAfterMs: nowMs + yearMs }
  return {
    key,
    cert: selfSignedCertificate({
      privateKey: createPrivateKey(key),
      name: 'Bezant sandbox',
      hosts,
      ...dates,
    }),
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

export const removeServerTls = (dataDir: string): Promise<void> =>
  rm(join(dataDir, 'tls'), { recursive: true, force: true })
