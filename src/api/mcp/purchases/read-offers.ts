import { parseAddress } from '#chains/address'
import type { Address } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import { networkIdOf } from '#chains/chain-ids'
import { type NetworkToken, stablecoinNamed, tokenAddress } from '#chains/network'
import { networkOf } from '#chains/networks/index'
import { formatAmount } from '#lib/amounts'
import { parseBase64 } from '#lib/base64'
import type { Answered } from '#runtime/outbound/call'
import { ToolProblem } from '../tool.ts'

/** A way to pay that a wallet can take. */
export type Offer = {
  x402Version: 1 | 2
  /** As the seller wrote it: it is sent back with the payment. */
  written: Record<string, unknown>
  resource: unknown
  token: NetworkToken
  /** The name and the version of the token in its signatures; the seller says which version. */
  domain: { name: string; version: string }
  tokenAddress: Address
  payTo: Address
  amountAtomic: bigint
  timeoutSeconds: number
}

const offersMax = 20

/** One token for each blockchain, so that the contract of the token executes one payment of a key, whatever a seller asks for next. */
const paidIn = 'USDC'

/** The token in which a wallet on this blockchain pays, if it can. */
export const paidTokenOf = (blockchain: string): NetworkToken | undefined => {
  const network = networkOf(blockchain)
  const isPayable = network && capabilitiesOf(network.blockchain).signedPayments
  return isPayable ? stablecoinNamed(network, paidIn) : undefined
}

/** The cheapest way to pay of those that an answer 402 has and a wallet on this blockchain can take. Throws a ToolProblem without one. */
export function readOffer(answer: Answered, blockchain: string): Offer {
  const required = requiredIn(answer)
  const written = Array.isArray(required['accepts']) ? required['accepts'].slice(0, offersMax) : []
  const offers = written.flatMap((each) => offerOf(required, recordOf(each), blockchain) ?? [])
  const [first, ...others] = offers
  if (first)
    return others.reduce((one, other) => (other.amountAtomic < one.amountAtomic ? other : one), first)
  const shown = written
    .map(recordOf)
    .map(({ scheme, network, asset, extra }) => [scheme, network, asset, recordOf(extra)['name']])
  throw new ToolProblem(
    `a wallet on ${blockchain} pays by the scheme exact (EIP-3009) in USDC of its blockchain, by the contract and the name of the token, and the seller asks for ${JSON.stringify(shown).slice(0, 500)}`,
  )
}

/** The requirements of the seller: a header in version 2, the body in version 1. */
function requiredIn({ headers, text }: Answered): Record<string, unknown> {
  const header = headers['payment-required']
  const json = header === undefined ? text : parseBase64(header)?.toString('utf8')
  const required = recordOf(parsed(json ?? ''))
  if (required['x402Version'] === 1 || required['x402Version'] === 2) return required
  throw new ToolProblem('the answer 402 does not say by x402 what is required')
}

function offerOf(
  required: Record<string, unknown>,
  written: Record<string, unknown>,
  blockchain: string,
): Offer | undefined {
  const x402Version = required['x402Version'] as 1 | 2
  const network = networkOf(blockchain)
  const asked = x402Version === 1 ? network?.x402Name : network && networkIdOf(blockchain as Blockchain)
  if (!network || written['scheme'] !== 'exact' || written['network'] !== asked) return undefined
  const { name, version, verifyingContract, assetTransferMethod = 'eip3009' } = recordOf(written['extra'])
  const address = addressOf(blockchain, written['asset'])
  const token = paidTokenOf(blockchain)
  const payTo = addressOf(blockchain, written['payTo'])
  const amount = written[x402Version === 1 ? 'maxAmountRequired' : 'amount']
  if (!token || tokenAddress(token) !== address || payTo === undefined) return undefined
  // Other contracts, such as those of batched payments, take signatures that the token does not: they would cost budget and pay nothing.
  if (assetTransferMethod !== 'eip3009' || verifyingContract !== undefined || name !== token.name)
    return undefined
  if (typeof version !== 'string' || version.length > 100) return undefined
  if (typeof amount !== 'string' || !/^[1-9]\d{0,77}$/.test(amount)) return undefined
  const seconds = written['maxTimeoutSeconds']
  return {
    x402Version,
    written,
    resource: required['resource'],
    token,
    domain: { name: token.name, version },
    tokenAddress: address,
    payTo,
    amountAtomic: BigInt(amount),
    timeoutSeconds: typeof seconds === 'number' && seconds > 0 ? seconds : timeoutDefaultSeconds,
  }
}

const timeoutDefaultSeconds = 60

const addressOf = (blockchain: string, value: unknown): Address | undefined =>
  typeof value === 'string' ? parseAddress(blockchain as Blockchain, value) : undefined

export const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The amount of an offer as people write it. */
export const priceOf = ({ amountAtomic, token }: Offer): string =>
  `${formatAmount(amountAtomic, token.decimals)} ${token.symbol}`
