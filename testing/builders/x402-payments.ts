import { randomBytes } from 'node:crypto'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { hexOf } from '#lib/hex'
import type { Harness } from '#testing/platform/harness'
import { signedX402Payment } from './token-authorizations.ts'
import { freshAddress } from './world.ts'

/** A payer with a coin, which pays by signatures alone. */
export async function fundedPayer(harness: Harness): Promise<PrivateKeyAccount> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await harness.fundWallet(payer.address, { usdc: '1' })
  return payer
}

type Wanted = {
  to?: string
  amountAtomic?: bigint
  /** The longest that the seller waits. */
  seconds?: number
  identifier?: unknown
}

/** The request of a seller to settle a payment of a quarter of a coin, which its payer signs anew each time. */
export async function settlementRequest(harness: Harness, payer: PrivateKeyAccount, wanted: Wanted = {}) {
  const { to = freshAddress(), amountAtomic = 250_000n, seconds = 20, identifier } = wanted
  const usdc = harness.chain().tokens.USDC as `0x${string}`
  const domain = { name: 'USDC', version: '2', chainId: 84_532, verifyingContract: usdc }
  const nowSeconds = BigInt(Math.floor(harness.clock.nowMs() / 1_000))
  const { body } = await signedX402Payment(payer, domain, usdc, {
    from: payer.address,
    to: to as `0x${string}`,
    value: amountAtomic,
    validAfter: 0n,
    validBefore: nowSeconds + 600n,
    nonce: hexOf(randomBytes(32)),
  })
  const extensions = { 'payment-identifier': { info: { required: false, id: identifier } } }
  return {
    ...body,
    paymentRequirements: { ...body.paymentRequirements, maxTimeoutSeconds: seconds },
    paymentPayload: { ...body.paymentPayload, ...(identifier !== undefined && { extensions }) },
  }
}
