import Type from 'typebox'
import { moneySchema, showMoney } from '#api/business/money'
import { walletIdText } from '#api/fields'
import { requireMainWallet } from '#api/sources/source-wallet'
import type { Ctx } from '#engines/ctx'
import { merchantBalances } from '#engines/treasury/index'
import { endpoint } from '#runtime/http/endpoint'

const balancesSchema = Type.Object(
  {
    available: Type.Array(moneySchema, {
      description: 'The money to spend, without the amounts that payouts and transfers under way reserve.',
    }),
    unsettled: Type.Array(moneySchema, { description: 'The money in blocks that are not final yet.' }),
  },
  { title: 'BusinessBalances', description: 'The money of the main wallet, by currency.' },
)

export const businessBalanceEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/balances',
    operationId: 'listBusinessBalances',
    summary: 'Get the balances of the main wallet',
    description: 'Returns the money to spend and the money that is not final yet, by currency.',
    tag: 'Balances',
    auth: 'apiKey',
    query: Type.Object({ walletId: Type.Optional(walletIdText) }),
    response: balancesSchema,
    errors: ['merchantWalletUnknown'],
    verb: async (ctx: Ctx, { query }) => {
      requireMainWallet(ctx, 'walletId', query.walletId, 'merchantWalletUnknown')
      const { available, unsettled } = await merchantBalances(ctx.db, ctx.entity.id)
      const shown = (money: typeof available) =>
        money.map(({ atomic, currency }) => showMoney(atomic, currency))
      return { available: shown(available), unsettled: shown(unsettled) }
    },
  }),
]
