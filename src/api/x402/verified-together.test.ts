/** Verdicts on many payments at once, whose simulations share requests to a node: each is about its own payment. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { permitSpenders } from '#chains/evm/signing/permit2'
import { freshAddress } from '#testing/builders/world'
import { fundedPayer, settlementRequest } from '#testing/builders/x402-payments'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness?.close())

describe('property 241: payments that are verified at once', () => {
  it('are verified whatever the contract of another payer answers', async () => {
    const { chainId, tokens, rpc } = harness.chain()
    // Reverts with 304 KiB, which Permit2 and the contract of the scheme pass on.
    const contract = `0x${'be'.repeat(20)}`
    await rpc('anvil_setCode', [contract, '0x6204c0005ffd'])
    const payTo = freshAddress()
    const required = {
      scheme: 'exact',
      network: `eip155:${chainId}`,
      payTo,
      amount: '1',
      asset: tokens.USDC,
    }
    const permit2Authorization = {
      from: contract,
      permitted: { token: tokens.USDC, amount: '1' },
      spender: permitSpenders.exact,
      nonce: '1',
      deadline: String(Math.floor(harness.clock.nowMs() / 1_000) + 600),
      witness: { to: payTo, validAfter: '0' },
    }
    const hostile = {
      x402Version: 2,
      paymentPayload: { accepted: required, payload: { signature: '0x12', permit2Authorization } },
      paymentRequirements: required,
    }
    const verify = (body: object) => harness.http('POST', '/v1/facilitator/x402/verify', { body })
    const payer = await fundedPayer(harness)
    const honest = await Promise.all(Array.from({ length: 24 }, () => settlementRequest(harness, payer)))
    const answers = await Promise.all(
      honest.flatMap((body, index) => [verify(body), ...(index % 3 === 0 ? [verify(hostile)] : [])]),
    )
    const verdicts = answers.map(({ status, body }) => `${status} ${body.invalidReason}`)
    const countOf = (wanted: string) => verdicts.filter((verdict) => verdict === wanted).length
    expect([countOf('200 undefined'), countOf('200 permit2_insufficient_balance')]).toEqual([24, 8])
  })

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
