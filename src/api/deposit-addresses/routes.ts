import Type from 'typebox'
import { requireMainWallet } from '#api/sources/source-wallet'
import { requireTokenNetwork } from '#api/sources/token-network'
import type { Ctx } from '#engines/ctx'
import {
  type DepositAddress,
  findDepositAddress,
  listDepositAddresses,
  openDepositAddress,
} from '#engines/treasury/deposit-addresses/index'
import { merchantWalletIdOf } from '#engines/treasury/index'
import { endpoint } from '#runtime/http/endpoint'
import { depositAddressSchema, newDepositAddressSchema, walletQuery } from './schema.ts'

const tag = 'Deposit addresses'
const path = '/v1/businessAccount/wallets/addresses/deposit'

const show = ({ id, address, currency, chain, entityId }: DepositAddress) => ({
  id,
  address,
  currency,
  chain,
  walletId: merchantWalletIdOf(entityId),
})

export const depositAddressEndpoints = [
  endpoint({
    method: 'POST',
    path,
    operationId: 'createDepositAddress',
    summary: 'Create a deposit address',
    description:
      'Returns the address of a chain that credits the main wallet, and creates it at the first request.',
    tag,
    auth: 'apiKey',
    query: walletQuery,
    body: newDepositAddressSchema,
    response: depositAddressSchema,
    status: 201,
    idempotent: {
      conflict: 'conflict',
      replayStatus: 201,
      resourceIdOf: (address: { id: string }) => address.id,
      reload: async (ctx: Ctx, id) => {
        const found = await findDepositAddress(ctx.db, ctx.entity.id, id)
        if (!found) throw new Error(`deposit address ${id} is not there`)
        return show(found)
      },
    },
    errors: ['merchantWalletUnknown', 'chainUnsupported', 'chainUnfitForCurrency', 'chainNotStarted'],
    verb: async (ctx: Ctx, { query, body: { chain, currency } }) => {
      requireMainWallet(ctx, 'walletId', query.walletId, 'merchantWalletUnknown')
      const { network } = requireTokenNetwork(ctx, 'chain', chain, currency)
      const { blockchain, family } = network
      const by = { entityId: ctx.entity.id, actor: ctx.actor, requestId: ctx.requestId }
      return show(await openDepositAddress(ctx, { ...by, chain, blockchain, currency, family }))
    },
  }),
  endpoint({
    method: 'GET',
    path,
    operationId: 'listDepositAddresses',
    summary: 'List deposit addresses',
    description: 'Lists all deposit addresses, without pages.',
    tag,
    auth: 'apiKey',
    query: walletQuery,
    response: Type.Array(depositAddressSchema, { description: 'The deposit addresses.' }),
    errors: ['merchantWalletUnknown'],
    verb: async (ctx: Ctx, { query }) => {
      requireMainWallet(ctx, 'walletId', query.walletId, 'merchantWalletUnknown')
      return (await listDepositAddresses(ctx.db, ctx.entity.id)).map(show)
    },
  }),
]
