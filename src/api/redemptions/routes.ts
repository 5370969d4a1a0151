import Type from 'typebox'
import { requireBank } from '#api/business/require-bank'
import type { Ctx } from '#engines/ctx'
import { findRedemptions } from '#engines/treasury/disbursements/index'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { createRedemption } from './create-redemption.ts'
import { getRedemption } from './read-redemptions.ts'
import { newRedemptionSchema, redemptionFilters, redemptionParams, redemptionSchema } from './schema.ts'
import { showRedemption } from './show-redemption.ts'

const tag = 'Bank accounts'

export const redemptionEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/businessAccount/payouts',
    operationId: 'createBusinessPayout',
    summary: 'Redeem coins to a bank account',
    description:
      'Redeems coins and pays the dollars to a linked bank account. The amount is reserved at once; the bank pays after the coins have gone back to their issuer.',
    tag,
    auth: 'apiKey',
    body: newRedemptionSchema,
    response: redemptionSchema,
    status: 201,
    idempotent: {
      conflict: 'conflict',
      replayStatus: 201,
      resourceIdOf: (payout: { id: string }) => payout.id,
      reload: (ctx: Ctx, id) => getRedemption(ctx, id),
    },
    errors: [
      'forbidden',
      'payoutAmountNotPositive',
      'policyDenied',
      'currencyUnsupportedForOperation',
      'chainNotStarted',
      'transferFundsInsufficient',
      'payoutNotFound',
    ],
    verb: (ctx: Ctx, input) => createRedemption(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/payouts',
    operationId: 'listBusinessPayouts',
    summary: 'List payouts to bank accounts',
    description: 'Lists payouts to linked bank accounts, newest first.',
    tag,
    auth: 'apiKey',
    query: redemptionFilters,
    response: Type.Array(redemptionSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: ['forbidden'],
    verb: async (ctx: Ctx, { query, page }) => {
      requireBank(ctx)
      const { destination: bankAccountId, status } = query
      const statuses = typeof status === 'string' ? [status] : status
      const found = await findRedemptions(ctx.db, ctx.entity.id, { bankAccountId, statuses }, page)
      return { found, items: found.rows.map(showRedemption) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/payouts/{id}',
    operationId: 'getBusinessPayout',
    summary: 'Get a payout to a bank account',
    description: 'Returns one payout to a linked bank account.',
    tag,
    auth: 'apiKey',
    params: redemptionParams,
    response: redemptionSchema,
    errors: ['forbidden', 'payoutNotFound'],
    verb: async (ctx: Ctx, { params }) => {
      requireBank(ctx)
      return getRedemption(ctx, params.id)
    },
  }),
]
