import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { maticAmoy as network } from '#chains/networks/matic-amoy'
import type { ObservedTransfer } from '#engines/indexer/observed/index'
import { newId } from '#lib/ids'
import { sql } from '#runtime/db/db'
import { type Harness, openHarness } from '#testing/platform/harness'
import { findPaymentIntent, openPaymentIntent, type PaymentIntent } from '../payment-intents/index.ts'
import { creditDeposits, revertDeposits } from './credit-deposits.ts'

/** The chain is not started: its blocks are written by hand, to reach depths that a local chain does not have. */
let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness.close())

const confirmations = 3
const payer = '0x00000000000000000000000000000000000a11ce'
const usdc = network.tokens.find(({ symbol }) => symbol === 'USDC')!
const hashOf = (number: number, fork = 'a') => `0x${fork}${number}`

const open = () =>
  harness.database.tx((db) =>
    openPaymentIntent(
      { ...harness.ctx, db },
      {
        entityId: harness.entityId,
        actor: 'test',
        requestId: 'test',
        currency: 'USD',
        decimals: usdc.decimals,
        chain: network.businessChain,
        blockchain: network.blockchain,
        family: 'evm',
      },
    ),
  )

async function transferTo(intent: PaymentIntent, changes: Partial<ObservedTransfer> = {}) {
  const { ownerId } = await harness.database.one<{ ownerId: string }>(
    sql`select id as owner_id from deposit_addresses where payment_intent_id = ${intent.id}`,
  )
  const transfer: ObservedTransfer = {
    entityId: harness.entityId,
    id: newId(0),
    blockchain: network.blockchain,
    blockHash: '',
    blockNumber: 0,
    txHash: '0xfeed',
    kind: 'log',
    position: 0,
    direction: 'in',
    tokenId: usdc.id,
    fromAddress: payer,
    toAddress: intent.depositAddress!,
    amount: 5n,
    address: intent.depositAddress!,
    purpose: 'deposit',
    ownerId,
    blockTime: intent.createDate,
    ...changes,
  }
  return transfer
}

const apply = (number: number, transfers: ObservedTransfer[] = [], fork?: string) =>
  harness.database.tx((tx) =>
    creditDeposits(
      harness.ctx,
      tx,
      { network, confirmations },
      { number, hash: hashOf(number, fork), completeTo: number - confirmations + 1 },
      transfers,
    ),
  )
const undo = (number: number, fork?: string) =>
  harness.database.tx((tx) =>
    revertDeposits(tx, Date.now(), network.blockchain, { number, hash: hashOf(number, fork) }),
  )
const statesOf = (intent: PaymentIntent) =>
  harness.database.all<{ id: string; status: string; amount: bigint; ordinal: number }>(
    sql`select id, status, amount, ordinal from payments where deposit_address = ${intent.depositAddress}
      order by ordinal, create_date`,
  )
const statusesOf = async (intent: PaymentIntent) => (await statesOf(intent)).map(({ status }) => status)
const paidTo = async ({ entityId, id }: PaymentIntent) =>
  (await findPaymentIntent(harness.database, entityId, id))!.amountPaid

describe('payments at a depth of three', () => {
  it('are pending until two blocks follow their block', async () => {
    const intent = await open()
    await apply(10, [await transferTo(intent)])
    expect(await statusesOf(intent)).toEqual(['pending'])
    await apply(11)
    expect(await statusesOf(intent)).toEqual(['pending'])
    expect(await paidTo(intent)).toBe(0n)
    await apply(12)
    expect(await statusesOf(intent)).toEqual(['paid'])
    expect(await paidTo(intent)).toBe(5n)
  })

  it('count confirmations from their new block after a reorg, and are settled once', async () => {
    const intent = await open()
    const transfer = await transferTo(intent, { txHash: '0xmoved' })
    await apply(20, [transfer])
    await apply(21)
    await undo(21)
    await undo(20)
    await apply(20, [], 'b')
    await apply(21, [{ ...transfer, position: 7 }], 'b')
    await apply(22, [], 'b')
    expect(await statusesOf(intent)).toEqual(['pending'])
    await apply(23, [], 'b')
    await apply(24, [], 'b')
    expect(await statusesOf(intent)).toEqual(['paid'])
    expect(await paidTo(intent)).toBe(5n)
  })

  it('do not settle without a block, and fail when no later block includes them', async () => {
    const intent = await open()
    await apply(30, [await transferTo(intent, { txHash: '0xlost' })])
    await undo(30)
    for (let number = 30; number < 42; number++) await apply(number, [], 'b')
    expect(await statusesOf(intent)).toEqual(['pending'])
    await apply(42, [], 'b')
    expect(await statusesOf(intent)).toEqual(['failed'])
    expect(await paidTo(intent)).toBe(0n)
  })

  it('are one for each transfer of a transaction, and keep their ordinals', async () => {
    const intent = await open()
    const first = await transferTo(intent, { txHash: '0xtwo', position: 3, amount: 1n })
    const second = await transferTo(intent, { txHash: '0xtwo', position: 5, amount: 2n })
    await apply(50, [second, first])
    const before = await statesOf(intent)
    expect(before.map(({ amount }) => amount)).toEqual([1n, 2n])
    await undo(50)
    await apply(
      50,
      [
        { ...first, position: 13 },
        { ...second, position: 15 },
      ],
      'b',
    )
    await apply(51, [], 'b')
    await apply(52, [], 'b')
    expect(await statesOf(intent)).toEqual(before.map((payment) => ({ ...payment, status: 'paid' })))
    expect(await paidTo(intent)).toBe(3n)
  })

  it('ignore outgoing transfers, other addresses and unlisted tokens', async () => {
    const intent = await open()
    const transfer = await transferTo(intent, { txHash: '0xnot' })
    await apply(60, [
      { ...transfer, direction: 'out' },
      { ...transfer, purpose: 'wallet' },
      { ...transfer, amount: 0n },
      { ...transfer, tokenId: network.nativeToken.id },
    ])
    expect(await statusesOf(intent)).toEqual([])
  })
})
