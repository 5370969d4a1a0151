import type { Hex } from '#lib/hex'
import { hexOf } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Signature, UnsignedTransaction } from '../../facets/payments.ts'
import type { Network } from '../../networks/index.ts'
import { hashOfSigned, signedMessage } from '../encoding/hashes.ts'
import {
  encoded,
  rawTransactionLayout,
  sharedTransactionLayout,
  signedTransactionLayout,
} from '../encoding/layout.ts'
import { partsOfSignature, rawTransaction } from './build.ts'

/** The message that both the sender and the account that pays the fee sign. */
export function sharedPayloadOf(
  network: Network,
  transaction: UnsignedTransaction,
  feePayer: Address,
): Buffer {
  const raw = rawTransactionLayout.parse(rawTransaction(network, transaction))
  const shared = encoded(sharedTransactionLayout, { feePayer: { raw, secondaryAddresses: [], feePayer } })
  return signedMessage('shared', shared)
}

/** The transaction that both have signed. Throws where a signature is not one of theirs. */
export function attachBothSignatures(
  network: Network,
  transaction: UnsignedTransaction,
  feePayer: Address,
  signatures: { sender: Signature; feePayer: Signature },
): { raw: Hex; hash: Hex } {
  const message = sharedPayloadOf(network, transaction, feePayer)
  const sender = { ed25519: partsOfSignature(signatures.sender, transaction.from, message) }
  const feePayerSigner = { ed25519: partsOfSignature(signatures.feePayer, feePayer, message) }
  const signed = encoded(signedTransactionLayout, {
    raw: rawTransactionLayout.parse(rawTransaction(network, transaction)),
    authenticator: {
      feePayer: { sender, secondaryAddresses: [], secondarySigners: [], feePayer, feePayerSigner },
    },
  })
  return { raw: hexOf(signed), hash: hashOfSigned(signed) }
}
