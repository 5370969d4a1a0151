import Type, { type Static } from 'typebox'
import { requireBank } from '#api/business/require-bank'
import { checkCountry, checkPlace } from '#api/identity'
import { bankFingerprintOf } from '#custody/bank-numbers/index'
import type { Ctx } from '#engines/ctx'
import { findBankAccount, linkAccount, listBankAccounts } from '#engines/treasury/banking/index'
import { ApiError, invalid, notFound } from '#lib/errors'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { readNumbers } from './read-numbers.ts'
import {
  bankAccountParams,
  bankAccountSchema,
  instructionsQuery,
  instructionsSchema,
  newBankAccountSchema,
} from './schema.ts'
import { readBankAddress, readBillingDetails, showBankAccount } from './show-bank-account.ts'

const tag = 'Bank accounts'

type NewAccountBody = Static<typeof newBankAccountSchema>

async function createAccount(ctx: Ctx, { body }: { body: NewAccountBody }) {
  requireBank(ctx)
  const { billingDetails, bankAddress } = body
  checkPlace(billingDetails, 'billingDetails')
  if (bankAddress.district) checkPlace(bankAddress, 'bankAddress')
  else checkCountry(bankAddress.country, 'bankAddress.country')
  const account = await linkAccount(ctx, {
    numbers: readNumbers(body),
    billingDetails: readBillingDetails(billingDetails),
    bankAddress: readBankAddress(bankAddress),
  })
  return showBankAccount(account)
}

async function requireAccount(ctx: Ctx, id: string) {
  const account = await findBankAccount(ctx.db, ctx.entity.id, id)
  if (!account) throw notFound('bank account', id, 'bankAccountNotFound')
  return account
}

/** The account of a repeated request, whose number has to be the same: only its fingerprint is stored. */
async function repeatedAccount(ctx: Ctx, id: string, { body }: { body: NewAccountBody }) {
  const account = await requireAccount(ctx, id)
  if (bankFingerprintOf(ctx.custody, ctx.entity.id, readNumbers(body)) !== account.fingerprint)
    throw new ApiError('conflict')
  return showBankAccount(account)
}

const getAccount = async (ctx: Ctx, id: string) => showBankAccount(await requireAccount(ctx, id))

async function getInstructions(ctx: Ctx, id: string, currency: 'USD' | 'EUR' = 'USD') {
  const { instructions } = requireBank(ctx)
  const { trackingRef } = await requireAccount(ctx, id)
  if (currency !== 'USD')
    throw invalid({
      at: 'currency',
      reason: 'must be USD: the bank of this server takes no other currency',
      value: currency,
      kind: 'currencyUnsupportedForOperation',
    })
  return { trackingRef, ...instructions }
}

export const bankAccountEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/businessAccount/banks/wires',
    operationId: 'createWireAccount',
    summary: 'Link a bank account',
    description:
      'Links a bank account for wires. It is `pending` until the bank has decided. The number is kept sealed until the bank has it, and then erased.',
    tag,
    auth: 'apiKey',
    body: newBankAccountSchema,
    response: bankAccountSchema,
    status: 201,
    idempotent: {
      conflict: 'conflict',
      replayStatus: 201,
      resourceIdOf: (account: { id: string }) => account.id,
      secretFields: ['accountNumber', 'routingNumber', 'iban'],
      reload: (ctx: Ctx, id, input: { body: NewAccountBody }) => repeatedAccount(ctx, id, input),
    },
    errors: ['forbidden', 'countryInvalid', 'districtInvalid', 'bankAccountNotFound'],
    verb: (ctx: Ctx, input) => createAccount(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/banks/wires',
    operationId: 'listWireAccounts',
    summary: 'List linked bank accounts',
    description: 'Lists the linked bank accounts, newest first.',
    tag,
    auth: 'apiKey',
    response: Type.Array(bankAccountSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: ['forbidden'],
    verb: async (ctx: Ctx, { page }) => {
      requireBank(ctx)
      const found = await listBankAccounts(ctx.db, ctx.entity.id, page)
      return { found, items: found.rows.map(showBankAccount) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/banks/wires/{id}',
    operationId: 'getWireAccount',
    summary: 'Get a linked bank account',
    description: 'Returns one linked bank account.',
    tag,
    auth: 'apiKey',
    params: bankAccountParams,
    response: bankAccountSchema,
    errors: ['forbidden', 'bankAccountNotFound'],
    verb: async (ctx: Ctx, { params }) => {
      requireBank(ctx)
      return getAccount(ctx, params.id)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/banks/wires/{id}/instructions',
    operationId: 'getWireInstructions',
    summary: 'Get the instructions for a wire',
    description:
      'Returns where to send a wire from a linked bank account, and the reference that it has to carry.',
    tag,
    auth: 'apiKey',
    params: bankAccountParams,
    query: instructionsQuery,
    response: instructionsSchema,
    errors: ['forbidden', 'bankAccountNotFound', 'currencyUnsupportedForOperation'],
    verb: (ctx: Ctx, { params, query }) => getInstructions(ctx, params.id, query.currency),
  }),
]
