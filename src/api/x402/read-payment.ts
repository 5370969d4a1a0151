import { parseAddress } from '#chains/address'
import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { TimedAuthorization } from '#chains/facets/authorizations'
import { stablecoinsOf, tokenAddress } from '#chains/network'
import type { Ctx } from '#engines/ctx'
import { type OfferedPayment, type PaymentRefusal, refusedFor } from '#engines/facilitator/index'
import { invalid } from '#lib/errors'
import { type Hex, isHex } from '#lib/hex'
import { chainNamed } from './networks.ts'
import type { PaymentBody } from './schema.ts'

/** Reads a payment of either version. Throws `invalidRequest` for what no version has; a refusal is for what this server lacks. */
export function readPayment(ctx: Ctx, body: PaymentBody): OfferedPayment | PaymentRefusal {
  const { x402Version, paymentPayload, paymentRequirements } = body
  const offer = paymentPayload.accepted ?? paymentPayload
  const { scheme, network, asset } = paymentRequirements
  if (scheme !== 'exact' || offer.scheme !== 'exact') return refusedFor('unsupported_scheme')
  const chain = chainNamed(ctx, x402Version, network)
  if (!chain) return refusedFor('unsupported_network', `It is not ${network}: see /supported.`)
  if (offer.network !== network) return refusedFor('invalid_exact_evm_network_mismatch')
  const token = assetOf(chain, asset)
  if (token === undefined) return refusedFor('invalid_exact_evm_eip3009_not_supported')
  const required = {
    ...readRequired(chain, x402Version, paymentRequirements),
    withinMs: waitMsOfSeller(paymentRequirements),
  }
  const { blockchain } = chain.network
  const signed = { blockchain, token, ...readAuthorization(chain, paymentPayload.payload) }
  return { chain, required, signed, identifier: readIdentifier(paymentPayload) }
}

/** The payee and the amount that a seller requires. Throws `invalidRequest`. */
export function readRequired(
  chain: Chain,
  version: number,
  requirements: PaymentBody['paymentRequirements'],
): { payTo: Address; amountAtomic: bigint } {
  const amountField = version === 1 ? 'maxAmountRequired' : 'amount'
  return {
    payTo: addressAt(chain, 'paymentRequirements.payTo', requirements.payTo),
    amountAtomic: wholeAt(`paymentRequirements.${amountField}`, requirements[amountField]),
  }
}

/** The longest that a seller waits. */
export const waitMsOfSeller = ({
  maxTimeoutSeconds,
}: PaymentBody['paymentRequirements']): number | undefined =>
  maxTimeoutSeconds === undefined ? undefined : 1000 * maxTimeoutSeconds

/** The extension by which a payer names what it pays for. */
export const identifierExtension = 'payment-identifier'

/** The identifier of a payment, where its payer gave one. Throws `invalidRequest`. */
export function readIdentifier({ extensions }: PaymentBody['paymentPayload']): string | undefined {
  const { info } = (extensions?.[identifierExtension] ?? {}) as { info?: { id?: unknown } }
  const id = info?.id
  if (id === undefined || (typeof id === 'string' && /^[\w-]{16,128}$/.test(id))) return id
  throw invalid({
    at: `paymentPayload.extensions.${identifierExtension}.info.id`,
    reason: 'must have 16 to 128 letters, digits, hyphens or underscores',
    value: id,
  })
}

const at = 'paymentPayload.payload'

/** The authorization that a payer signed, and the signature. Throws `invalidRequest`. */
export function readAuthorization(
  chain: Chain,
  { signature, authorization }: Record<string, unknown>,
): TimedAuthorization & { signature: Hex } {
  const fields = (authorization ?? {}) as Record<string, unknown>
  const whole = (name: string) => wholeAt(`${at}.authorization.${name}`, fields[name])
  const address = (name: string) => addressAt(chain, `${at}.authorization.${name}`, fields[name])
  return {
    from: address('from'),
    to: address('to'),
    amountAtomic: whole('value'),
    validAfter: whole('validAfter'),
    validBefore: whole('validBefore'),
    nonce: hexAt(`${at}.authorization.nonce`, fields['nonce'], 32),
    signature: hexAt(`${at}.signature`, signature),
  }
}

/** The address of a token of the network, in stored form. */
export function assetOf({ network }: Chain, asset: string): Address | undefined {
  const address = parseAddress(network.blockchain, asset)
  return stablecoinsOf(network)
    .map(tokenAddress)
    .find((each) => each === address)
}

export function addressAt({ network }: Chain, location: string, value: unknown): Address {
  const address = typeof value === 'string' ? parseAddress(network.blockchain, value) : undefined
  if (address !== undefined) return address
  throw invalid({ at: location, reason: `must be an address of ${network.blockchain}`, value })
}

const uint256Max = 2n ** 256n - 1n

export function wholeAt(location: string, value: unknown): bigint {
  const isWhole = typeof value === 'string' && /^\d{1,78}$/.test(value) && BigInt(value) <= uint256Max
  if (isWhole) return BigInt(value)
  throw invalid({ at: location, reason: 'must be a whole number of 256 bits in decimal digits', value })
}

/** Longer than the signatures of contracts are. */
const signatureBytesMax = 4_096

export function hexAt(location: string, value: unknown, bytes?: number): Hex {
  const isWritten = typeof value === 'string' && isHex(value, bytes) && value.length > 2
  if (isWritten && value.length <= 2 + 2 * signatureBytesMax) return value.toLowerCase() as Hex
  const length = bytes === undefined ? `up to ${signatureBytesMax}` : bytes
  throw invalid({ at: location, reason: `must be 0x and ${length} bytes in hexadecimal digits`, value })
}
