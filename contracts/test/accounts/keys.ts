import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import {
  concatHex,
  encodeAbiParameters,
  encodePacked,
  type Hex,
  hashMessage,
  hexToBytes,
  keccak256,
  numberToHex,
  pad,
  size,
  toHex,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { FirstOwners } from '#chains/evm/accounts/account'

/** A signer of digests for an account: its id, and its part of the signature for operations or messages. */
export type Signer = { id: Hex; signPart(digest: Hex, isOperation: boolean): Promise<Part> }
/** The 65 bytes of a part, and the assertion that its offset refers to, if any. */
export type Part = { id: Hex; head(offset: number): Hex; tail: Hex }

/** Signs as the parts of these signers in their order; the contract wants them ascending. */
export async function signBy(signers: readonly Signer[], digest: Hex, isOperation: boolean): Promise<Hex> {
  const parts = await Promise.all(signers.map((signer) => signer.signPart(digest, isOperation)))
  let offset = parts.length * 65
  const heads: Hex[] = []
  for (const { head, tail } of parts) {
    heads.push(head(offset))
    offset += size(tail)
  }
  return concatHex([...heads, ...parts.map(({ tail }) => tail)])
}

export const ascending = (signers: readonly Signer[]) =>
  [...signers].sort((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1))

const personal = 32

/** The key of an address. `change` alters its 65 bytes before they are used. */
export function addressSigner(account: PrivateKeyAccount, change = (bytes: Hex): Hex => bytes): Signer {
  const id = pad(account.address)
  return {
    id,
    signPart: async (digest, isOperation) => {
      const signed = isOperation ? hashMessage({ raw: digest }) : digest
      const signature = await account.sign({ hash: signed })
      const v = Number.parseInt(signature.slice(-2), 16) + (isOperation ? personal : 0)
      const bytes = change(concatHex([signature.slice(0, -2) as Hex, toHex(v, { size: 1 })]))
      return { id, head: () => bytes, tail: '0x' }
    },
  }
}

const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const secp256k1Order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The same signature with the other solution for s, which recovers the same key. */
export const malleated = (bytes: Hex): Hex => {
  const s = secp256k1Order - BigInt(`0x${bytes.slice(66, 130)}`)
  const v = Number.parseInt(bytes.slice(130), 16)
  const other = v % 2 === 1 ? v + 1 : v - 1
  return concatHex([bytes.slice(0, 66) as Hex, toHex(s, { size: 32 }), toHex(other, { size: 1 })])
}

export type PasskeyOptions = {
  type?: string
  challenge?: Hex
  /** Bit 0: the user was present. Bit 2: the user was verified. */
  flags?: number
  highS?: boolean
}

/** A P-256 key that signs as an authenticator and the published client do. */
export type Passkey = Signer & {
  x: bigint
  y: bigint
  /** The hash of the key; its last 30 bytes are the id of the owner. */
  keyHash: Hex
  signer(options: PasskeyOptions): Signer
  /** Signs as an authenticator, for the published client. */
  authenticate(challenge: Hex): Ceremony
}

export function makePasskey(): Passkey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x: x64, y: y64 } = publicKey.export({ format: 'jwk' })
  const [x, y] = [x64!, y64!].map((text) => BigInt(toHex(Buffer.from(text, 'base64url')))) as [bigint, bigint]
  const id = keccak256(encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [x, y]))
  const signer = (options: PasskeyOptions): Signer => ({
    id,
    signPart: async (digest, isOperation) => {
      const challenge = options.challenge ?? (isOperation ? hashMessage({ raw: digest }) : digest)
      const assertion = assert(privateKey, challenge, options)
      const kind = 2 + (isOperation ? personal : 0)
      return {
        id,
        head: (offset) => encodePacked(['bytes32', 'uint256', 'uint8'], [id, BigInt(offset), kind]),
        tail: encodePacked(['uint256', 'bytes'], [BigInt(size(assertion)), assertion]),
      }
    },
  })
  // The order of owners is that of the 30 bytes that identify them.
  const authenticate = (challenge: Hex) => ceremony(privateKey, challenge, {})
  return { ...signer({}), id: `0x${id.slice(6)}`, keyHash: id, x, y, signer, authenticate }
}

