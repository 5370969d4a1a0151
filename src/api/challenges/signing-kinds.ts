import { type MessageBody, planMessage, signMessageWith } from '#api/signing/sign-message'
import { planTransaction, signTransactionWith, type TransactionBody } from '#api/signing/sign-transaction'
import { planTypedData, signTypedDataWith, type TypedDataBody } from '#api/signing/sign-typed-data'
import { requireVerifiable } from '#api/signing/signer'
import { details, nativeText, summaryOf, walletDetails } from './summarize.ts'
import type { ChallengeKind } from './types.ts'

const signed = (result: object) => ({ correlationIds: [], result })

/** The text that bytes are, if it can be read: an app may send a text as hexadecimal digits. */
function textOf(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8')
  return Buffer.from(text).equals(bytes) && !/[^\P{C}\t\n\r\p{Cf}]/u.test(text) ? text : undefined
}

export const signMessageChallenge: ChallengeKind<MessageBody> = {
  type: 'SIGN_MESSAGE',
  approval: 'open',
  check: async (ctx, request) => {
    const { wallet, bytes, operation } = await planMessage(ctx, request)
    const first = [
      ...details(['message', 'Message', textOf(bytes) ?? request.message], ['memo', 'Note', request.memo]),
      ...walletDetails(wallet),
    ]
    return summaryOf(ctx, first, operation)
  },
  ready: (ctx, request) => requireVerifiable(ctx, request, 'message'),
  execute: async (ctx, request, key) => signed(await signMessageWith(ctx, request, key)),
}

export const signTypedDataChallenge: ChallengeKind<TypedDataBody> = {
  type: 'SIGN_TYPEDDATA',
  approval: 'open',
  check: async (ctx, request) => {
    const { wallet, signable, operation } = await planTypedData(ctx, request)
    const { domain, primaryType, message } = signable
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
  ready: (ctx, request) => requireVerifiable(ctx, request, 'typedData'),
  execute: async (ctx, request, key) => signed(await signTypedDataWith(ctx, request, key)),
}

/** A line for each member, indented as it is nested. Text of several lines is quoted, so that it looks like no other member. */
const lines = (value: object, indent = ''): string =>
  Object.entries(value)
    .map(([name, member]) =>
      typeof member === 'object'
        ? `${indent}${name}:\n${lines(member, `${indent}  `)}`
        : `${indent}${name}: ${breaksLine.test(member) ? JSON.stringify(member) : member}`,
    )
    .join('\n')

const breaksLine = /[\p{Cc}\p{Zl}\p{Zp}]/u

export const signTransactionChallenge: ChallengeKind<TransactionBody> = {
  type: 'SIGN_TRANSACTION',
  approval: 'open',
  check: async (ctx, request) => {
    const { wallet, signable, operation } = await planTransaction(ctx, request)
    const { blockchain, lines, feeMaxAtomic } = signable
    const fee = feeMaxAtomic === undefined ? undefined : await nativeText(ctx, blockchain, feeMaxAtomic)
    const first = [
      ...details(...lines, ['gasFee', 'Gas fee at most', fee], ['memo', 'Note', request.memo]),
      ...walletDetails(wallet),
    ]
    return summaryOf(ctx, first, operation)
  },
  execute: async (ctx, request, key) => signed(await signTransactionWith(ctx, request, key)),
}
