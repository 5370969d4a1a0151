import { createHash, createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { Family } from '#custody/families/family'

const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

const keyObject = (privateKey: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8, privateKey]), format: 'der', type: 'pkcs8' })

const addressOf = (privateKey: Uint8Array): string =>
  createPublicKey(keyObject(privateKey)).export({ type: 'spki', format: 'der' }).subarray(12).toString('hex')

/** Keys on Ed25519, which sign whole messages; an address is the public key. */
export const ledgerKeys: Family = {
  derive: async (_, seed, indexes) =>
    indexes.map((index) => {
      const privateKey = createHmac('sha256', seed).update(`ledger ${index}`).digest()
      return { index, privateKey, address: addressOf(privateKey) }
    }),
  addressOf: (_, privateKey) => addressOf(privateKey),
  sign: (_, payload, privateKey) => sign(null, payload, keyObject(privateKey)),
  digestOf: (payload) => createHash('sha256').update(payload).digest(),
}
