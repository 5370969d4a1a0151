import { feeTableAnswer } from '#api/fees/fee-schema'
import { chainErrors, sourceErrors } from '#api/interface/documented-errors'
import { provisionalBalance } from '#api/sources/provisional-balance'
import { parseAddress } from '#chains/address'
import type { Blockchain } from '#chains/blockchains'
import { openSecretOf } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { orderedWalletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { accelerateTransaction, cancelTransaction } from './control-transaction.ts'
import { createTransfer } from './create-transfer.ts'
import { createdOnce, transactionAsItIs } from './created-once.ts'
import { estimateTransfer } from './estimate-transfer.ts'
import { findLowestNonceTransaction } from './find-lowest-nonce-transaction.ts'
import { getFeeParameters } from './get-fee-parameters.ts'
import { getTransaction, getTransactions } from './read-transactions.ts'
import { prepareTransfer } from './register-token.ts'
import {
  acceleratedAnswer,
  controlBody,
  estimateBody,
  feeParametersAnswer,
  feeParametersQuery,
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
import { estimateTransferErrors, transferErrors } from './transfer-errors.ts'

const tag = 'Transactions'

const controlErrors = [
  'entitySecretWrong',
  'ciphertextReused',
  'entitySecretMissing',
  'idNotUuid',
  'transactionNotFound',
  'transactionNotEligible',
  'replacementUnsupported',
  'chainNotStarted',
] as const

export const transactionEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/transactions/transfer',
    operationId: 'createTransfer',
    summary: 'Create a transfer from a wallet',
    description:
      'Sends the native coin, a token, or NFTs of one contract. The amount is reserved at once; the transaction is signed and sent after the response. Give either `walletId`, or `walletAddress` with `blockchain`; and either `feeLevel`, or `gasLimit` with explicit fees.',
    tag,
    auth: 'apiKey',
    body: transferBody,
    response: transferAnswer,
    status: 201,
    idempotent: createdOnce,
    errors: transferErrors,
    provisional: provisionalBalance,
    prepare: prepareTransfer,
    verb: createTransfer,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/transactions/transfer/estimateFee',
    operationId: 'estimateTransferFee',
    summary: 'Estimate the fee of a transfer',
    description: 'Returns the cost of a transfer at each fee level. Nothing is reserved or sent.',
    tag,
    auth: 'apiKey',
    userToken: 'optional',
    changing: false,
    body: estimateBody,
    response: feeTableAnswer,
    errors: estimateTransferErrors,
    verb: estimateTransfer,
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/developer/transactions/feeParameters',
    operationId: 'getFeeParameters',
    summary: 'Get the current fees of a blockchain',
    description: 'Returns the current fees of a blockchain at each level.',
    tag,
    auth: 'apiKey',
    query: feeParametersQuery,
    response: feeParametersAnswer,
    errors: [...chainErrors],
    verb: getFeeParameters,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/transactions/validateAddress',
    operationId: 'validateAddress',
    summary: 'Validate an address',
    description:
      'Tells whether a text is an address on a blockchain, whether that is started on this server or not.',
    tag,
    auth: 'apiKey',
    changing: false,
    body: validateAddressBody,
    response: validateAddressAnswer,
    errors: [],
    verb: async (_: Ctx, { body }) => ({
      isValid: parseAddress(body.blockchain as Blockchain, body.address) !== undefined,
    }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/transactions',
    operationId: 'listTransactions',
    summary: 'List transactions',
    description:
      'Lists outgoing and incoming transactions of the wallets of the user or, without a user token, of the entity: by default of monitored tokens only, and without incoming transfers that move nothing or that no balance proves.',
    tag,
    auth: 'apiKey',
    userToken: 'optional',
    query: transactionsQuery,
    response: transactionsAnswer,
    collection: { ...orderedWalletCollection, items: 'transactions' },
    errors: ['transactionTypeInvalid'],
    verb: (ctx: Ctx, { query, page }) => getTransactions(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/transactions/lowestNonceTransaction',
    operationId: 'getLowestNonceTransaction',
    summary: 'Get the transaction with the lowest nonce',
    description:
      'Returns the transaction under way with the lowest nonce, behind which all later ones of its sender wait, and the cost of accelerating it. With a user token, the wallet has to be one of the user.',
    tag,
    auth: 'apiKey',
    userToken: 'optional',
    query: lowestNonceQuery,
    response: lowestNonceAnswer,
    alternatives: { 204: 'No transaction of the wallet is under way.' },
    errors: [...sourceErrors, ...chainErrors],
    verb: (ctx: Ctx, { query }) => findLowestNonceTransaction(ctx, query),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/transactions/{id}/accelerate',
    operationId: 'accelerateTransaction',
    summary: 'Accelerate a transaction',
    description:
      'Signs the transaction again with a higher fee and the same nonce; a block contains only one of the two. On Aptos it keeps its limit and its expiry. Possible while the transaction is SENT or STUCK. That of a smart account is accelerated with the bundle of your treasury that carries its operation.',
    tag,
    auth: 'apiKey',
    params: transactionParams,
    body: controlBody,
    response: acceleratedAnswer,
    idempotent: {
      ...createdOnce,
      reload: async (ctx: Ctx, id) => ({ id: (await transactionAsItIs(ctx, id)).id }),
    },
    errors: controlErrors,
    prepare: openSecretOf,
    verb: (ctx: Ctx, { params }, secret) => accelerateTransaction(ctx, params.id, secret),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/transactions/{id}/cancel',
    operationId: 'cancelTransaction',
    summary: 'Cancel a transaction',
    description:
      'Cancels a transaction that is not in a block. One that was sent already is replaced by an empty transaction with the same nonce, which costs gas; the original can still win. On Aptos that waits until the original has expired unused. That of a smart account cannot be cancelled once its operation is signed.',
    tag,
    auth: 'apiKey',
    params: transactionParams,
    body: controlBody,
    response: transferAnswer,
    idempotent: createdOnce,
    errors: controlErrors,
    prepare: openSecretOf,
    verb: (ctx: Ctx, { params }, secret) => cancelTransaction(ctx, params.id, secret),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/transactions/{id}',
    operationId: 'getTransaction',
    summary: 'Get a transaction',
    description: 'Returns one transaction.',
    tag,
    auth: 'apiKey',
    userToken: 'optional',
    params: transactionParams,
    query: transactionQuery,
    response: transactionAnswer,
    errors: ['idNotUuid', 'transactionNotFound', 'transactionTypeInvalid'],
    verb: (ctx: Ctx, { params, query }) => getTransaction(ctx, params.id, query.txType),
  }),
]
