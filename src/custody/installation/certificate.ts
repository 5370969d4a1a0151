import { createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'

// Writes a self-signed X.509 certificate in DER (RFC 5280), with only the ASN.1 that its fixed shape needs. node:crypto makes
// and checks the signature and parses the result; it has no call that writes a certificate.

const sequence = 0x30
const set = 0x31
const integer = 0x02
const bitString = 0x03
const octetString = 0x04
/** Context-specific, in a GeneralName: a DNS name, and an IP address. */
const dnsName = 0x82
const ipAddress = 0x87
const nothing = 0x05
const objectId = 0x06
const utf8 = 0x0c
const utcTime = 0x17
const generalizedTime = 0x18
const boolean = 0x01
/** Context-specific and constructed: the version, and the extensions. */
const tagged = (number: number) => 0xa0 + number

const sha256WithRsa = '1.2.840.113549.1.1.11'
const sha256WithEcdsa = '1.2.840.10045.4.3.2'
const commonName = '2.5.4.3'
const keyUsage = '2.5.29.15'
const subjectAltName = '2.5.29.17'
const basicConstraints = '2.5.29.19'
const extendedKeyUsage = '2.5.29.37'
const serverAuth = '1.3.6.1.5.5.7.3.1'

type CertificateInput = {
  /** An RSA key, or one of an elliptic curve. */
  privateKey: KeyObject
  name: string
  notBeforeMs: number
  notAfterMs: number
  /** Names and addresses of the TLS server that the certificate is for; absent where it is for signatures alone. */
  hosts?: readonly string[]
}

/** Returns a certificate of the key's public key, signed with the key itself, in PEM. It is no authority for other certificates. */
export function selfSignedCertificate({
  privateKey,
  name,
  notBeforeMs,
  notAfterMs,
  hosts = [],
}: CertificateInput): string {
  const isRsa = privateKey.asymmetricKeyType === 'rsa'
  const algorithm = isRsa
    ? der(sequence, oid(sha256WithRsa), der(nothing))
    : der(sequence, oid(sha256WithEcdsa))
  const who = der(sequence, der(set, der(sequence, oid(commonName), der(utf8, Buffer.from(name)))))
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  // Positive and never zero: the first bit is off, the second one on.
  const serial = randomBytes(16)
  serial[0] = (serial[0]! & 0x3f) | 0x40
  const tbs = der(
    sequence,
    der(tagged(0), der(integer, Buffer.of(2))),
    der(integer, serial),
    algorithm,
    who,
    der(sequence, time(notBeforeMs), time(notAfterMs)),
    who,
    publicKey,
    der(
      tagged(3),
      der(
        sequence,
        extension(basicConstraints, der(sequence)),
        // The first bit: digitalSignature.
        extension(keyUsage, der(bitString, Buffer.of(7, 0x80))),
        ...(hosts.length > 0 ? serverExtensions(hosts) : []),
      ),
    ),
  )
  const signature = sign('sha256', tbs, privateKey)
  const bytes = der(sequence, tbs, algorithm, der(bitString, Buffer.of(0), signature))
  const lines = bytes.toString('base64').match(/.{1,64}/g)!
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

const serverExtensions = (hosts: readonly string[]) => [
  extension(extendedKeyUsage, der(sequence, oid(serverAuth))),
  extension(subjectAltName, der(sequence, ...hosts.map(generalName))),
]

const generalName = (host: string) =>
  isIP(host) === 0
    ? der(dnsName, Buffer.from(host))
    : der(ipAddress, Buffer.from(isIP(host) === 4 ? host.split('.').map(Number) : groupsOf(host)))

/** The 16 bytes of an IPv6 address, which the URL parser writes out as hexadecimal groups. */
function groupsOf(host: string): number[] {
  const [left = '', right] = new URL(`http://[${host}]`).hostname.slice(1, -1).split('::')
  const before = left.split(':').filter(Boolean)
  const after = (right ?? '').split(':').filter(Boolean)
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff])
}

const extension = (id: string, value: Buffer) =>
  der(sequence, oid(id), der(boolean, Buffer.of(0xff)), der(octetString, value))

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length)
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  const digits = bytes.subarray(bytes.findIndex((byte) => byte !== 0))
  return Buffer.concat([Buffer.of(0x80 + digits.length), digits])
}

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  return der(objectId, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const digits = [value & 0x7f]
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80)
  return digits
}

/** Encodes a date with a two-digit year until 2049 and a four-digit year from 2050: RFC 5280, section 4.1.2.5. */
function time(atMs: number): Buffer {
  const text = `${new Date(atMs).toISOString().slice(0, 19).replaceAll(/\D/g, '')}Z`
  return text < '2050' ? der(utcTime, Buffer.from(text.slice(2))) : der(generalizedTime, Buffer.from(text))
}
