/** Rules of an API key and of its entity about settlements by x402, met by the published client of a seller. */
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { toClientEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertApiKey } from '#runtime/auth/store'
import { openAsOwner, type Sql, sql } from '#runtime/db/db'
import { freshAddress, makeWallet, worldOf } from '#testing/builders/world'
import { facilitatorOf } from '#testing/builders/x402-facilitator'
import { fundedPayer } from '#testing/builders/x402-payments'
import { sessionOf, unlimited, untilBlockedBy } from '#testing/databases/blocked-sessions'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs, untilAdmitted } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

let harness: Harness
let payer: PrivateKeyAccount

beforeAll(async () => {
  harness = await openHarness({ lab: true })
  payer = await fundedPayer(harness)
  // The first payment waits for the gas of the treasury.
  const seller = await newSeller()
  expect(await seller.settle(await paying(seller.payTo))).toMatchObject({ success: true })
})
afterAll(() => harness?.close())

const price = 50_000n
const token = () => `BASE-SEPOLIA:${harness.chain().tokens.USDC.toLowerCase()}`
const within = (amountAtomic: bigint, seconds = 86_400) => ({ seconds, amountAtomic: String(amountAtomic) })
type Terms = { destinations?: 'any' | string[]; limits?: object[]; networkFees?: object[] }
const rulesOf = (settlements: Terms) => ({
  mode: 'rules',
  settlements: { destinations: 'any', tokens: [token()], ...settlements },
})
const limitOf = (limit: object) => [{ tokens: [token()], ...limit }]
const feesOf = (limit: object) => [{ tokens: ['BASE-SEPOLIA:native'], ...limit }]

const setRules = (subjectId: string, rules: object) =>
  harness.http('POST', '/operator/policies', { body: { subjectId, rules } })

type Payment = readonly [PaymentPayload, PaymentRequirements]

/** A payment that its payer signs anew each time. */
async function paying(
  payTo: string,
  {
    by = payer,
    amount = price,
    seconds = 60,
  }: { by?: PrivateKeyAccount; amount?: bigint; seconds?: number } = {},
): Promise<Payment> {
  const { chainId, tokens } = harness.chain()
  const required: PaymentRequirements = {
    scheme: 'exact',
    network: `eip155:${chainId}`,
    payTo,
    amount: String(amount),
    maxTimeoutSeconds: 600,
    asset: tokens.USDC,
    extra: { name: 'USDC', version: '2' },
  }
  const signer = toClientEvmSigner(by, { readContract: () => Promise.reject(new Error('unused')) } as never)
  const signed = await new ExactEvmScheme(signer).createPaymentPayload(2, required)
  return [
    { ...signed, accepted: required },
    { ...required, maxTimeoutSeconds: seconds },
  ]
}

/** A seller with a key of its own, whose settlements have these rules. */
async function newSeller(settlements?: Terms) {
  const own = { entityId: harness.entityId, environment: 'TEST', nowMs: Date.now(), scopes: ['api'] } as const
  const { id, text } = await insertApiKey(harness.database, own)
  const client = facilitatorOf(harness.url, text)
  if (settlements) expect((await setRules(id, rulesOf(settlements))).status).toBe(201)
  return {
    id,
    http: httpAs(harness.url, text),
    payTo: freshAddress(),
    verify: (payment: Payment) => client.verify(...payment),
    settle: (payment: Payment) => client.settle(...payment),
  }
}

const paidTo = async (to: string) =>
  (await harness.chain().oracle.transfers({ to })).map(({ amountAtomic }) => amountAtomic)
const refused = (errorReason: string, at: string) =>
  expect.objectContaining({
    success: false,
    errorReason,
    errorMessage: expect.stringContaining(`The rule is ${at} of the `),
    transaction: '',
  })
const settled = expect.objectContaining({ success: true })
const onChain = (verb: string, body: object = {}) =>
  harness.http('POST', `/sandbox/chains/${harness.chain().blockchain}/${verb}`, { body })
/** The parts of a key's limits that its payments take. */
const takenBy = (keyId: string, purpose: string) =>
  harness.database.all<{ amount: bigint; released: boolean }>(
    sql`select amount, released_date is not null as released from policy_spending
      where entity_id = ${harness.entityId} and api_key_id = ${keyId} and purpose = ${purpose} order by create_date, intent_id`,
  )
/** Number of payments of a key of which this is true. */
const paymentsOf = async (keyId: string, condition: Sql) =>
  (
    await harness.database.all(sql`select 1 from transactions t where t.entity_id = ${harness.entityId} and ${condition}
      and t.id in (select intent_id from policy_spending where entity_id = ${harness.entityId} and api_key_id = ${keyId})`)
  ).length
