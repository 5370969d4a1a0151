import { requireKeyAccount } from '#api/sources/source'
import type { SignableTransaction, WrittenTransaction } from '#chains/facets/signing'
import { type EntitySecret, type KeyOpener, spendCiphertext } from '#custody/index'
import type { Operation } from '#custody/policy/index'
import type { Wallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { readSignable } from './read-signable.ts'
import { requireSigner, type SignerFields, sign } from './signer.ts'

export type TransactionBody = SignerFields & WrittenTransaction

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
  const { payload, answerOf } = signable
  return answerOf(await sign(ctx, opener, wallet, { payload, operation, memo: body.memo }))
}

type TransactionPlan = { wallet: Wallet; signable: SignableTransaction; operation: Operation }

/** Checks a transaction and decodes what its signature permits. */
export async function planTransaction(ctx: Ctx, body: TransactionBody): Promise<TransactionPlan> {
  const { wallet, account, read } = await requireSigner(ctx, body, 'transaction')
  requireKeyAccount(wallet, 'walletId')
  const { rawTransaction, transaction } = body
  const written = {
    ...(rawTransaction !== undefined && { rawTransaction }),
    ...(transaction !== undefined && { transaction }),
  }
  const signable = readSignable(() => read(written, account))
  return { wallet, signable, operation: { kind: 'signTransaction', ...signable.effects } }
}
