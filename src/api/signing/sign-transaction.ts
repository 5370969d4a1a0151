import { requireKeyAccount } from '#api/sources/source'
import type { Blockchain } from '#chains/blockchains'
import { signableChain } from '#chains/chain-ids'
import {
  decodeTransaction,
  readRawTransaction,
  readTransaction,
  type Signable,
  type TransactionFault,
  TransactionProblem,
} from '#chains/signing'
import { type EntitySecret, type KeyOpener, spendCiphertext } from '#custody/index'
import type { Wallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import type { ErrorName } from '#lib/error-kinds'
import { invalid } from '#lib/errors'
import { requireSigner, type SignerFields, sign } from './signer.ts'

export type TransactionBody = SignerFields & { rawTransaction?: string; transaction?: string }

/**
 * Signs a transaction that the customer sends. It has no hold, and the customer chooses its nonce: once a final block
 * includes it, a transaction of ours with the same nonce counts as displaced and is signed again with another nonce.
 */
export async function signTransaction(ctx: Ctx, { body }: { body: TransactionBody }, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  return signTransactionWith(ctx, body, secret)
}

export async function signTransactionWith(ctx: Ctx, body: TransactionBody, opener: KeyOpener) {
  const { wallet, signable, operation } = await planTransaction(ctx, body)
  const { digest, attach } = signable
  return attach(await sign(ctx, opener, wallet, { digest, operation, memo: body.memo }))
}

/** Checks a transaction and decodes what its signature permits. */
export async function planTransaction(ctx: Ctx, body: TransactionBody) {
  const wallet = await requireSigner(ctx, body)
  requireKeyAccount(wallet, 'walletId')
  const signable = requireSignable(body, wallet)
  // Transactions with authorisations (EIP-7702) are refused on reading.
  const operation = {
    kind: 'signTransaction',
    ...decodeTransaction({ ...signable, authorizations: 0 }),
  } as const
  return { wallet, signable, operation }
}

function requireSignable(body: TransactionBody, wallet: Wallet): Signable {
  const signable = read(body)
  const { chainId, from } = signable
  if (!signableChain(wallet.blockchain as Blockchain, chainId)) {
    const reason = `${chainId} does not belong to ${wallet.blockchain}`
    throw invalid({ at: 'chainId', reason, value: chainId, kind: 'chainIdUnsupported' })
  }
  if (from !== undefined && from !== wallet.address)
    throw invalid({
      at: 'transaction.from',
      reason: 'is not the address of the wallet',
      value: from,
      kind: 'notSignerOfTransaction',
    })
  return signable
}

function read({ rawTransaction, transaction }: TransactionBody): Signable {
  if ((rawTransaction === undefined) === (transaction === undefined))
    throw invalid({
      at: 'transaction',
      reason: 'or rawTransaction is missing: send one',
      kind: 'transactionInvalid',
    })
  try {
    return rawTransaction === undefined
      ? readTransaction(parseJson(transaction!))
      : readRawTransaction(rawTransaction)
  } catch (error) {
    if (!(error instanceof TransactionProblem)) throw error
    throw invalid({ at: error.location, reason: error.reason, kind: kinds[error.fault] })
  }
}

const kinds: Record<TransactionFault, ErrorName> = {
  invalid: 'transactionInvalid',
  unreadable: 'transactionUnreadable',
  signedBefore: 'transactionSigned',
  tooLarge: 'transactionTooLarge',
  withoutChainId: 'chainIdMissing',
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new TransactionProblem('unreadable', 'transaction', 'is not JSON')
  }
}
