import type { Hex } from '#lib/hex'
import {
  Account,
  type AccountAuthenticator,
  type AnyRawTransaction,
  Aptos,
  AptosConfig,
  Ed25519PrivateKey,
  generateSignedTransaction,
  Network,
} from './aptos-sdk.ts'

/** A client of the SDK for a node. */
export const aptosClient = ({ url, faucetUrl }: { url: string; faucetUrl: string }) =>
  new Aptos(new AptosConfig({ network: Network.CUSTOM, fullnode: url, faucet: faucetUrl }))

/** The account whose private key repeats two digits. */
export const aptosAccount = (digits: string) =>
  Account.fromPrivateKey({
    privateKey: new Ed25519PrivateKey(`ed25519-priv-0x${digits.repeat(64 / digits.length)}`),
  })

export const addressOfAccount = (account: Account) => account.accountAddress.toStringLong() as Hex

/** The bytes of a signed transaction, as the SDK would send them. */
export const signedBytes = (
  transaction: AnyRawTransaction,
  senderAuthenticator: AccountAuthenticator,
  feePayerAuthenticator?: AccountAuthenticator,
): Buffer =>
  Buffer.from(
    generateSignedTransaction({
      transaction,
      senderAuthenticator,
      ...(feePayerAuthenticator && { feePayerAuthenticator }),
    }),
  )

/** Sends the bytes of a transaction to a node, and returns its status and answer. */
export async function postTransaction(url: string, bytes: Buffer, path = 'transactions') {
  const response = await fetch(`${url}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x.aptos.signed_transaction+bcs' },
    body: new Uint8Array(bytes),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
