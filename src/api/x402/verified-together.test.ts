/** Verdicts on many payments at once, whose simulations share requests to a node: each is about its own payment. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshAddress } from '#testing/builders/world'
import { fundedPayer, settlementRequest } from '#testing/builders/x402-payments'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness?.close())

describe('property 241: payments that are verified at once', () => {
  it('have each the verdict on themselves', async () => {
    const payer = await fundedPayer(harness)
    const coins = [250_000n, 2_000_000n, 1n]
    const asked = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const body = await settlementRequest(harness, payer, { amountAtomic: coins[index % 3]! })
        // The key of the payer did not sign this number, and a contract has none of its own.
        if (index % 3 === 2) body.paymentPayload.payload.authorization['nonce'] = `0x${'ab'.repeat(32)}`
        return body
      }),
    )
    const answers = await Promise.all(
      asked.map((body) => harness.http('POST', '/v1/facilitator/x402/verify', { body })),
    )
    const expected = [undefined, 'invalid_exact_evm_insufficient_balance', 'invalid_exact_evm_signature']
    expect(answers.map(({ body }) => [body.isValid, body.invalidReason])).toEqual(
      asked.map((_, index) => [index % 3 === 0, expected[index % 3]]),
    )
    const to = freshAddress()
    const settling = await Promise.all(
      [1, 2, 3, 4].map(async () => settlementRequest(harness, payer, { to, amountAtomic: 10n })),
    )
    const settled = await Promise.all(
      settling.map((body) => harness.http('POST', '/v1/facilitator/x402/settle', { body })),
    )
    expect(settled.map(({ body }) => body.success)).toEqual([true, true, true, true])
  })
})