/** The passkey as the client takes it from a page. */
export const clientPasskey = ({ x, y, authenticate }: Passkey) => ({
  type: 'webAuthn',
  publicKey: concatHex([numberToHex(x, { size: 32 }), numberToHex(y, { size: 32 })]),
  sign: async ({ hash }: { hash: Hex }) => {
    const { authenticatorData, r, s, ...webauthn } = authenticate(hash)
    return {
      signature: concatHex([numberToHex(r, { size: 32 }), numberToHex(s, { size: 32 })]),
      webauthn: {
        ...webauthn,
        authenticatorData: toHex(authenticatorData),
        userVerificationRequired: true,
      },
    }
  },
})

const assertionParameters = [
  {
    type: 'tuple',
    components: [
      {
        name: 'data',
        type: 'tuple',
        components: [
          { name: 'authenticatorData', type: 'bytes' },
          { name: 'clientDataJSON', type: 'bytes' },
          { name: 'challengeIndex', type: 'uint256' },
          { name: 'typeIndex', type: 'uint256' },
          { name: 'requireUserVerification', type: 'bool' },
        ],
      },
      { name: 'r', type: 'uint256' },
      { name: 's', type: 'uint256' },
    ],
  },
] as const

/** The answer of an authenticator, and where its JSON has the parts that contracts look for. */
export type Ceremony = {
  authenticatorData: Buffer
  clientDataJSON: string
  challengeIndex: number
  typeIndex: number
  r: bigint
  s: bigint
}

function ceremony(
  privateKey: KeyObject,
  challenge: Hex,
  { type = 'webauthn.get', flags = 0x05, highS = false }: PasskeyOptions,
): Ceremony {
  const encoded = Buffer.from(hexToBytes(challenge)).toString('base64url')
  const clientDataJSON = `{"type":"${type}","challenge":"${encoded}","origin":"https://shop.example"}`
  const authenticatorData = Buffer.concat([sha256('shop.example'), Buffer.from([flags, 0, 0, 0, 1])])
  const signed = Buffer.concat([authenticatorData, sha256(clientDataJSON)])
  const signature = sign('sha256', signed, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)].map((part) => BigInt(toHex(part)))
  const low = s! > order / 2n ? order - s! : s!
  return {
    authenticatorData,
    clientDataJSON,
    challengeIndex: clientDataJSON.indexOf('"challenge"'),
    typeIndex: clientDataJSON.indexOf('"type"'),
    r: r!,
    s: highS ? order - low : low,
  }
}

function assert(privateKey: KeyObject, challenge: Hex, options: PasskeyOptions): Hex {
  const { authenticatorData, clientDataJSON, r, s, ...indexes } = ceremony(privateKey, challenge, options)
  const data = {
    authenticatorData: toHex(authenticatorData),
    clientDataJSON: toHex(clientDataJSON),
    challengeIndex: BigInt(indexes.challengeIndex),
    typeIndex: BigInt(indexes.typeIndex),
    requireUserVerification: true,
  }
  return encodeAbiParameters(assertionParameters, [{ data, r, s }])
}

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest()

/** Owners of equal weight. */
export const ownersOf = (
  accounts: readonly PrivateKeyAccount[],
  keys: readonly Passkey[],
  threshold = 1n,
): FirstOwners => ({
  sender: accounts[0] ? pad(accounts[0].address) : pad(keys[0]!.id),
  owners: accounts.map(({ address }) => ({ address, weight: 1n })),
  keys: keys.map(({ x, y }) => ({ x, y, weight: 1n })),
  threshold,
})
