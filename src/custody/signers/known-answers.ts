import { createHash } from 'node:crypto'
import { publicKeyOfEd25519, signEd25519 } from './ed25519.ts'
import type { Signer } from './signer.ts'

type KnownAnswer = { privateKey: string; message: string; r: string; s: string }

const one = '0000000000000000000000000000000000000000000000000000000000000001'
const two = '0000000000000000000000000000000000000000000000000000000000000002'
/** The order of the curve less one. */
const largest = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140'

/** Published RFC 6979 vectors for secp256k1 with SHA-256. */
const knownAnswers: readonly KnownAnswer[] = [
  {
    privateKey: one,
    message: 'Satoshi Nakamoto',
    r: '934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8',
    s: '2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5',
  },
  {
    privateKey: one,
    message: 'All those moments will be lost in time, like tears in rain. Time to die...',
    r: '8600dbd41e348fe5c9465ab92d23e3db8b98b873beecd930736488696438cb6b',
    s: '547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21',
  },
  {
    privateKey: largest,
    message: 'Satoshi Nakamoto',
    r: 'fd567d121db66e382991534ada77a6bd3106f0a1098c231e47993447cd6af2d0',
    s: '6b39cd0eb1bc8603e159ef5c20a5c8ad685a45b06ce9bebed3f153d10d93bed5',
  },
]

const generator =
  '0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798' +
  '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8'

/** Throws an error that names the first published answer from which the signer's differs. */
export function requireAnswers(signer: Signer): void {
  for (const { privateKey, message, r, s } of knownAnswers) {
    const digest = createHash('sha256').update(message).digest()
    const signature = signer.sign(digest, Buffer.from(privateKey, 'hex'))
    if (signature.toString('hex', 0, 64) !== r + s)
      throw new Error(`its signature of "${message.slice(0, 16)}" differs from the published one`)
  }
  const point = signer.publicKeyOf(Buffer.from(one, 'hex')).toString('hex')
  if (point !== generator) throw new Error('its public key of 1 is not the generator')
  const sum = Buffer.from(largest, 'hex')
  signer.addToPrivateKey(sum, Buffer.from(two, 'hex'))
  if (sum.toString('hex') !== one) throw new Error('its sum of the largest private key and 2 is not 1')
}

/** Published vectors of Ed25519 (RFC 8032, 7.1). */
const ed25519Answers = [
  {
    privateKey: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    privateKey: 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    publicKey: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    message: 'af82',
    signature:
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  },
]

/** Throws where the Ed25519 of this process differs from a published answer. */
export function requireEd25519Answers(sign = signEd25519): void {
  for (const { privateKey, publicKey, message, signature } of ed25519Answers) {
    const [key, bytes] = [Buffer.from(privateKey, 'hex'), Buffer.from(message, 'hex')]
    if (publicKeyOfEd25519(key).toString('hex') !== publicKey)
      throw new Error('the Ed25519 of this process gives another public key than the published one')
    if (sign(bytes, key).toString('hex') !== signature)
      throw new Error('the Ed25519 of this process gives another signature than the published one')
  }
}
