/**
 * Payments by x402 with its published packages as payer, as the seller's connection to a facilitator, and as a paid server: this
 * server settles them, and the oracle counts what moved.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HTTPFacilitatorClient } from '@x402/core/http'
import type { PaymentPayload, PaymentRequirements, SettleResponse } from '@x402/core/types'
import { toClientEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { createWalletClient, http, parseAbi, publicActions, toHex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { parseScreenedAddress } from '#chains/screening-chains'
import { addEntry, removeEntry } from '#engines/compliance/lists/index'
import { sql } from '#runtime/db/db'
import { mayAct } from '#runtime/http/endpoint'
import { accountActions } from '#testing/builders/smart-accounts'
import { freshAddress, worldOf } from '#testing/builders/world'
import { facilitatorOf } from '#testing/builders/x402-facilitator'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'

let harness: Harness
let facilitator: HTTPFacilitatorClient

const network = 'eip155:84532' as const

beforeAll(async () => {
  harness = await openHarness()
  facilitator = facilitatorOf(harness.url, harness.apiKey)
  // The first payment waits for the gas of the treasury, which a stopped chain does not give.
  const required = requiring(freshAddress())
  expect(await facilitator.settle(await paymentOf(await newPayer(), required), required)).toMatchObject({
    success: true,
  })
})
afterAll(() => harness?.close())

const usdc = () => harness.chain().tokens.USDC as `0x${string}`
const requiring = (payTo: string, amount = '250000'): PaymentRequirements => ({
  scheme: 'exact',
  network,
  payTo,
  amount,
  maxTimeoutSeconds: 120,
  asset: usdc(),
  extra: { name: 'USDC', version: '2' },
})

/** A payer with coins, which pays by signatures alone. */
async function newPayer(coins = '1'): Promise<PrivateKeyAccount> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await harness.fundWallet(payer.address, { usdc: coins })
  return payer
}
const clientOf = (account: PrivateKeyAccount) =>
  createWalletClient({ account, chain: baseSepolia, transport: http(harness.chain().rpcUrl) }).extend(
    publicActions,
  )

async function paymentOf(payer: PrivateKeyAccount, required: PaymentRequirements): Promise<PaymentPayload> {
  const scheme = new ExactEvmScheme(toClientEvmSigner(payer, clientOf(payer) as never))
  return { ...(await scheme.createPaymentPayload(2, required)), accepted: required }
}
const paidTo = async (to: string) =>
  (await harness.chain().oracle.transfers({ to, token: usdc() })).map(({ amountAtomic }) => amountAtomic)
// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
const authorizationOf = ({ payload }: PaymentPayload) => payload['authorization'] as any

