import type { PrivateKeyAccount } from 'viem/accounts'

type Hex = `0x${string}`

/** The domain of EIP-712 for which an authorization is signed. */
export type AuthorizationDomain = { name: string; version: string; chainId: number; verifyingContract: Hex }

/** The terms of an authorization (EIP-3009), as its owner signs them; times in Unix seconds. */
export type AuthorizedTransfer = {
  from: Hex
  to: Hex
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
}

const types = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** The typed data of an authorization, for a library that signs or hashes it. */
export const typedAuthorization = (domain: AuthorizationDomain, message: AuthorizedTransfer) =>
  ({ domain, types, primaryType: 'TransferWithAuthorization', message }) as const

/** A payment by x402 of the second version, signed by its payer, and the request for it as a seller makes it. */
export async function signedX402Payment(
  payer: PrivateKeyAccount,
  domain: AuthorizationDomain,
  asset: string,
  message: AuthorizedTransfer,
) {
  const signature = await payer.signTypedData(typedAuthorization(domain, message))
  const required = {
    scheme: 'exact',
    network: `eip155:${domain.chainId}`,
    asset,
    payTo: message.to,
    amount: String(message.value),
    maxTimeoutSeconds: 60,
    extra: domain,
  }
  const authorization = Object.fromEntries(
    Object.entries(message).map(([name, value]) => [name, String(value)]),
  )
  const paymentPayload = { x402Version: 2, accepted: required, payload: { signature, authorization } }
  return { message, signature, body: { x402Version: 2, paymentPayload, paymentRequirements: required } }
}
