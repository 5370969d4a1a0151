import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { authorizationsOn } from '#chains/facets/optional'
import type { Permits, PermitTerms } from '#chains/facets/permits'
import type { Ctx } from '#engines/ctx'
import { type OfferedPayment, type PaymentRefusal, refusedFor } from '#engines/facilitator/index'
import { invalid } from '#lib/errors'
import { isHex } from '#lib/hex'
import { chainNamed } from './networks.ts'
import {
  addressAt,
  assetOf,
  hexAt,
  readIdentifier,
  readPayment,
  readRequired,
  waitMsOfSeller,
  wholeAt,
} from './read-payment.ts'
import type { PaymentBody } from './schema.ts'

/** Reads a payment, by whichever signature. Throws `invalidRequest` for what no version has; a refusal is for what this server lacks. */
export function readOffered(ctx: Ctx, body: PaymentBody): OfferedPayment | PaymentRefusal {
  const { scheme } = body.paymentRequirements
  const offer = body.paymentPayload.accepted ?? body.paymentPayload
  const isPermit = body.paymentPayload.payload['permit2Authorization'] !== undefined
  if (!isPermit && scheme === 'exact') return readPayment(ctx, body)
  const isKnown = scheme === 'exact' || (scheme === 'upto' && body.x402Version === 2)
  if (!isKnown || offer.scheme !== scheme) return refusedFor('unsupported_scheme')
  if (!isPermit || body.x402Version === 1) return refusedFor('unsupported_payload_type')
  return readPermit(ctx, body, scheme as PermitTerms['scheme'])
}

function readPermit(
  ctx: Ctx,
  { x402Version, paymentPayload, paymentRequirements }: PaymentBody,
  scheme: PermitTerms['scheme'],
): OfferedPayment | PaymentRefusal {
  const { network, asset } = paymentRequirements
  const chain = chainNamed(ctx, x402Version, network)
  const permits = chain && authorizationsOn(chain).permits
  if (!permits) return refusedFor('unsupported_network', `It is not ${network}: see /supported.`)
  if (paymentPayload.accepted?.network !== network)
    return refusedFor(
      scheme === 'upto' ? 'invalid_upto_evm_network_mismatch' : 'invalid_exact_evm_network_mismatch',
    )
  const token = assetOf(chain, asset)
  if (token === undefined) return refusedFor('unsupported_asset')
  const required = {
    ...readRequired(chain, x402Version, paymentRequirements),
    withinMs: waitMsOfSeller(paymentRequirements),
  }
  const read = readAuthorized(chain, scheme, paymentPayload.payload)
  if (read.spender !== permits.spenderOf(scheme)) return refusedFor('invalid_permit2_spender')
  if (read.permitted !== token) return refusedFor('permit2_token_mismatch')
  const { spender: _, permitted: __, permit, ...terms } = read
  const approval = readApproval(chain, permits, paymentPayload, {
    token,
    from: terms.from,
    amountAtomic: permit.maxAtomic,
  })
  if (approval !== undefined && 'reason' in approval) return approval
  const amountAtomic = scheme === 'exact' ? permit.maxAtomic : required.amountAtomic
  const { blockchain } = chain.network
  const signed = { blockchain, token, amountAtomic, ...terms, permit: { ...permit, approval } }
  return { chain, required, signed, identifier: readIdentifier(paymentPayload) }
}

/** The refusal of a payment that is verified for less than its payer signed: what is delivered for it may cost all of it. */
export const refusedMaximum = ({ signed, required }: OfferedPayment): PaymentRefusal | undefined =>
  signed.permit && signed.permit.maxAtomic !== required.amountAtomic
    ? refusedFor('permit2_amount_mismatch')
    : undefined

const at = 'paymentPayload.payload'
const fieldsOf = (value: unknown) => (value ?? {}) as Record<string, unknown>

/** The permit that a payer signed, and the signature. Throws `invalidRequest`. */
function readAuthorized(
  chain: Chain,
  scheme: PermitTerms['scheme'],
  { signature, permit2Authorization }: Record<string, unknown>,
) {
  const root = `${at}.permit2Authorization`
  const fields = fieldsOf(permit2Authorization)
  const permitted = fieldsOf(fields['permitted'])
  const witness = fieldsOf(fields['witness'])
  const permit: PermitTerms = {
    scheme,
    maxAtomic: wholeAt(`${root}.permitted.amount`, permitted['amount']),
    ...(scheme === 'upto' && {
      sender: addressAt(chain, `${root}.witness.facilitator`, witness['facilitator']),
    }),
  }
  const nonce = wholeAt(`${root}.nonce`, fields['nonce'])
  return {
    from: addressAt(chain, `${root}.from`, fields['from']),
    to: addressAt(chain, `${root}.witness.to`, witness['to']),
    spender: addressAt(chain, `${root}.spender`, fields['spender']),
    permitted: addressAt(chain, `${root}.permitted.token`, permitted['token']),
    validAfter: wholeAt(`${root}.witness.validAfter`, witness['validAfter']),
    validBefore: wholeAt(`${root}.deadline`, fields['deadline']),
    nonce: `0x${nonce.toString(16).padStart(64, '0')}` as const,
    signature: hexAt(`${at}.signature`, signature),
    permit,
  }
}

/** The extension by which a payer approves Permit2 without gas. */
export const approvalExtension = 'eip2612GasSponsoring'

/** The approval of Permit2 that a payer signed, where it did: sellers declare the extension, and payers may give back what they declared. */
function readApproval(
  chain: Chain,
  permits: Permits,
  { extensions }: PaymentBody['paymentPayload'],
  payment: { token: Address; from: Address; amountAtomic: bigint },
): PermitTerms['approval'] | PaymentRefusal {
  const { info } = fieldsOf(extensions?.[approvalExtension])
  const fields = fieldsOf(info)
  const { signature } = fields
  if (signature === undefined) return undefined
  const where = `paymentPayload.extensions.${approvalExtension}.info`
  if (!isHex(signature, 65))
    throw invalid({
      at: `${where}.signature`,
      reason: 'must be 0x and 65 bytes in hexadecimal digits',
      value: signature,
    })
  if (addressAt(chain, `${where}.from`, fields['from']) !== payment.from)
    return refusedFor('eip2612_from_mismatch')
  if (addressAt(chain, `${where}.asset`, fields['asset']) !== payment.token)
    return refusedFor('eip2612_asset_mismatch')
  if (addressAt(chain, `${where}.spender`, fields['spender']) !== permits.takenBy)
    return refusedFor('eip2612_spender_not_permit2')
  if (wholeAt(`${where}.amount`, fields['amount']) !== payment.amountAtomic)
    return refusedFor('permit2_2612_amount_mismatch')
  return { validBefore: wholeAt(`${where}.deadline`, fields['deadline']), signature }
}
