import { type MessageBody, planMessage, signMessageWith } from '#api/signing/sign-message'
import { planTransaction, signTransactionWith, type TransactionBody } from '#api/signing/sign-transaction'
import { planTypedData, signTypedDataWith, type TypedDataBody } from '#api/signing/sign-typed-data'
import { details, summaryOf, walletDetails } from './summarize.ts'
import type { ChallengeKind } from './types.ts'

const signed = (result: object) => ({ correlationIds: [], result })

export const signMessage: ChallengeKind<MessageBody> = {
  type: 'SIGN_MESSAGE',
  approval: 'open',
  check: async (ctx, request) => {
    const { wallet, operation } = await planMessage(ctx, request)
    const first = [
      ...details(['message', 'Message', request.message], ['memo', 'Note', request.memo]),
      ...walletDetails(wallet),
    ]
    return summaryOf(ctx, first, operation)
  },
  execute: async (ctx, request, key) => signed(await signMessageWith(ctx, request, key)),
}

export const signTypedData: ChallengeKind<TypedDataBody> = {
  type: 'SIGN_TYPEDDATA',
  approval: 'open',
  check: async (ctx, request) => {
    const { wallet, operation } = await planTypedData(ctx, request)
    const { domain, primaryType, message } = JSON.parse(request.data)
    const first = [
      ...details(
        ['domain', 'Asked by', lines(domain)],
        ['primaryType', 'Type', primaryType],
        ['typedData', 'Contents', lines(message)],
        ['memo', 'Note', request.memo],
      ),
      ...walletDetails(wallet),
    ]
    return summaryOf(ctx, first, operation)
  },
  execute: async (ctx, request, key) => signed(await signTypedDataWith(ctx, request, key)),
}

/** A line for each member, indented as it is nested. */
function lines(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return `${indent}${value}`
  return Object.entries(value)
    .map(([name, member]) =>
      typeof member === 'object' && member !== null
        ? `${indent}${name}:\n${lines(member, `${indent}  `)}`
        : `${indent}${name}: ${member}`,
    )
    .join('\n')
}

export const signTransaction: ChallengeKind<TransactionBody> = {
  type: 'SIGN_TRANSACTION',
  approval: 'open',
  check: async (ctx, request) => {
    const { wallet, signable, operation } = await planTransaction(ctx, request)
    const { to, data, nonce, chainId } = signable
    const first = [
      ...details(
        ['to', 'To', to],
        ['data', 'Data', data === '0x' ? undefined : data],
        ['nonce', 'Nonce', String(nonce)],
        ['chainId', 'Chain id', String(chainId)],
        ['memo', 'Note', request.memo],
      ),
      ...walletDetails(wallet),
    ]
    return summaryOf(ctx, first, operation)
  },
  execute: async (ctx, request, key) => signed(await signTransactionWith(ctx, request, key)),
}
