import Type from 'typebox'
import { requireMainWallet } from '#api/sources/source-wallet'
import type { Ctx } from '#engines/ctx'
import { findFiatDeposit, listFiatDeposits } from '#engines/treasury/deposits/index'
import { notFound } from '#lib/errors'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { receiveWire } from './receive-wire.ts'
import { depositFilters, depositParams, depositSchema, newWireSchema, wireSchema } from './schema.ts'
import { showDeposit } from './show-deposit.ts'

const tag = 'Deposits'

export const businessDepositEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/deposits',
    operationId: 'listBusinessDeposits',
    summary: 'List deposits',
    description: 'Lists deposits by wire, newest first.',
    tag,
    auth: 'apiKey',
    query: depositFilters,
    response: Type.Array(depositSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: ['merchantWalletUnknown'],
    verb: async (ctx: Ctx, { query, page }) => {
      requireMainWallet(ctx, 'walletId', query.walletId, 'merchantWalletUnknown')
      const found = await listFiatDeposits(ctx.db, ctx.entity.id, page)
      return { found, items: found.rows.map(showDeposit) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/deposits/{id}',
    operationId: 'getBusinessDeposit',
    summary: 'Get a deposit',
    description: 'Returns one deposit.',
    tag,
    auth: 'apiKey',
    params: depositParams,
    response: depositSchema,
    errors: ['depositNotFound'],
    verb: async (ctx: Ctx, { params }) => {
      const deposit = await findFiatDeposit(ctx.db, ctx.entity.id, params.id)
      if (!deposit) throw notFound('deposit', params.id, 'depositNotFound')
      return showDeposit(deposit)
    },
  }),
  endpoint({
    method: 'POST',
    path: '/v1/mocks/payments/wire',
    operationId: 'createMockWire',
    summary: 'Simulate a wire',
    description:
      'Simulates an incoming wire: the sandbox mints its dollars to the treasury of the account. A reference of a linked bank account names the sender. Available in a sandbox only.',
    tag,
    auth: 'apiKey',
    body: newWireSchema,
    response: wireSchema,
    status: 201,
    errors: ['paymentAmountNotPositive', 'chainNotStarted'],
    verb: (ctx: Ctx, input) => receiveWire(ctx, input),
  }),
]
