import Type, { type Static } from 'typebox'
import { blockchainField, createDateField, filterText, idField } from '#api/fields'
import { canonicalAddress } from '#chains/addresses/canonical'
import type { Ctx } from '#engines/ctx'
import { type ModularWallet, modularWalletsPage } from '#engines/modular/index'
import { businessCollection, type PageQuery } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { described } from '#runtime/http/openapi/annotate'

const modularWalletSchema = Type.Object(
  {
    id: idField('The id of the wallet.'),
    blockchain: described(blockchainField, 'The blockchain.'),
    address: Type.String({ description: 'The address of the account.' }),
    name: Type.Optional(Type.String({ description: 'The name that the page gave it.' })),
    createDate: createDateField,
  },
  { title: 'ModularWallet', description: 'A smart account whose owners sign in pages.' },
)

const walletFilters = Type.Object({
  blockchain: Type.Optional(described(blockchainField, 'The blockchain.')),
  address: Type.Optional(filterText('The address.')),
})

async function listWallets(ctx: Ctx, { blockchain, address }: Static<typeof walletFilters>, page: PageQuery) {
  const filters = { blockchain, address: address && canonicalAddress(address) }
  const found = await modularWalletsPage(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows.map(showWallet) }
}

const showWallet = ({ id, blockchain, address, name, createDate }: ModularWallet) => ({
  id,
  blockchain,
  address,
  ...(name !== null && { name }),
  createDate,
})

export const operatorModularWalletEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/modularWallets',
    operationId: 'listOperatorModularWallets',
    summary: 'List modular wallets',
    description: 'Lists the modular wallets that pages of the app have opened, newest first.',
    tag: 'Operator',
    auth: 'operator:read',
    query: walletFilters,
    response: Type.Array(modularWalletSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listWallets(ctx, query, page),
  }),
]
