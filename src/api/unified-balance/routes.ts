import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import { createUnifiedTransfer } from './create-transfer.ts'
import { estimateUnifiedTransfer } from './estimate-transfer.ts'
import { getInfo } from './get-info.ts'
import { listUnifiedBalances } from './list-balances.ts'
import { listDeposits } from './list-deposits.ts'
import { getTransferSpec, getUnifiedTransfer } from './read-transfers.ts'
import {
  attestedSchema,
  balancesSchema,
  depositsSchema,
  estimateAnswerSchema,
  estimateSchema,
  forwarderQuery,
  infoSchema,
  signedIntentsSchema,
  sourcesSchema,
  specAnswerSchema,
  transferSpecParams,
  unifiedTransferParams,
  unifiedTransferQuery,
  unifiedTransferSchema,
} from './schema.ts'

const tag = 'Unified balance'

/** Callers need no key: balances are public on their chains, and only signatures move them. */
const shared = { tag, auth: 'none', enveloped: false, changing: false } as const

export const unifiedBalanceEndpoints = [
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v1/info',
    operationId: 'getUnifiedInfo',
    summary: 'Get the chains of unified balances',
    description:
      'Returns the chains on which this server counts unified balances, with their contracts and heights. Needs no key.',
    response: infoSchema,
    errors: [],
    verb: (ctx: Ctx) => getInfo(ctx),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v1/balances',
    operationId: 'listUnifiedBalances',
    summary: 'Look up unified balances',
    description:
      'Returns what depositors can spend on each chain. Deposits count when their block is final, withdrawals as soon as they start. Chains that this server does not have are absent. Needs no key.',
    body: sourcesSchema,
    response: balancesSchema,
    errors: [],
    verb: (ctx: Ctx, { body }) => listUnifiedBalances(ctx, body),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v1/deposits',
    operationId: 'listPendingDeposits',
    summary: 'Look up deposits that are not final',
    description: 'Returns the deposits that do not count yet. Needs no key.',
    body: sourcesSchema,
    response: depositsSchema,
    errors: [],
    verb: (ctx: Ctx, { body }) => listDeposits(ctx, body),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v1/estimate',
    operationId: 'estimateUnifiedTransfer',
    summary: 'Estimate a transfer',
    description:
      'Completes intents with the fee of this server and a height that suffices. Higher ones of the request are kept. Needs no key.',
    query: forwarderQuery,
    body: estimateSchema,
    response: estimateAnswerSchema,
    errors: ['unifiedDomainUnknown', 'unavailable'],
    verb: (ctx: Ctx, { query, body }) => estimateUnifiedTransfer(ctx, query, body),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v1/transfer',
    operationId: 'createUnifiedTransfer',
    summary: 'Transfer out of unified balances',
    description:
      'Reserves the values and fees of signed burn intents, and attests them for the minter contract of the destination. Repeating a request has no further effect and returns the same attestation, also in another order; a specification cannot be part of another transfer. Needs no key.',
    query: unifiedTransferQuery,
    body: signedIntentsSchema,
    response: attestedSchema,
    status: 201,
    errors: [
      'unifiedDomainUnknown',
      'unifiedBalanceInsufficient',
      'unifiedSignerRefused',
      'unifiedTransferDenied',
      'unifiedContractSigner',
      'unifiedSpecUsed',
      'unifiedLimitReached',
      'chainHalted',
      'unavailable',
    ],
    verb: (ctx: Ctx, { query, body }) => createUnifiedTransfer(ctx, query, body),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v1/transfer/{id}',
    operationId: 'getUnifiedTransfer',
    summary: 'Get a transfer out of unified balances',
    description: 'Returns the state of a transfer. Needs no key: ids cannot be guessed.',
    params: unifiedTransferParams,
    response: unifiedTransferSchema,
    errors: ['unifiedTransferNotFound'],
    verb: (ctx: Ctx, { params }) => getUnifiedTransfer(ctx, params.id),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v1/transferSpec/{transferSpecHash}',
    operationId: 'getTransferSpec',
    summary: 'Look up a transfer specification',
    description: 'Returns the intent that a hash names, and the transfer that it is part of. Needs no key.',
    params: transferSpecParams,
    response: specAnswerSchema,
    errors: ['unifiedTransferNotFound'],
    verb: (ctx: Ctx, { params }) => getTransferSpec(ctx, params.transferSpecHash),
  }),
]
