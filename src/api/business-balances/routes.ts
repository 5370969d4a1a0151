import Type from 'typebox'
import { moneySchema, showMoney } from '#api/money'
import { requireMainWallet } from '#api/source-wallet'
import type { Ctx } from '#engines/ctx'
import { merchantBalances } from '#engines/treasury/index'
import { endpoint } from '#runtime/http/endpoint'

export const businessBalanceEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/balances',
    operationId: 'listBusinessBalances',
    summary: 'Get what the main wallet can spend, and what is on its way to it',
    tag: 'Balances',
    auth: 'apiKey',
    query: Type.Object({
      walletId: Type.Optional(
        Type.String({ maxLength: 36, description: 'Default: the masterWalletId of GET /v1/configuration.' }),
      ),
    }),
    response: Type.Object({
      available: Type.Array(moneySchema, {
        description: 'Without what payouts and transfers under way have reserved.',
      }),
      unsettled: Type.Array(moneySchema, { description: 'In blocks that are not final yet.' }),
    }),
    errors: ['invalidRequest', 'merchantWalletUnknown', 'unauthorized'],
    verb: async (ctx: Ctx, { query }) => {
      requireMainWallet(ctx, 'walletId', query.walletId, 'merchantWalletUnknown')
      const { available, unsettled } = await merchantBalances(ctx.db, ctx.entity.id)
      const shown = (money: typeof available) =>
        money.map(({ atomic, currency }) => showMoney(atomic, currency))
      return { available: shown(available), unsettled: shown(unsettled) }
    },
  }),
]
