import { randomUUID } from 'node:crypto'
import type { Blockchain } from '#chains/blockchains'
import { networkIdOf } from '#chains/chain-ids'
import { batchedPaymentsDomain } from '#chains/crosschain/batched-payments'
import { hasFacet } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import {
  acceptUnifiedPayment,
  type OfferedUnifiedPayment,
  tokenSymbol,
  type UnifiedChain,
  unifiedChains,
  unifiedRefusal,
  verifyUnifiedPayment,
} from '#engines/unified-balance/index'
import type { AcceptedBody, OfferedBody } from './batched-schema.ts'
import { assetOf, readAuthorization, readRequired } from './read-payment.ts'
import { failedSettlement, invalidVerdict } from './verdicts.ts'

/** The chains on which payments are settled, by the treasury of an entity. */
const batchingChains = (ctx: Ctx): UnifiedChain[] =>
  ctx.config.crosschainEntity === undefined
    ? []
    : unifiedChains(ctx).filter(({ chain }) => hasFacet(chain, 'authorizations'))

const idOfNetwork = ({ blockchain }: UnifiedChain) => networkIdOf(blockchain as Blockchain)

/** The networks on which this server settles payments in batches. */
export const supportedBatchedPayments = (ctx: Ctx) => ({
  kinds: batchingChains(ctx).map((unified) => ({
    x402Version: 2,
    scheme: 'exact',
    network: idOfNetwork(unified),
    extra: {
      ...batchedPaymentsDomain,
      verifyingContract: unified.wallet,
      assets: [{ symbol: tokenSymbol, address: unified.token, decimals: unified.decimals }],
    },
  })),
  extensions: [],
  signers: {},
})

/** Says whether a payment would be accepted now. */
export async function verifyBatchedPayment(ctx: Ctx, body: OfferedBody) {
  const offered = readOffered(ctx, body)
  if ('reason' in offered) return invalidVerdict(offered)
  const payer = offered.signed.from
  const refusal = await verifyUnifiedPayment(ctx, offered)
  return refusal ? { ...invalidVerdict(refusal), payer } : { isValid: true, payer }
}

/** Accepts a payment for one delivery. */
export async function settleBatchedPayment(ctx: Ctx, body: AcceptedBody) {
  const { network } = body.paymentRequirements
  const offered = readOffered(ctx, body)
  if ('reason' in offered) return { ...failedSettlement(offered), network }
  const payer = offered.signed.from
  const accepted = await acceptUnifiedPayment(ctx, offered, body.deliveryId?.toLowerCase() ?? randomUUID())
  if ('reason' in accepted) return { ...failedSettlement(accepted), network, payer }
  return { success: true, transaction: accepted.id, network, payer }
}

/** Reads a payment. Throws `invalidRequest` for what is no payment; a refusal is for what this server lacks. */
function readOffered(
  ctx: Ctx,
  { x402Version, paymentPayload, paymentRequirements }: OfferedBody,
): OfferedUnifiedPayment | ReturnType<typeof unifiedRefusal> {
  const offer = paymentPayload.accepted ?? paymentPayload
  const { scheme, network, asset, extra } = paymentRequirements as typeof paymentRequirements & {
    extra?: Record<string, unknown>
  }
  if (scheme !== 'exact' || (offer.scheme ?? scheme) !== 'exact') return unifiedRefusal('unsupported_scheme')
  const unified = batchingChains(ctx).find((each) => idOfNetwork(each) === network)
  if (!unified || (offer.network ?? network) !== network) return unifiedRefusal('unsupported_network')
  const { chain, blockchain, token, wallet } = unified
  if (assetOf(chain, asset) !== token) return unifiedRefusal('unsupported_asset')
  const { name = batchedPaymentsDomain.name, verifyingContract = wallet } = extra ?? {}
  const isOfWallet = typeof verifyingContract === 'string' && verifyingContract.toLowerCase() === wallet
  if (name !== batchedPaymentsDomain.name || !isOfWallet) return unifiedRefusal('unsupported_domain')
  const { signature, ...signed } = readAuthorization(chain, paymentPayload.payload)
  const required = readRequired(chain, x402Version ?? 2, paymentRequirements)
  return { unified, blockchain, signed, signature, required }
}