describe('property 241: a payment by x402', () => {
  it('is verified and settled, in both versions, and shown afterwards', async () => {
    const { kinds, signers } = await facilitator.getSupported()
    expect(signers['eip155:*']).toHaveLength(1)
    expect(kinds).toContainEqual({ x402Version: 2, scheme: 'exact', network })
    expect(kinds).toContainEqual({ x402Version: 1, scheme: 'exact', network: 'base-sepolia' })
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = requiring(payTo)
    const payment = await paymentOf(payer, required)
    expect(await facilitator.verify(payment, required)).toEqual({
      isValid: true,
      payer: payer.address.toLowerCase(),
    })
    const settled = await facilitator.settle(payment, required)
    expect(settled).toMatchObject({ success: true, network, payer: payer.address.toLowerCase() })
    const [moved] = await harness.chain().oracle.transfers({ to: payTo, token: usdc() })
    expect(moved).toMatchObject({ txHash: settled.transaction, amountAtomic: 250_000n })
    const sent = await harness
      .chain()
      .rpc<{ from: string }>('eth_getTransactionByHash', [settled.transaction])
    expect(signers['eip155:*']).toEqual([sent.from])
    const paymentId = idOf(settled)
    const status = await harness.http('GET', `/v1/facilitator/x402/status/${paymentId}`)
    expect(status.body).toMatchObject({ paymentId, status: 'completed', payTo, amount: '250000', network })
    // The same in version 1, whose names and fields differ.
    const first = await paymentOf(payer, required)
    const { amount: maxAmountRequired, ...rest } = required
    const asked = {
      ...rest,
      network: 'base-sepolia',
      maxAmountRequired,
      resource: 'https://example.org/',
      mimeType: '',
    }
    const body = {
      x402Version: 1,
      paymentPayload: { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload: first.payload },
      paymentRequirements: asked,
    }
    expect((await harness.http('POST', '/v1/facilitator/x402/verify', { body })).body).toMatchObject({
      isValid: true,
    })
    expect((await harness.http('POST', '/v1/facilitator/x402/settle', { body })).body).toMatchObject({
      success: true,
    })
    expect(await paidTo(payTo)).toEqual([250_000n, 250_000n])
  })

  it('is settled once, whoever asks how often and at once', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = requiring(payTo)
    const payment = await paymentOf(payer, required)
    const answers = await Promise.all(Array.from({ length: 8 }, () => facilitator.settle(payment, required)))
    expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1)
    // A buyer who sends one payment with eight requests has one delivery.
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    const others = answers.filter(({ success }) => !success).map(({ errorReason }) => errorReason)
    expect(others).toEqual(Array(7).fill('duplicate_settlement'))
    expect(await facilitator.settle(payment, required)).toMatchObject({ errorReason: 'duplicate_settlement' })
    expect(await paidTo(payTo)).toEqual([250_000n])
    // Another account of this server sends nothing for it, and sees nothing of it.
    const other = await harness.newEntity()
    expect(await facilitatorOf(harness.url, other.apiKey).settle(payment, required)).toMatchObject({
      errorReason: 'invalid_exact_evm_nonce_already_used',
      transaction: '',
    })
    expect((await other.http('GET', `/v1/facilitator/x402/status/${idOf(answers[0]!)}`)).status).toBe(404)
  })

  it('is answered again to the delivery that was answered, and with its own terms alone', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = requiring(payTo)
    const payment = await paymentOf(payer, required)
    const settle = (
      paymentPayload: PaymentPayload,
      paymentRequirements: PaymentRequirements,
      deliveryId: string,
    ) =>
      harness.http('POST', '/v1/facilitator/x402/settle', {
        body: { x402Version: 2, paymentPayload, paymentRequirements, deliveryId },
      })
    const deliveryId = randomUUID()
    const first = await settle(payment, required, deliveryId)
    expect(first.body).toMatchObject({ success: true })
    expect((await settle(payment, required, deliveryId)).body).toEqual(first.body)
    expect((await settle(payment, required, randomUUID())).body).toMatchObject({
      errorReason: 'duplicate_settlement',
      transaction: first.body.transaction,
    })
    // A forger keeps the number and the signature, and changes the payee and the amount.
    const other = requiring(freshAddress(), '900000')
    const terms = { to: other.payTo, value: other.amount }
    const authorization = { ...authorizationOf(payment), ...terms }
    const forged = { ...payment, accepted: other, payload: { ...payment.payload, authorization } }
    for (const [offered, asked, reason] of [
      [forged, other, 'invalid_exact_evm_nonce_already_used'],
      [payment, other, 'invalid_exact_evm_recipient_mismatch'],
    ] as const)
      expect((await settle({ ...offered, accepted: asked }, asked, deliveryId)).body).toMatchObject({
        success: false,
        errorReason: reason,
      })
    expect(await paidTo(payTo)).toEqual([250_000n])
  })

  it('is signed for the contract of a smart account, which this server has too', async () => {
    const world = worldOf(harness)
    const actions = accountActions(world)
    const account = await actions.make()
    // The first operation deploys the account.
    await actions.reaches(await actions.transfer(account, freshAddress()), 'COMPLETE')
    const payTo = freshAddress()
    const required = requiring(payTo)
    const signer = {
      address: account.address as `0x${string}`,
      signTypedData: async (data: object) => {
        const body = {
          walletId: account.id,
          entitySecretCiphertext: await harness.sealSecret(),
          data: JSON.stringify(data, (_, value) => (typeof value === 'bigint' ? value.toString() : value)),
        }
        return (await world.call('POST', '/v1/w3s/developer/sign/typedData', body)).signature
      },
    }
    const payment = await paymentOf(signer as never, required)
    expect(await facilitator.verify(payment, required)).toMatchObject({ isValid: true })
    expect(await facilitator.settle(payment, required)).toMatchObject({ success: true })
    expect(await paidTo(payTo)).toEqual([250_000n])
  })

  it('waits for its block without being asked for again, and is settled by the same request later', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = requiring(payTo)
    const payment = await paymentOf(payer, required)
    let transaction = ''
    const [asked] = await whileBlocksWait(async () => {
      const settling = facilitator.settle(payment, required)
      await until(async () => {
        transaction = (await statusOf(payment))?.transaction ?? ''
        return transaction !== ''
      }, 'the payment is sent')
      return [settling]
    })
    expect(await asked).toMatchObject({ success: true, transaction })
    expect(await paidTo(payTo)).toEqual([250_000n])
  })

  it('is refused with a reason before anything is sent', async () => {
    const [payer, poor, payTo] = [await newPayer(), await newPayer('0.1'), freshAddress()]
    const required = requiring(payTo)
    const payment = await paymentOf(payer, required)
    const changed = (fields: object): PaymentPayload => ({
      ...payment,
      payload: { ...payment.payload, authorization: { ...authorizationOf(payment), ...fields } },
    })
    const short = await paymentOf(payer, { ...required, maxTimeoutSeconds: 1 })
    const long = await paymentOf(payer, { ...required, maxTimeoutSeconds: 90_000 })
    const none = await paymentOf(payer, requiring(payTo, '0'))
    const refusals: [PaymentPayload, PaymentRequirements, string][] = [
      [payment, requiring(freshAddress()), 'invalid_exact_evm_recipient_mismatch'],
      [payment, requiring(payTo, '250001'), 'invalid_exact_evm_payload_authorization_value_mismatch'],
      [changed({ nonce: toHex(randomBytes(32)) }), required, 'invalid_exact_evm_signature'],
      [changed({ from: poor.address }), required, 'invalid_exact_evm_signature'],
      [await paymentOf(poor, required), required, 'invalid_exact_evm_insufficient_balance'],
      [short, required, 'invalid_exact_evm_payload_authorization_valid_before'],
      [long, required, 'invalid_exact_evm_payload_authorization_valid_before'],
      [none, requiring(payTo, '0'), 'invalid_exact_evm_authorization_value'],
      [payment, { ...required, network: 'eip155:1' }, 'unsupported_network'],
      [payment, { ...required, asset: freshAddress() }, 'invalid_exact_evm_eip3009_not_supported'],
      [payment, { ...required, scheme: 'upto' }, 'unsupported_scheme'],
    ]
    for (const [offered, asked, reason] of refusals) {
      const verdict = await facilitator.verify(offered, asked)
      expect([verdict.isValid, verdict.invalidReason]).toEqual([false, reason])
      const settled = await facilitator.settle(offered, asked)
      expect([settled.success, settled.errorReason, settled.transaction]).toEqual([false, reason, ''])
    }
    for (const body of [
      { x402Version: 2, paymentPayload: changed({ value: '-1' }), paymentRequirements: required },
      { x402Version: 2, paymentPayload: changed({ nonce: '0x12' }), paymentRequirements: required },
      { x402Version: 3, paymentPayload: payment, paymentRequirements: required },
    ]) {
      const { status, body: answer } = await harness.http('POST', '/v1/facilitator/x402/settle', { body })
      expect([status, answer.code]).toEqual([400, 2])
      expect(answer.errors[0].location).toMatch(/authorization\.(value|nonce)$|x402Version/)
    }
    expect(await paidTo(payTo)).toEqual([])
  })

  it('that its payer cancels, or uses by hand, is not called settled', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = requiring(payTo)
    const payment = await paymentOf(payer, required)
    const { from, to, value, validAfter, validBefore, nonce } = authorizationOf(payment)
    const abi = parseAbi([
      'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
    ])
    await harness.fundWallet(payer.address, { native: '1' })
    const args = [
      from,
      to,
      BigInt(value),
      BigInt(validAfter),
      BigInt(validBefore),
      nonce,
      payment.payload['signature'] as never,
    ] as const
    const client = clientOf(payer)
    const hash = await client.writeContract({
      address: usdc(),
      abi,
      functionName: 'transferWithAuthorization',
      args,
    })
    await client.waitForTransactionReceipt({ hash })
    expect(await facilitator.settle(payment, required)).toMatchObject({
      success: false,
      errorReason: 'invalid_exact_evm_nonce_already_used',
      transaction: '',
    })
    expect(await paidTo(payTo)).toEqual([250_000n])
  })

  it('of a blocked payer or payee is not settled', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = requiring(payTo)
    const payment = await paymentOf(payer, required)
    for (const address of [payer.address, payTo]) {
      const listing = {
        list: 'block',
        entry: parseScreenedAddress('BASE-SEPOLIA', address)!,
        reason: 'a test',
      }
      const operator = { database: harness.database, clock: harness.ctx.clock, actor: 'operator' }
      await addEntry(operator, listing)
      const settled = await facilitator.settle(payment, required)
      expect([settled.success, settled.errorReason]).toEqual([false, 'screening_denied'])
      await removeEntry(operator, listing)
    }
    expect(await facilitator.settle(payment, required)).toMatchObject({ success: true })
    expect(await paidTo(payTo)).toEqual([250_000n])
  })

  it('whose coins are gone when its block is made is refused, and is not asked to be waited for', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const [one, two] = [requiring(payTo), requiring(payTo, '900000')]
    const payments = [await paymentOf(payer, one), await paymentOf(payer, two)]
    // Either one could be paid, and not both.
    const settled = await whileBlocksWait(async () => {
      const asked = [facilitator.settle(payments[0]!, one), facilitator.settle(payments[1]!, two)]
      // The other one may be simulated when the pool has this one, and waits then.
      await until(async () => {
        const shown = await Promise.all(payments.map(statusOf))
        return shown.every(Boolean) && shown.some((each) => each!.transaction !== '')
      }, 'one is sent')
      return asked
    })
    const [paid, refused] = (await Promise.all(settled)).sort(
      (first, second) => Number(second.success) - Number(first.success),
    )
    expect([paid!.success, refused!.success]).toEqual([true, false])
    expect(refused!.errorReason).toMatch(/insufficient_balance|transaction_failed/)
    expect(await paidTo(payTo)).toHaveLength(1)
  })

  it('that was not sent in time is refused for good, and is not charged later', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = { ...requiring(payTo), maxTimeoutSeconds: 8 }
    const payment = await paymentOf(payer, required)
    await harness.stopEngines()
    const late = await facilitator.settle(payment, required)
    expect(late).toMatchObject({ success: false, errorReason: 'invalid_exact_evm_transaction_failed' })
    expect(late.errorMessage).toContain('was not sent in time')
    harness.startEngines()
    const next = await paymentOf(payer, required)
    expect(await facilitator.settle(next, required)).toMatchObject({ success: true })
    expect(await facilitator.settle(payment, required)).toMatchObject({ success: false })
    expect(await paidTo(payTo)).toEqual([250_000n])
  })

  it('is answered to a second request where the first one has left', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = requiring(payTo)
    const payment = await paymentOf(payer, required)
    const [asked] = await whileBlocksWait(async () => {
      const leave = settleAndLeave(payment, required)
      await until(async () => ((await statusOf(payment))?.transaction ?? '') !== '', 'the payment is sent')
      await leave()
      return [facilitator.settle(payment, required)]
    })
    expect(await asked).toMatchObject({ success: true })
    expect(await paidTo(payTo)).toEqual([250_000n])
  })

  it('is sent although the first client left before, for another one that waits', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = requiring(payTo)
    const payment = await paymentOf(payer, required)
    await harness.stopEngines()
    const leave = settleAndLeave(payment, required)
    await until(async () => (await statusOf(payment))?.status === 'pending', 'the payment is recorded')
    const asked = facilitator.settle(payment, required)
    await leave()
    harness.startEngines()
    expect(await asked).toMatchObject({ success: true })
    expect(await paidTo(payTo)).toEqual([250_000n])
  })

  it('whose client has left is refused for good by the worker, once its time is over', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = { ...requiring(payTo), maxTimeoutSeconds: 8 }
    const payment = await paymentOf(payer, required)
    await harness.stopEngines()
    const leave = settleAndLeave(payment, { ...required, maxTimeoutSeconds: 1 })
    await until(async () => (await statusOf(payment))?.status === 'pending', 'the payment is recorded')
    await leave()
    await sleep(1_000)
    harness.startEngines()
    await until(async () => (await statusOf(payment))?.status === 'failed', 'the payment is refused')
    expect(await paidTo(payTo)).toEqual([])
  })

  it('is not settled for a member who may only read', async () => {
    const settling = endpoints.filter(({ path }) => path.startsWith('/v1/facilitator/x402'))
    expect(settling.filter(mayAct).map(({ operationId }) => operationId)).toEqual(['settleX402Payment'])
  })

  it.each(['before-payment-commit', 'after-payment-commit'] as const)(
    'is settled once by the worker after one that dies at %s',
    async (point) => {
      const [payer, payTo] = [await newPayer(), freshAddress()]
      const required = requiring(payTo)
      const payment = await paymentOf(payer, required)
      await harness.stopEngines()
      const { blockchain, rpcUrl } = harness.chain()
      const victim = await spawnWorker()
      const failpoint = { point, hit: 1, action: 'kill' } as const
      await victim.open({
        connection: harness.connection,
        rpcUrl,
        blockchain,
        roles: ['facilitator'],
        failpoint,
      })
      await victim.start()
      const asked = facilitator.settle(payment, required)
      await Promise.race([victim.exited, asked.then((answer) => expect.unreachable(JSON.stringify(answer)))])
      harness.startEngines()
      const settled = await asked
      expect(settled).toMatchObject({ success: true })
      expect((await facilitator.settle(payment, required)).errorReason).toBe('duplicate_settlement')
      expect(await paidTo(payTo)).toEqual([250_000n])
    },
  )
})

