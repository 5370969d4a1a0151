import { parseAddress } from '#chains/address'
import type { Blockchain } from '#chains/blockchains'
import { openSecretOf } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { findTransaction } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'
import { orderedWalletCollection } from '#runtime/collection/query'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import { accelerateTransaction, cancelTransaction } from './control-transaction.ts'
import { createTransfer } from './create-transfer.ts'
import { chainErrors, estimateErrors, feeErrors, secretErrors, sourceErrors } from './documented-errors.ts'
import { estimateTransfer } from './estimate-transfer.ts'
import { findLowestNonceTransaction } from './find-lowest-nonce-transaction.ts'
import { getFeeParameters } from './get-fee-parameters.ts'
import { provisionalBalance } from './provisional-balance.ts'
import { getTransaction, getTransactions } from './read-transactions.ts'
import {
  acceleratedAnswer,
  controlBody,
  estimateBody,
  feeParametersAnswer,
  feeParametersQuery,
  feeTableAnswer,
  lowestNonceAnswer,
  lowestNonceQuery,
  transactionAnswer,
  transactionParams,
  transactionQuery,
  transactionsAnswer,
  transactionsQuery,
  transferAnswer,
  transferBody,
  validateAddressAnswer,
  validateAddressBody,
} from './schema.ts'

const tag = 'Transactions'

const tokenErrors = [
  'tokenNotFound',
  'tokenOnOtherChain',
  'tokenAddressInvalid',
  'tokenAddressUnsupported',
] as const
const amountErrors = ['amountsInvalid', 'amountsNotDecimal', 'destinationAddressInvalid'] as const

const controlErrors = [
  'invalidRequest',
  'unauthorized',
  'entitySecretWrong',
  'ciphertextReused',
  'entitySecretMissing',
  'idempotencyKeyReused',
  'idNotUuid',
  'transactionNotFound',
  'transactionNotEligible',
  'replacementUnsupported',
] as const

const asItIs = async (ctx: Ctx, id: string) => {
  const row = await findTransaction(ctx.db, ctx.entity.id, id)
  if (!row) throw new ApiError('transactionNotFound')
  return { id, state: row.state }
}

const controlledOnce = {
  conflict: 'idempotencyKeyReused',
  resourceIdOf: (result: { id: string }) => result.id,
  reload: asItIs,
} as const

const transferErrors = [
  'invalidRequest',
  'unauthorized',
  'idempotencyKeyReused',
  'policyDenied',
  'chainHalted',
  'insufficientBalance',
  'pendingQueueFull',
  ...secretErrors,
  ...feeErrors,
  ...tokenErrors,
  ...amountErrors,
  ...chainErrors,
  ...sourceErrors,
] as const

type Addressed = Pick<Endpoint, 'path' | 'operationId' | 'summary' | 'takesUserToken' | 'errors'>

/** A transfer under one of its paths. They share their idempotency keys, so that no retry pays twice. */
const transferEndpoint = (addressed: Addressed) =>
  endpoint({
    ...addressed,
    method: 'POST',
    tag,
    auth: 'apiKey',
    body: transferBody,
    response: transferAnswer,
    status: 201,
    idempotent: { ...controlledOnce, operation: 'createTransfer' },
    provisional: provisionalBalance,
    prepare: openSecretOf,
    verb: createTransfer,
  })

export const transactionEndpoints = [
  transferEndpoint({
    path: '/v1/w3s/developer/transactions/transfer',
    operationId: 'createTransfer',
    summary: 'Send the native coin or a listed token from a wallet',
    errors: transferErrors,
  }),
  transferEndpoint({
    path: '/v1/w3s/transactions/transfer',
    operationId: 'createTransferInScope',
    summary: "The same as the developer's transfer: whose wallets it is about is said by the headers",
    takesUserToken: true,
    errors: [...transferErrors, 'userTokenUnknown'],
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/transactions/transfer/estimateFee',
    operationId: 'estimateTransferFee',
    summary: 'What a transfer would cost at each fee level',
    tag,
    auth: 'apiKey',
    changing: false,
    body: estimateBody,
    response: feeTableAnswer,
    errors: [
      'invalidRequest',
      'unauthorized',
      ...estimateErrors,
      ...tokenErrors,
      ...amountErrors,
      ...chainErrors,
      ...sourceErrors,
    ],
    verb: estimateTransfer,
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/developer/transactions/feeParameters',
    operationId: 'getFeeParameters',
    summary: 'What a blockchain charges now, at each fee level',
    tag,
    auth: 'apiKey',
    query: feeParametersQuery,
    response: feeParametersAnswer,
    errors: ['invalidRequest', 'unauthorized', 'unavailable', ...chainErrors],
    verb: getFeeParameters,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/transactions/validateAddress',
    operationId: 'validateAddress',
    summary: 'Whether a text is an address on a blockchain, started here or not',
    tag,
    auth: 'apiKey',
    changing: false,
    body: validateAddressBody,
    response: validateAddressAnswer,
    errors: ['invalidRequest', 'unauthorized'],
    verb: async (_: Ctx, { body }) => ({
      isValid: parseAddress(body.blockchain as Blockchain, body.address) !== undefined,
    }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/transactions',
    operationId: 'listTransactions',
    summary: 'List transactions',
    tag,
    auth: 'apiKey',
    query: transactionsQuery,
    response: transactionsAnswer,
    collection: { ...orderedWalletCollection, items: 'transactions' },
    errors: ['invalidRequest', 'unauthorized', 'transactionTypeInvalid', 'cursorNotFound', 'cursorNotUuid'],
    verb: (ctx: Ctx, { query, page }) => getTransactions(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/transactions/lowestNonceTransaction',
    operationId: 'getLowestNonceTransaction',
    summary: 'The transaction that all later ones of its sender wait behind; 204 when nothing is under way',
    tag,
    auth: 'apiKey',
    query: lowestNonceQuery,
    response: lowestNonceAnswer,
    errors: ['invalidRequest', 'unauthorized', 'unavailable', ...sourceErrors, ...chainErrors],
    verb: (ctx: Ctx, { query }) => findLowestNonceTransaction(ctx, query),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/transactions/{id}/accelerate',
    operationId: 'accelerateTransaction',
    summary: 'Offer more for a transaction that is under way',
    tag,
    auth: 'apiKey',
    params: transactionParams,
    body: controlBody,
    response: acceleratedAnswer,
    idempotent: { ...controlledOnce, reload: async (ctx: Ctx, id) => ({ id: (await asItIs(ctx, id)).id }) },
    errors: controlErrors,
    prepare: openSecretOf,
    verb: (ctx: Ctx, { params }, secret) => accelerateTransaction(ctx, params.id, secret),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/transactions/{id}/cancel',
    operationId: 'cancelTransaction',
    summary: 'Cancel a transaction that is under way',
    tag,
    auth: 'apiKey',
    params: transactionParams,
    body: controlBody,
    response: transferAnswer,
    idempotent: controlledOnce,
    errors: controlErrors,
    prepare: openSecretOf,
    verb: (ctx: Ctx, { params }, secret) => cancelTransaction(ctx, params.id, secret),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/transactions/{id}',
    operationId: 'getTransaction',
    summary: 'Get a transaction',
    tag,
    auth: 'apiKey',
    params: transactionParams,
    query: transactionQuery,
    response: transactionAnswer,
    errors: ['invalidRequest', 'unauthorized', 'idNotUuid', 'transactionNotFound', 'transactionTypeInvalid'],
    verb: (ctx: Ctx, { params, query }) => getTransaction(ctx, params.id, query.txType),
  }),
]
