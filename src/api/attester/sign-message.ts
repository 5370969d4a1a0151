import type { Static } from 'typebox'
import { canonicalAddress, canonicalTxId } from '#chains/addresses/canonical'
import {
  agreeOnMessage,
  type FastAgreement,
  type SignatureRequest,
  signProposed,
} from '#engines/attestation/index'
import type { Ctx } from '#engines/ctx'
import type { Hex } from '#lib/hex'
import type { signatureBody } from './schema.ts'

type SignatureBody = Static<typeof signatureBody>

const requestOf = ({ domain, nonce, message, attester }: SignatureBody): SignatureRequest => ({
  domain,
  nonce: canonicalTxId(nonce) as Hex,
  message: message.toLowerCase() as Hex,
  attester: canonicalAddress(attester),
})

/** Asks the nodes whether they agree on the block of the message, before the `tx`. */
export const prepareSignature = (ctx: Ctx, body: SignatureBody): Promise<FastAgreement> =>
  agreeOnMessage(ctx, requestOf(body))

export async function signProposedMessage(ctx: Ctx, body: SignatureBody, agreement: FastAgreement) {
  return { signature: await signProposed(ctx, ctx.db, requestOf(body), agreement) }
}
