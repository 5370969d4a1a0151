import { canonicalTxId } from '#chains/addresses/canonical'
import { capabilitiesOf } from '#chains/capabilities'
import { decodedMessageOf } from '#chains/crosschain/decoded-message'
import { networkOfDomain } from '#chains/networks/index'
import {
  type MessageChain,
  messageByDigest,
  messageChains,
  messagesBy,
  type ShownMessage,
} from '#engines/attestation/index'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import type { Hex } from '#lib/hex'
import { askForMessages, attestationServiceOf } from './attestation-service.ts'

type MessageFilters = { transactionHash?: string; nonce?: string }

/**
 * The service that answers for a domain; `undefined` where this server attests its messages itself, or is to ask none. 404 for a
 * number that no network has, and for that of a network without messages where no service has them.
 */
export function elsewhere(ctx: Ctx, text: string, location: string): string | undefined {
  const domain = Number(text)
  if (messageChains(ctx).some((chain) => chain.domain === domain)) return undefined
  const service = networkOfDomain(ctx.config.crosschainEnvironment, domain) && attestationServiceOf(ctx)
  if (service === undefined) requireMessages(ctx, text, location)
  return service
}

/** The chain of a domain; 404 for a number that no network has, and for one that this server does not follow. */
export function messageChainIn(ctx: Ctx, text: string, location: string): MessageChain {
  const found = messageChains(ctx).find((chain) => chain.domain === Number(text))
  if (found) return found
  requireMessages(ctx, text, location)
  throw new ApiError('messageNotFound')
}

/** Refuses a domain that no network has, and that of a network whose messages this version does not know. */
function requireMessages(ctx: Ctx, text: string, location: string): void {
  const network = networkOfDomain(ctx.config.crosschainEnvironment, Number(text))
  if (network && capabilitiesOf(network.blockchain).crosschain) return
  throw invalid({
    at: location,
    reason: network
      ? `is the domain of ${network.blockchain}, a network of which this version does not attest messages`
      : 'is the domain of no network of this server',
    value: text,
    kind: network ? 'domainWithoutMessages' : 'domainUnknown',
  })
}

/** Checks that both ends of a route are domains, and returns the chain that burns. */
export function sourceOf(ctx: Ctx, { source, destination }: { source: string; destination: string }) {
  const chain = messageChainIn(ctx, source, 'source')
  messageChainIn(ctx, destination, 'destination')
  return chain
}

function filtersOf({ transactionHash, nonce }: MessageFilters): MessageFilters {
  if (transactionHash === undefined && nonce === undefined)
    throw invalid({ at: 'transactionHash', reason: 'or nonce is required: say which messages to show' })
  return {
    ...(transactionHash !== undefined && { transactionHash: canonicalTxId(transactionHash) }),
    ...(nonce !== undefined && { nonce: canonicalTxId(nonce) }),
  }
}

/** The messages of a transaction or with a nonce; 404 until a block shows them. */
async function findMessages(
  ctx: Ctx,
  domain: string,
  filters: MessageFilters,
): Promise<readonly ShownMessage[]> {
  const wanted = filtersOf(filters)
  const rows = await messagesBy(ctx.db, messageChainIn(ctx, domain, 'sourceDomainId').blockchain, wanted)
  if (rows.length === 0) throw new ApiError('messageNotFound')
  return rows
}

export async function listMessages(ctx: Ctx, domain: string, filters: MessageFilters) {
  const service = elsewhere(ctx, domain, 'sourceDomainId')
  if (service !== undefined) return askForMessages(service, domain, filtersOf(filters))
  const rows = await findMessages(ctx, domain, filters)
  return { messages: rows.map(showMessage), sourceTxHash: rows[0]!.txHash }
}

function showMessage(row: ShownMessage) {
  const { attestedMessage, attestation, state, nonce, delayReason } = row
  return {
    message: attestedMessage ?? '0x',
    eventNonce: nonce,
    attestation: attestation ?? 'PENDING',
    decodedMessage: attestedMessage === null ? null : decodedMessageOf(attestedMessage as Hex),
    cctpVersion: 2,
    status: state === 'complete' ? ('complete' as const) : ('pending_confirmations' as const),
    delayReason: state === 'complete' ? null : delayReason,
    ...(row.forwards && { forwardState: forwardStateOf(row) }),
    ...(row.forwards && row.forwardDelay !== null && { forwardDelayReason: row.forwardDelay }),
    ...(row.forwardFailure !== null &&
      row.receivedTxHash === null && { forwardFailureReason: row.forwardFailure }),
    ...(row.forwards && row.receivedTxHash !== null && { forwardTxHash: row.receivedTxHash }),
  }
}

/** A delivery that its burn does not pay for has failed too: any account can make it. */
function forwardStateOf({
  state,
  receivedTxHash,
  isDeliveryFinal,
  forwardFailure,
  forwardFee,
}: ShownMessage) {
  if (receivedTxHash !== null) return isDeliveryFinal ? 'COMPLETE' : 'CONFIRMED'
  const isUnpaid = state === 'complete' && forwardFee === null
  return forwardFailure !== null || isUnpaid ? 'FAILED' : 'PENDING'
}

/** The earlier form: messages of a transaction with their attestations. */
export async function listFormerMessages(ctx: Ctx, domain: string, transactionHash: string) {
  const { messages } = await listMessages(ctx, domain, { transactionHash })
  return {
    messages: messages.map(({ message, eventNonce, attestation }) => ({ message, eventNonce, attestation })),
  }
}

/** The earlier form: an attestation by the hash of the attested message. */
export async function getAttestation(ctx: Ctx, messageHash: string) {
  const row = await messageByDigest(ctx.db, canonicalTxId(messageHash))
  if (!row?.attestation) throw new ApiError('messageNotFound')
  return { status: 'complete' as const, attestation: row.attestation }
}
