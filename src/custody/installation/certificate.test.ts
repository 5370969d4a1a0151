import { execFileSync } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { selfSignedCertificate } from './certificate.ts'

const pair = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const privateKey = createPrivateKey(pair.privateKey)
const at = (text: string) => Date.parse(text)
const make = (from: string, to: string, name = 'Bezant notifications') =>
  selfSignedCertificate({ privateKey, name, notBeforeMs: at(from), notAfterMs: at(to) })

describe('a certificate', () => {
  it.each([
    ['2026-11-21T10:40:07.999Z', '2031-11-20T00:00:00Z'],
    ['2026-01-01T00:00:00Z', '2049-12-31T23:59:59Z'],
    ['2049-12-31T23:59:59Z', '2050-01-01T00:00:00Z'],
    ['2051-06-30T12:00:00Z', '2099-12-31T23:59:59Z'],
  ])('is read as it was meant, good from %s to %s', (from, to) => {
    const read = new X509Certificate(make(from, to))
    const seconds = (text: string) => Math.floor(at(text) / 1_000)
    expect([seconds(read.validFrom), seconds(read.validTo)]).toEqual([seconds(from), seconds(to)])
    expect(read.subject).toBe('CN=Bezant notifications')
    expect(read.issuer).toBe(read.subject)
    expect(read.ca).toBe(false)
    expect(read.checkPrivateKey(privateKey)).toBe(true)
    expect(read.verify(read.publicKey)).toBe(true)
    expect(read.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/)
  })

  it('has a serial number of its own, and room for a long name', () => {
    const made = Array.from(
      { length: 20 },
      () => new X509Certificate(make('2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z')),
    )
    expect(new Set(made.map(({ serialNumber }) => serialNumber)).size).toBe(20)
    const name = 'é'.repeat(200)
    expect(new X509Certificate(make('2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z', name)).subject).toBe(
      `CN=${name}`,
    )
  })

  it('is taken by openssl, where that is installed', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bezant-certificate-'))
    try {
      const path = join(folder, 'certificate.pem')
      writeFileSync(path, make('2026-01-01T00:00:00Z', '2099-01-01T00:00:00Z'))
      const openssl = (...args: string[]) =>
        execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' })
      try {
        openssl('version')
      } catch {
        return
      }
      expect(openssl('x509', '-in', path, '-noout', '-text')).toContain('Digital Signature')
      const atime = String(Math.floor(at('2030-01-01T00:00:00Z') / 1_000))
      expect(
        openssl('verify', '-attime', atime, '-check_ss_sig', '-x509_strict', '-CAfile', path, path),
      ).toContain('OK')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
