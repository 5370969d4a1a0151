/** The extension payment-identifier: a payer that signs anew what it pays for already is charged once. */
import { randomUUID } from 'node:crypto'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { freshAddress } from '#testing/builders/world'
import { fundedPayer, settlementRequest } from '#testing/builders/x402-payments'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
let payer: PrivateKeyAccount

beforeAll(async () => {
  harness = await openHarness()
  payer = await fundedPayer(harness)
})
afterAll(() => harness?.close())

type Wanted = Parameters<typeof settlementRequest>[2]

const settle = async (wanted: Wanted, by = payer, as: Pick<Harness, 'http'> = harness) =>
  as.http('POST', '/v1/facilitator/x402/settle', { body: await settlementRequest(harness, by, wanted) })
const paidTo = async (to: string) =>
  (await harness.chain().oracle.transfers({ to })).map(({ amountAtomic }) => amountAtomic)
const newIdentifier = () => `pay_${randomUUID()}`

describe('property 241: a payment that its payer names', () => {
  it('is charged once, whatever the payer signs for it, at the same time and later', async () => {
    const [to, identifier] = [freshAddress(), newIdentifier()]
    const answers = await Promise.all([1, 2, 3, 4].map(() => settle({ to, identifier })))
    answers.push(await settle({ to, identifier }))
    const bodies = answers.map(({ body }) => body)
    expect(bodies.filter(({ success }) => success)).toHaveLength(1)
    const others = bodies.filter(({ success }) => !success).map(({ errorReason }) => errorReason)
    expect(others).toEqual(Array(4).fill('duplicate_settlement'))
    expect(new Set(bodies.map(({ paymentId, transaction }) => `${paymentId} ${transaction}`)).size).toBe(1)
    expect(await paidTo(to)).toEqual([250_000n])
  })

  it('is no other one under the same name', async () => {
    const [to, identifier] = [freshAddress(), newIdentifier()]
    const { body: first } = await settle({ to, identifier })
    const elsewhere = freshAddress()
    const others = [
      await settle({ to: elsewhere, identifier }),
      await settle({ to, identifier, amountAtomic: 1n }),
    ]
    const forged = await settlementRequest(harness, payer, { to, identifier })
    forged.paymentPayload.payload.authorization['validAfter'] = '1'
    others.push(await harness.http('POST', '/v1/facilitator/x402/settle', { body: forged }))
    for (const { body } of others)
      expect(body).toMatchObject({
        success: false,
        errorReason: 'payment_identifier_conflict',
        paymentId: first.paymentId,
      })
    expect([await paidTo(to), await paidTo(elsewhere)]).toEqual([[250_000n], []])
  })

  it('has its name for its payer and in one account alone', async () => {
    const identifier = newIdentifier()
    const [tenant, other] = [await harness.newEntity(), await fundedPayer(harness)]
    expect((await settle({ identifier })).body).toMatchObject({ success: true })
    expect((await settle({ identifier }, other)).body).toMatchObject({ success: true })
    expect((await settle({ identifier }, payer, tenant)).body).toMatchObject({ success: true })
  })

  it('can be made again after a failure, once the first authorization has expired', async () => {
    const [to, identifier, own] = [freshAddress(), newIdentifier(), await fundedPayer(harness)]
    await harness.stopEngines()
    const { body: failed } = await settle({ to, identifier, seconds: 1 }, own)
    expect(failed).toMatchObject({ success: false, errorReason: 'invalid_exact_evm_transaction_failed' })
    harness.startEngines()
    expect((await settle({ to, identifier }, own)).body).toMatchObject({
      success: false,
      paymentId: failed.paymentId,
    })
    await harness.database.run(
      sql`update x402_payments set valid_before = 1 where id = ${failed.paymentId} and refusal is not null`,
    )
    expect((await settle({ to, identifier }, own)).body).toMatchObject({ success: true })
    expect(await paidTo(to)).toEqual([250_000n])
  })

  it('is refused under a name that is none', async () => {
    for (const identifier of ['short', 'x'.repeat(129), 'a name with blanks in it', 7, null]) {
      const { status, body } = await settle({ identifier })
      expect([status, body.message]).toEqual([
        400,
        expect.stringContaining('paymentPayload.extensions.payment-identifier.info.id must have 16 to 128'),
      ])
    }
    const { body } = await harness.http('GET', '/v1/facilitator/x402/supported')
    expect(body.extensions).toContain('payment-identifier')
  })
})