const isSent = sql`t.state = 'SENT'`

describe('property 264: rules about settlements', () => {
  it('name the payees, the tokens and the most of a payment, for one key and no other', async () => {
    const [own, other] = [freshAddress(), await newSeller()]
    const seller = await newSeller({
      destinations: [`BASE-SEPOLIA:${own}`],
      limits: limitOf({ perTransactionAtomic: String(price) }),
    })
    const denied: [Payment, string][] = [
      [await paying(freshAddress()), 'settlements.destinations'],
      [await paying(own, { amount: price + 1n }), 'settlements.limits[0].perTransactionAtomic'],
    ]
    for (const [payment, at] of denied) {
      const verdict = await seller.verify(payment)
      expect([verdict.isValid, verdict.invalidReason]).toEqual([false, 'policy_denied'])
      expect(await seller.settle(payment)).toEqual(refused('policy_denied', at))
      expect(await paidTo(payment[1].payTo)).toEqual([])
    }
    await setRules(seller.id, { mode: 'rules', settlements: { destinations: 'any' } })
    expect(await seller.settle(await paying(own))).toEqual(refused('policy_denied', 'settlements.tokens'))
    // The rules of before are those of the version that is in force again.
    await setRules(seller.id, rulesOf({ destinations: [`BASE-SEPOLIA:${own}`] }))
    expect(await seller.verify(await paying(own))).toMatchObject({ isValid: true })
    expect(await seller.settle(await paying(own))).toEqual(settled)
    expect(await other.settle(denied[0]![0])).toEqual(settled)
    // A buyer reads which rule it is, and not how much is settled.
    const { errorMessage } = await seller.settle(await paying(other.payTo))
    expect(errorMessage).toContain(`of the API key ${seller.id}, version 3.`)
  })

  it('hold for twenty settlements at once, and a repeated one counts once', async () => {
    const seller = await newSeller({
      // Room for one more after the first: two that the database takes at once have it both, unless they wait for each other.
      limits: limitOf({ windows: [within(2n * price), within(3n * price, 60)] }),
    })
    const payments = await Promise.all(Array.from({ length: 20 }, () => paying(seller.payTo)))
    const answers = await Promise.all(payments.map(seller.settle))
    expect(answers.filter(({ success }) => success)).toHaveLength(2)
    for (const answer of answers.filter(({ success }) => !success))
      expect(answer).toEqual(refused('policy_limit_reached', 'settlements.limits[0]'))
    expect(await paidTo(seller.payTo)).toEqual(Array(2).fill(price))
    const done = payments[answers.findIndex(({ success }) => success)]!
    expect(await seller.settle(done)).toMatchObject({ errorReason: 'duplicate_settlement' })
    expect(await takenBy(seller.id, 'settlement')).toHaveLength(2)
    const verdict = await seller.verify(await paying(seller.payTo))
    expect(verdict.invalidReason).toBe('policy_limit_reached')
  })

  it('of the entity count all of its keys, and what wallets transfer has limits of its own', async () => {
    const tenant = await harness.newEntity()
    const limits = limitOf({ windows: [within(price)] })
    const rules = {
      ...rulesOf({ limits }),
      operations: ['transfer'],
      destinations: 'any',
      tokens: [token()],
      limits,
    }
    const world = worldOf({ ...harness, ...tenant } as Harness)
    const wallet = await makeWallet(world)
    await harness.fundWallet(wallet.address, { usdc: '1', native: '1' })
    const set = await tenant.http('POST', '/operator/policies', { body: { rules } })
    expect(set.status).toBe(201)
    const settle = async () => {
      const [paymentPayload, paymentRequirements] = await paying(freshAddress())
      const body = { x402Version: 2, paymentPayload, paymentRequirements }
      return (await tenant.http('POST', '/v1/facilitator/x402/settle', { body })).body
    }
    expect(await settle()).toEqual(settled)
    expect(await settle()).toEqual(refused('policy_limit_reached', 'settlements.limits[0]'))
    const transfer = () =>
      untilAdmitted(async () =>
        tenant.http('POST', '/v1/w3s/developer/transactions/transfer', {
          body: {
            idempotencyKey: crypto.randomUUID(),
            entitySecretCiphertext: await tenant.sealSecret(),
            walletId: wallet.id,
            tokenAddress: harness.chain().tokens.USDC,
            destinationAddress: freshAddress(),
            amounts: ['0.05'],
            feeLevel: 'MEDIUM',
          },
        }),
      )
    await until(async () => (await transfer()).status === 201, 'the wallet has its coins')
    expect((await transfer()).body.message).toContain('limits[0] allows 50000 in 86400 s')
  })

  it('free what was not sent, and what failed in its block once that is final', async () => {
    const [own, poor] = [
      await newSeller({ limits: limitOf({ windows: [within(1_000_000n)] }) }),
      await fundedPayer(harness),
    ]
    const most = { amount: 1_000_000n }
    await harness.stopEngines()
    const late = await own.settle(await paying(own.payTo, { ...most, by: poor, seconds: 1 }))
    expect(late).toMatchObject({ success: false, errorReason: 'invalid_exact_evm_transaction_failed' })
    await setRules(own.id, rulesOf({ limits: limitOf({ windows: [within(2_000_000n)] }) }))
    // Either one could be paid, and not both.
    const asked = [1, 2].map(async () => own.settle(await paying(own.payTo, { ...most, by: poor })))
    await until(async () => (await takenBy(own.id, 'settlement')).length === 3, 'both are recorded')
    expect(await own.settle(await paying(own.payTo))).toEqual(
      refused('policy_limit_reached', 'settlements.limits[0]'),
    )
    // One block has both, unless the second one is planned after the first was sent, and is not sent then.
    await onChain('pause')
    harness.startEngines()
    const waits = sql`t.state in ('INITIATED', 'CLEARED', 'QUEUED')`
    await until(async () => (await paymentsOf(own.id, waits)) === 0, 'none waits to be sent')
    await onChain('mine', { blocks: 1 })
    await onChain('resume')
    const answers = await Promise.all(asked)
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    await until(async () => {
      await onChain('mine', { blocks: 1 })
      return (await takenBy(own.id, 'settlement')).filter(({ released }) => released).length === 2
    }, 'the failed one is final')
    // The fee of each that is in a block was paid, and counts.
    const paid = await paymentsOf(own.id, sql`t.block_hash is not null`)
    expect(paid).toBeGreaterThan(0)
    const fees = await takenBy(own.id, 'networkFee')
    expect(fees.map(({ released }) => released).sort()).toEqual([1, 2, 3].map((place) => place > paid))
    expect(await own.settle(await paying(own.payTo))).toEqual(settled)
  })

  it('count a payment whose block is taken back, once', async () => {
    const seller = await newSeller({ limits: limitOf({ windows: [within(2n * price)] }) })
    await onChain('pause')
    try {
      const { extra } = await seller.settle(await paying(seller.payTo, { seconds: 1 }))
      const status = async () =>
        (await seller.http('GET', `/v1/facilitator/x402/status/${extra!['paymentId']}`)).body.status
      await until(async () => (await paymentsOf(seller.id, isSent)) === 1, 'it is sent')
      await onChain('mine', { blocks: 1 })
      await until(async () => (await status()) === 'completed', 'it is in a block')
      await onChain('reorg', { depth: 1, transactions: 'return' })
      await until(async () => (await status()) === 'pending', 'its block is taken back')
      expect(await seller.settle(await paying(seller.payTo, { amount: 2n * price }))).toEqual(
        refused('policy_limit_reached', 'settlements.limits[0]'),
      )
      await onChain('mine', { blocks: 1 })
      await until(async () => (await status()) === 'completed', 'another block has it')
    } finally {
      await onChain('resume')
    }
    expect(await seller.settle(await paying(seller.payTo))).toEqual(settled)
    expect((await seller.settle(await paying(seller.payTo))).errorReason).toBe('policy_limit_reached')
  })

  it('are refused where they mean nothing, and each change is recorded', async () => {
    const { id: walletId } = await makeWallet(worldOf(harness))
    const { id } = await newSeller()
    const wrong: [string, object, string][] = [
      [walletId, rulesOf({}), 'rules.settlements decides nothing here'],
      [
        id,
        rulesOf({ networkFees: limitOf({ perTransactionAtomic: '1' }) }),
        'rules.settlements.networkFees[0].tokens[0] is no native coin',
      ],
      [id, rulesOf({ networkFees: feesOf({}) }), 'rules.settlements.networkFees[0] limits nothing'],
      [id, rulesOf({ destinations: ['MARS:0xab'] }), 'rules.settlements.destinations[0]'],
      [id, rulesOf({ payees: 'any' } as never), 'rules.settlements.payees'],
      [
        id,
        rulesOf({ limits: feesOf({ perTransactionAtomic: '1' }) }),
        'rules.settlements.limits[0].tokens[0] is not among tokens',
      ],
    ]
    for (const [subjectId, rules, message] of wrong) {
      const { status, body } = await setRules(subjectId, rules)
      expect([status, body.message]).toEqual([400, expect.stringContaining(message)])
    }
    const seller = await newSeller({})
    const { extra } = await seller.settle(await paying(seller.payTo))
    const { data } = (await harness.http('GET', `/operator/auditEntries?resourceId=${extra!['paymentId']}`))
      .body
    const [requested] = data.filter(({ action }: { action: string }) => action === 'x402Payment.requested')
    expect(requested.actor).toContain(seller.id)
  })
})

