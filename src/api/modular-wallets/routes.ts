import type { Ctx } from '#engines/ctx'
import { walletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import {
  getModularTransfer,
  getUserOperation,
  listModularTransfers,
  listUserOperations,
} from './read-modular-wallets.ts'
import {
  modularTransferAnswer,
  modularTransferParams,
  transfersAnswer,
  transfersQuery,
  userOperationAnswer,
  userOperationParams,
  userOperationsAnswer,
  userOperationsQuery,
} from './schema.ts'

const shared = { method: 'GET', tag: 'Modular wallets', auth: 'apiKey' } as const

/** The operations under both names that they have: in the specification and in documents of clients. */
const operationsUnder = (prefix: string, name: string) => [
  endpoint({
    ...shared,
    path: `${prefix}/transfers`,
    operationId: `list${name}Transfers`,
    summary: 'List the transfers of modular wallets',
    description: 'Lists the transfers of native coins and listed tokens from and to modular wallets.',
    query: transfersQuery,
    response: transfersAnswer,
    collection: { ...walletCollection, items: 'transfers' },
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listModularTransfers(ctx, query, page),
  }),
  endpoint({
    ...shared,
    path: `${prefix}/transfers/{id}`,
    operationId: `get${name}Transfer`,
    summary: 'Get a transfer of a modular wallet',
    description: 'Returns a transfer from or to a modular wallet.',
    params: modularTransferParams,
    response: modularTransferAnswer,
    errors: ['idNotUuid', 'modularTransferNotFound'],
    verb: (ctx: Ctx, { params }) => getModularTransfer(ctx, params.id),
  }),
  endpoint({
    ...shared,
    path: `${prefix}/userOps`,
    operationId: `list${name}UserOperations`,
    summary: 'List user operations',
    description: 'Lists the user operations that modular wallets sent through this server.',
    query: userOperationsQuery,
    response: userOperationsAnswer,
    collection: { ...walletCollection, items: 'userOperations' },
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listUserOperations(ctx, query, page),
  }),
  endpoint({
    ...shared,
    path: `${prefix}/userOps/{id}`,
    operationId: `get${name}UserOperation`,
    summary: 'Get a user operation',
    description: 'Returns a user operation that a modular wallet sent through this server.',
    params: userOperationParams,
    response: userOperationAnswer,
    errors: ['idNotUuid', 'userOperationNotFound'],
    verb: (ctx: Ctx, { params }) => getUserOperation(ctx, params.id),
  }),
]

export const modularWalletEndpoints = [
  ...operationsUnder('/v1/w3s/modular', 'Modular'),
  ...operationsUnder('/v1/w3s/buidl', 'Buidl'),
]