/** Asks for a settlement as a client that leaves without its answer. */
function settleAndLeave(paymentPayload: PaymentPayload, paymentRequirements: PaymentRequirements) {
  const leaving = new AbortController()
  const gone = fetch(`${harness.url}/v1/facilitator/x402/settle`, {
    method: 'POST',
    headers: { authorization: `Bearer ${harness.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements }),
    signal: leaving.signal,
  }).catch(() => 'gone')
  return async () => {
    leaving.abort()
    expect(await gone).toBe('gone')
  }
}

/** Makes no block until the step has begun what it returns. */
async function whileBlocksWait<Begun>(step: () => Promise<Begun[]>): Promise<Begun[]> {
  const { rpc } = harness.chain()
  await rpc('evm_setAutomine', [false])
  try {
    return await step()
  } finally {
    await rpc('evm_setAutomine', [true])
    await rpc('evm_mine', [])
  }
}

/** The id that a settlement answers. */
const idOf = ({ extra }: SettleResponse) => String(extra!['paymentId'])

/** The payment as its status shows it; only the request that still waits knows its id. */
async function statusOf(payment: PaymentPayload) {
  const rows = await harness.database.all<{ id: string }>(
    sql`select id from x402_payments where nonce = ${Buffer.from(
      String(authorizationOf(payment).nonce).slice(2),
      'hex',
    )}`,
  )
  const [row] = rows
  return row && (await harness.http('GET', `/v1/facilitator/x402/status/${row.id}`)).body
}