it('property 264: a settlement waits for another one that the same limit counts', async () => {
  const seller = await newSeller({ limits: limitOf({ windows: [within(price)] }) })
  const owner = openAsOwner(harness.connection)
  try {
    const { asked } = await owner.tx(async (tx) => {
      await tx.all(sql`select 1 from policies where entity_id = ${harness.entityId} and subject_id = ${seller.id}
        for no key update`)
      const asked = seller.settle(await paying(seller.payTo))
      await untilBlockedBy(await sessionOf(tx), harness.database, 'the settlement waits')
      return { asked }
    }, unlimited)
    expect(await asked).toEqual(settled)
  } finally {
    await owner.close()
  }
})

describe('property 265: the network fees of settlements', () => {
  it('stay within the budget of a key, as estimated until a final block tells them', async () => {
    const seller = await newSeller({ networkFees: feesOf({ perTransactionAtomic: '1' }) })
    const verdict = await seller.verify(await paying(seller.payTo))
    expect([verdict.isValid, verdict.invalidReason]).toEqual([false, 'policy_denied'])
    expect(await seller.settle(await paying(seller.payTo))).toEqual(
      refused('policy_denied', 'settlements.networkFees[0].perTransactionAtomic'),
    )
    const budget = (amountAtomic: bigint) =>
      setRules(seller.id, rulesOf({ networkFees: feesOf({ windows: [within(amountAtomic, 3_600)] }) }))
    await budget(10n ** 18n)
    await onChain('pause')
    let estimated = 0n
    const asked = seller.settle(await paying(seller.payTo))
    try {
      await until(async () => (await takenBy(seller.id, 'networkFee')).length === 1, 'it is recorded')
      estimated = (await takenBy(seller.id, 'networkFee'))[0]!.amount
      await budget((3n * estimated) / 2n)
      expect(await seller.settle(await paying(seller.payTo))).toEqual(
        refused('policy_limit_reached', 'settlements.networkFees[0]'),
      )
    } finally {
      await onChain('resume')
    }
    const { transaction } = await asked
    await until(async () => {
      await onChain('mine', { blocks: 1 })
      return (await takenBy(seller.id, 'networkFee'))[0]!.amount !== estimated
    }, 'its block is final')
    const receipt = await harness
      .chain()
      .rpc<{ gasUsed: string; effectiveGasPrice: string }>('eth_getTransactionReceipt', [transaction])
    const paid = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
    expect((await takenBy(seller.id, 'networkFee')).map(({ amount }) => amount)).toEqual([paid])
    await budget(paid + (6n * estimated) / 5n)
    expect(await seller.settle(await paying(seller.payTo))).toEqual(settled)
    expect(await paidTo(seller.payTo)).toEqual([price, price])
  })

  it('hold for settlements at once', async () => {
    const seller = await newSeller({ networkFees: feesOf({ windows: [within(10n ** 18n)] }) })
    const asking = () =>
      Array.from({ length: 8 }, async () => seller.settle(await paying(seller.payTo, { amount: 1n })))
    const untilTaken = (count: number) =>
      until(async () => (await takenBy(seller.id, 'networkFee')).length === count, `${count} are recorded`)
    await onChain('pause')
    let asked = asking()
    try {
      await untilTaken(8)
      const [one] = await takenBy(seller.id, 'networkFee')
      await setRules(
        seller.id,
        rulesOf({ networkFees: feesOf({ windows: [within(one!.amount * 10n + one!.amount / 2n)] }) }),
      )
      const more = asking()
      asked = [...asked, ...more]
      await untilTaken(10)
    } finally {
      await onChain('resume')
    }
    const answers = await Promise.all(asked)
    expect(answers.filter(({ errorReason }) => errorReason === 'policy_limit_reached')).toHaveLength(6)
    expect(await takenBy(seller.id, 'networkFee')).toHaveLength(10)
  })
})
