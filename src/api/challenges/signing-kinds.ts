import { type MessageBody, planMessage, signMessageWith } from '#api/signing/sign-message'
import { planTransaction, signTransactionWith, type TransactionBody } from '#api/signing/sign-transaction'
import { planTypedData, signTypedDataWith, type TypedDataBody } from '#api/signing/sign-typed-data'
import { requireVerifiable } from '#api/signing/signer'
import type { Blockchain } from '#chains/blockchains'
import { signableChain } from '#chains/chain-ids'
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
  ready: requireVerifiable,
  execute: async (ctx, request, key) => signed(await signMessageWith(ctx, request, key)),
}

export const signTypedDataChallenge: ChallengeKind<TypedDataBody> = {
  type: 'SIGN_TYPEDDATA',
  approval: 'open',
  check: async (ctx, request) => {
    const { wallet, data, operation } = await planTypedData(ctx, request)
    const { domain, primaryType, message } = data
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
  ready: requireVerifiable,
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
    const { to, data, nonce, chainId, gasFeeMaxAtomic } = signable
    const blockchain = signableChain(wallet.blockchain as Blockchain, chainId)!
    const first = [
      ...details(
        ['to', 'To', to],
        ['data', 'Data', data === '0x' ? undefined : data],
        ['nonce', 'Nonce', String(nonce)],
        ['chainId', 'Chain id', String(chainId)],
        ['gasFee', 'Gas fee at most', await nativeText(ctx, blockchain, gasFeeMaxAtomic)],
        ['memo', 'Note', request.memo],
      ),
      ...walletDetails(wallet),
    ]
    return summaryOf(ctx, first, operation)
  },
  execute: async (ctx, request, key) => signed(await signTransactionWith(ctx, request, key)),
}
