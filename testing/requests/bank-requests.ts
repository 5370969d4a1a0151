import {
  makeBankAccount,
  makeLinkedAccount,
  makeRedemption,
  redemptionOf,
  usAccount,
} from '#testing/builders/bank-accounts'
import { keyed } from './keyed-request.ts'
import type { RequestSamples } from './sample-request.ts'

const wires = '/v1/businessAccount/banks/wires'
const payouts = '/v1/businessAccount/payouts'

/** Sample requests for linked bank accounts and the payouts to them. */
export const bankRequests: Record<string, RequestSamples> = {
  [`POST ${wires}`]: {
    request: (world) => keyed(world, usAccount),
    changes: async () => ({
      accountNumber: '12340011',
      billingDetails: { ...usAccount.billingDetails, name: 'Another' },
    }),
    refused: async () => ({ routingNumber: '121000249' }),
  },
  [`GET ${wires}`]: { request: async () => ({}) },
  [`GET ${wires}/{id}`]: {
    request: async (world) => ({ params: { id: (await makeBankAccount(world)).id } }),
  },
  [`GET ${wires}/{id}/instructions`]: {
    request: async (world) => ({ params: { id: (await makeBankAccount(world)).id } }),
  },
  [`POST ${payouts}`]: {
    request: async (world) => keyed(world, await redemptionOf(world)),
    changes: async (world) => ({
      destination: { type: 'wire', id: (await makeLinkedAccount(world)).id },
      amount: { amount: '1.01', currency: 'USD' },
    }),
    refused: async () => ({ amount: { amount: '0', currency: 'USD' } }),
  },
  [`GET ${payouts}`]: { request: async () => ({}) },
  [`GET ${payouts}/{id}`]: {
    request: async (world) => ({ params: { id: (await makeRedemption(world)).id } }),
  },
}
