import { createHash } from 'node:crypto'
import type { Address } from '#chains/addresses/types'
import { type AuthorizationTerms, authorizationData } from '#chains/authorization-data'
import type { Blockchain } from '#chains/blockchains'
import { type NetworkToken, tokenAddress } from '#chains/network'
import { type Hex, hexOf } from '#lib/hex'
import { systemClock } from '#lib/time'
import type { Platform } from '../tool.ts'
import type { Offer } from './read-offers.ts'

/** The wallet that pays, and the token in which it does. */
export type PayingWallet = { id: string; blockchain: string; address: Address; token: NetworkToken }

/** A payment that was signed: sending it again pays nothing more. */
export type PurchasePayment = { offer: Offer; header: [name: string, value: string]; validUntilMs: number }

/** The longest time for which an authorization is valid, whatever the seller asks for. */
export const validMaxSeconds = 600

/**
 * The number by which the chain tells an authorization of a payer from others, and executes it once. It follows from the key of the
 * purchase: whatever is signed again under the key, by whichever process, is paid once.
 */
const paymentNumber = ({ address }: PayingWallet, key: string): Hex =>
  hexOf(
    createHash('sha256')
      .update(JSON.stringify(['bezant payment', address, key]))
      .digest(),
  )

/** Signs what an offer asks for, by the operation of the API for typed data: policies decide, and the audit trail has it. */
export async function signPayment(
  platform: Platform,
  payer: PayingWallet,
  offer: Offer,
  { key, memo }: { key: string; memo: string },
): Promise<PurchasePayment> {
  const validUntilSeconds =
    Math.floor(systemClock.nowMs() / 1_000) + Math.ceil(Math.min(offer.timeoutSeconds, validMaxSeconds))
  const authorization: AuthorizationTerms = {
    from: payer.address,
    to: offer.payTo,
    value: String(offer.amountAtomic),
    validAfter: '0',
    validBefore: String(validUntilSeconds),
    nonce: paymentNumber(payer, key),
  }
  const token = { ...offer.domain, blockchain: payer.blockchain as Blockchain, address: offer.tokenAddress }
  const { data } = await platform<{ signature: string }>({
    method: 'POST',
    path: '/v1/w3s/developer/sign/typedData',
    body: { walletId: payer.id, data: JSON.stringify(authorizationData(token, authorization)), memo },
    needsSecret: true,
  })
  const payload = { signature: data.signature, authorization }
  return { offer, header: headerOf(offer, payload), validUntilMs: validUntilSeconds * 1_000 }
}

function headerOf({ x402Version, written, resource }: Offer, payload: object): [string, string] {
  const payment =
    x402Version === 1
      ? { x402Version, scheme: written['scheme'], network: written['network'], payload }
      : { x402Version, accepted: written, payload, ...(resource !== undefined && { resource }) }
  const name = x402Version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE'
  return [name, Buffer.from(JSON.stringify(payment)).toString('base64')]
}

/** Whether the chain has executed an authorization of this payer with the number of the key, as far as the platform's node tells. */
export async function wasPaid(
  platform: Platform,
  payer: PayingWallet,
  key: string,
): Promise<boolean | undefined> {
  const query = {
    address: tokenAddress(payer.token),
    blockchain: payer.blockchain,
    abiFunctionSignature: 'authorizationState(address,bytes32)',
    abiParameters: [payer.address, paymentNumber(payer, key)],
  }
  try {
    const asked = { method: 'POST', path: '/v1/w3s/contracts/query', body: query } as const
    const { data } = await platform<{ outputData: string }>(asked)
    return BigInt(data.outputData) === 1n
  } catch {
    return undefined
  }
}
