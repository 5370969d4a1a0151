import { randomUUID } from 'node:crypto'
import { reportResult } from '#engines/treasury/banking/index'
import type { World } from './world.ts'

/** A bank account in the US, as a request links it. */
export const usAccount = {
  accountNumber: '12340010',
  routingNumber: '121000248',
  billingDetails: {
    name: 'Satoshi Nakamoto',
    line1: '100 Money Street',
    city: 'Boston',
    district: 'MA',
    postalCode: '01234',
    country: 'US',
  },
  bankAddress: { bankName: 'SAN FRANCISCO', country: 'US' },
}

/** Links a bank account; it is pending. */
export const makeBankAccount = async (world: World): Promise<{ id: string }> =>
  world.call('POST', '/v1/businessAccount/banks/wires', { idempotencyKey: randomUUID(), ...usAccount })

/** A linked bank account whose status is complete, as the bank reports it. */
export async function makeLinkedAccount(world: World): Promise<{ id: string }> {
  const account = await makeBankAccount(world)
  const { ctx, database } = world.harness
  const { entityId } = world.tenant
  await database.tx((db) =>
    reportResult(
      { ...ctx, db, actor: 'bank', requestId: account.id },
      { type: 'account', entityId, id: account.id, status: 'complete' },
    ),
  )
  return account
}

/** The request of a payout of a dollar to a linked account. */
export async function redemptionOf(world: World) {
  await world.money()
  const { id } = await makeLinkedAccount(world)
  return { destination: { type: 'wire', id }, amount: { amount: '1.00', currency: 'USD' } }
}

export const makeRedemption = async (world: World): Promise<{ id: string }> =>
  world.call('POST', '/v1/businessAccount/payouts', {
    idempotencyKey: randomUUID(),
    ...(await redemptionOf(world)),
  })
