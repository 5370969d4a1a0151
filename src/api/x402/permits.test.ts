/**
 * Payments by x402 through Permit2, with its published packages as payer and as the seller's connection to this server: the schemes
 * exact and upto, approvals without gas, and everything that a payment is refused for. The oracle counts what moved.
 */
import { randomUUID } from 'node:crypto'
import type { HTTPFacilitatorClient } from '@x402/core/http'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { createPermit2ApprovalTx, toClientEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { UptoEvmScheme } from '@x402/evm/upto/client'
import { UptoEvmScheme as UptoServerScheme } from '@x402/evm/upto/server'
import { createWalletClient, http, publicActions } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { permit2Address, permitSpenders } from '#chains/evm/signing/permit2'
import { insertApiKey } from '#runtime/auth/store'
import { accountActions } from '#testing/builders/smart-accounts'
import { freshAddress, worldOf } from '#testing/builders/world'
import { facilitatorOf } from '#testing/builders/x402-facilitator'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import { openWebhookReceiver } from '#testing/servers/webhook-receiver'

let harness: Harness
let facilitator: HTTPFacilitatorClient
/** The address that payers of upto sign for. */
let settling: string

const network = 'eip155:84532' as const

beforeAll(async () => {
  harness = await openHarness()
  facilitator = facilitatorOf(harness.url, harness.apiKey)
  const { kinds } = await facilitator.getSupported()
  const upto = kinds.find((kind) => kind.scheme === 'upto' && kind.network === network)
  settling = String(upto!.extra!['facilitatorAddress'])
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
  extra: { name: 'USDC', version: '2', assetTransferMethod: 'permit2' },
})
const uptoOf = async (payTo: string, amount = '250000'): Promise<PaymentRequirements> => {
  const kind = { x402Version: 2, scheme: 'upto', network, extra: { facilitatorAddress: settling } }
  const required = { ...requiring(payTo, amount), scheme: 'upto' }
  return new UptoServerScheme().enhancePaymentRequirements(required, kind, [])
}

const clientOf = (account: PrivateKeyAccount) =>
  createWalletClient({ account, chain: baseSepolia, transport: http(harness.chain().rpcUrl) }).extend(
    publicActions,
  )

/** A payer with coins, who approved Permit2 once, or has no gas to do so. */
async function newPayer({ coins = '1', approves = true } = {}): Promise<PrivateKeyAccount> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await harness.fundWallet(payer.address, { usdc: coins, ...(approves && { native: '1' }) })
  if (approves) {
    const client = clientOf(payer)
    await client.waitForTransactionReceipt({
      hash: await client.sendTransaction(createPermit2ApprovalTx(usdc())),
    })
  }
  return payer
}

/** Signs as the published client does; `declared`: the extensions that the seller declares. */
async function paymentOf(
  payer: PrivateKeyAccount,
  required: PaymentRequirements,
  declared?: Record<string, unknown>,
): Promise<PaymentPayload> {
  const signer = toClientEvmSigner(payer, clientOf(payer) as never)
  const options = { rpcUrl: harness.chain().rpcUrl }
  const scheme =
    required.scheme === 'upto' ? new UptoEvmScheme(signer, options) : new ExactEvmScheme(signer, options)
  const context = declared && ({ extensions: declared } as never)
  return { ...(await scheme.createPaymentPayload(2, required, context)), accepted: required }
}
const sponsoring = {
  eip2612GasSponsoring: { info: { description: 'without gas', version: '1' }, schema: {} },
}

const paidTo = async (to: string) =>
  (await harness.chain().oracle.transfers({ to, token: usdc() })).map(({ amountAtomic }) => amountAtomic)
// biome-ignore lint/suspicious/noExplicitAny: what a payer signed is examined member by member
const permitOf = ({ payload }: PaymentPayload) => payload['permit2Authorization'] as any
const changed = (payment: PaymentPayload, fields: object): PaymentPayload => ({
  ...payment,
  payload: { ...payment.payload, permit2Authorization: { ...permitOf(payment), ...fields } },
})
const settle = async (payment: PaymentPayload, required: PaymentRequirements, deliveryId: string) =>
  (
    await harness.http('POST', '/v1/facilitator/x402/settle', {
      body: { x402Version: 2, paymentPayload: payment, paymentRequirements: required, deliveryId },
    })
  ).body
const statusOf = async (paymentId: unknown) =>
  (await harness.http('GET', `/v1/facilitator/x402/status/${paymentId}`)).body

/** Sends the permit past this server, as anyone may with the scheme exact. */
async function sendByHand(sender: PrivateKeyAccount, payment: PaymentPayload): Promise<void> {
  const { permitted, nonce, deadline, from, witness } = permitOf(payment)
  const { exactPermit2ProxyAbi: abi } = await import(
    '#chains/evm/infrastructure/artifacts/exact-permit2-proxy'
  )
  const client = clientOf(sender)
  const hash = await client.writeContract({
    address: permitSpenders.exact as `0x${string}`,
    abi,
    functionName: 'settle',
    args: [
      {
        permitted: { token: permitted.token, amount: BigInt(permitted.amount) },
        nonce: BigInt(nonce),
        deadline: BigInt(deadline),
      },
      from,
      { to: witness.to, validAfter: BigInt(witness.validAfter) },
      payment.payload['signature'] as `0x${string}`,
    ],
  })
  await client.waitForTransactionReceipt({ hash })
}

describe('property 262: a payment by Permit2', () => {
  it('is verified and settled once, however often it is asked for at once', async () => {
    const { kinds, extensions } = await facilitator.getSupported()
    expect(kinds).toContainEqual({ x402Version: 2, scheme: 'exact', network })
    expect(extensions).toContain('eip2612GasSponsoring')
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = requiring(payTo)
    const payment = await paymentOf(payer, required)
    expect(await facilitator.verify(payment, required)).toEqual({
      isValid: true,
      payer: payer.address.toLowerCase(),
    })
    const answers = await Promise.all(Array.from({ length: 6 }, () => facilitator.settle(payment, required)))
    expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1)
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    const others = answers.filter(({ success }) => !success).map(({ errorReason }) => errorReason)
    expect(others).toEqual(Array(5).fill('duplicate_settlement'))
    expect(await paidTo(payTo)).toEqual([250_000n])
    const [{ transaction, extra }] = answers as [(typeof answers)[0]]
    expect(await statusOf(extra!['paymentId'])).toMatchObject({
      status: 'completed',
      payTo,
      amount: '250000',
      transaction,
    })
    // Another account of this server sends nothing for it.
    const other = await harness.newEntity()
    expect(await facilitatorOf(harness.url, other.apiKey).settle(payment, required)).toMatchObject({
      errorReason: 'permit2_invalid_nonce',
      transaction: '',
    })
  })

  it('needs no gas of the payer, who signs an approval of Permit2 beside it', async () => {
    const [payer, payTo] = [await newPayer({ approves: false }), freshAddress()]
    const required = requiring(payTo)
    const without = await paymentOf(payer, required)
    expect((await facilitator.verify(without, required)).invalidReason).toBe('permit2_allowance_required')
    const payment = await paymentOf(payer, required, sponsoring)
    const { info } = payment.extensions!['eip2612GasSponsoring'] as { info: Record<string, string> }
    const given = (fields: object): PaymentPayload => ({
      ...payment,
      extensions: { eip2612GasSponsoring: { info: { ...info, ...fields } } },
    })
    for (const [offered, reason] of [
      [given({ from: freshAddress() }), 'eip2612_from_mismatch'],
      [given({ asset: freshAddress() }), 'eip2612_asset_mismatch'],
      [given({ spender: permitSpenders.exact }), 'eip2612_spender_not_permit2'],
      [given({ amount: '1' }), 'permit2_2612_amount_mismatch'],
      [given({ deadline: '1' }), 'eip2612_deadline_expired'],
      [given({ signature: `0x${'11'.repeat(64)}1b` }), 'permit2_allowance_required'],
    ] as const)
      expect((await facilitator.verify(offered, required)).invalidReason).toBe(reason)
    expect(await facilitator.verify(payment, required)).toMatchObject({ isValid: true })
    expect(await facilitator.settle(payment, required)).toMatchObject({ success: true })
    expect(await paidTo(payTo)).toEqual([250_000n])
    expect(await clientOf(payer).getTransactionCount({ address: payer.address })).toBe(0)
  })

  it('is refused with a reason before anything is sent', async () => {
    const [payer, poor, payTo] = [await newPayer(), await newPayer({ coins: '0.1' }), freshAddress()]
    const required = requiring(payTo)
    const payment = await paymentOf(payer, required)
    const { permitted } = permitOf(payment)
    const other = freshAddress()
    const refusals: [PaymentPayload, PaymentRequirements, string][] = [
      [payment, requiring(other), 'invalid_permit2_recipient_mismatch'],
      [payment, requiring(payTo, '250001'), 'permit2_amount_mismatch'],
      [changed(payment, { spender: permitSpenders.upto }), required, 'invalid_permit2_spender'],
      [changed(payment, { permitted: { ...permitted, token: other } }), required, 'permit2_token_mismatch'],
      [changed(payment, { nonce: '7' }), required, 'invalid_permit2_signature'],
      [changed(payment, { from: poor.address }), required, 'invalid_permit2_signature'],
      [await paymentOf(poor, required), required, 'permit2_insufficient_balance'],
      [changed(payment, { deadline: '1' }), required, 'permit2_deadline_expired'],
      [changed(payment, { deadline: '99999999999' }), required, 'permit2_deadline_expired'],
      [
        changed(payment, { witness: { to: payTo, validAfter: '99999999999' } }),
        required,
        'permit2_not_yet_valid',
      ],
      [await paymentOf(payer, requiring(payTo, '0')), requiring(payTo, '0'), 'permit2_invalid_amount'],
      [payment, { ...required, asset: other }, 'unsupported_asset'],
      [payment, { ...required, scheme: 'batch-settlement' }, 'unsupported_scheme'],
    ]
    for (const [offered, asked, reason] of refusals) {
      const verdict = await facilitator.verify(offered, asked)
      expect([verdict.isValid, verdict.invalidReason]).toEqual([false, reason])
      const settled = await facilitator.settle(offered, asked)
      expect([settled.success, settled.errorReason, settled.transaction]).toEqual([false, reason, ''])
    }
    const malformed = changed(payment, { nonce: '-1' })
    const body = { x402Version: 2, paymentPayload: malformed, paymentRequirements: required }
    const { status, body: answer } = await harness.http('POST', '/v1/facilitator/x402/settle', { body })
    expect([status, answer.errors[0].location]).toEqual([
      400,
      'paymentPayload.payload.permit2Authorization.nonce',
    ])
    expect(await paidTo(payTo)).toEqual([])
  })

  it('is refused where the contract of its scheme is missing, since a call of nothing succeeds', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const { rpc } = harness.chain()
    for (const required of [requiring(payTo), await uptoOf(payTo)]) {
      const payment = await paymentOf(payer, required)
      const spender = permitSpenders[required.scheme as 'exact' | 'upto']
      const code = await rpc('eth_getCode', [spender, 'latest'])
      await rpc('anvil_setCode', [spender, '0x'])
      try {
        const reason = 'permit2_proxy_not_deployed'
        expect((await facilitator.verify(payment, required)).invalidReason).toBe(reason)
        expect(await facilitator.settle(payment, required)).toMatchObject({
          success: false,
          errorReason: reason,
          transaction: '',
        })
      } finally {
        await rpc('anvil_setCode', [spender, code])
      }
      expect(await facilitator.verify(payment, required)).toMatchObject({ isValid: true })
    }
    expect(await paidTo(payTo)).toEqual([])
  })

  it('that anyone used by hand, or whose terms a forger changes, is not called settled', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = requiring(payTo)
    const byHand = await paymentOf(payer, required)
    await sendByHand(payer, byHand)
    expect(await facilitator.settle(byHand, required)).toMatchObject({
      success: false,
      errorReason: 'permit2_invalid_nonce',
      transaction: '',
    })
    const payment = await paymentOf(payer, required)
    const deliveryId = randomUUID()
    const first = await settle(payment, required, deliveryId)
    expect(first).toMatchObject({ success: true })
    expect(await settle(payment, required, deliveryId)).toEqual(first)
    const other = requiring(freshAddress())
    const forged = changed(payment, { witness: { to: other.payTo, validAfter: '0' } })
    expect(await settle({ ...forged, accepted: other }, other, deliveryId)).toMatchObject({
      success: false,
      errorReason: 'permit2_invalid_nonce',
    })
    // A number is used once for all tokens.
    const inEuro = { ...required, asset: harness.chain().tokens.EURC as string }
    const { permitted } = permitOf(payment)
    const again = changed(payment, { permitted: { ...permitted, token: inEuro.asset } })
    expect(await settle({ ...again, accepted: inEuro }, inEuro, deliveryId)).toMatchObject({
      success: false,
      errorReason: 'permit2_invalid_nonce',
    })
    expect(await paidTo(payTo)).toEqual([250_000n, 250_000n])
  })

  it('is signed for the contract of a smart account, which this server has too', async () => {
    const world = worldOf(harness)
    const actions = accountActions(world)
    const account = await actions.make()
    // The first operation deploys the account.
    await actions.reaches(await actions.transfer(account, freshAddress()), 'COMPLETE')
    const approval = await world.call('POST', '/v1/w3s/developer/transactions/contractExecution', {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
      walletId: account.id,
      contractAddress: usdc(),
      abiFunctionSignature: 'approve(address,uint256)',
      abiParameters: [permit2Address, '1000000'],
      feeLevel: 'MEDIUM',
    })
    await actions.reaches(approval.id, 'COMPLETE')
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
    expect(await facilitator.settle(payment, required)).toMatchObject({ success: true })
    expect(await paidTo(payTo)).toEqual([250_000n])
  })

  it.each(['before-payment-commit', 'after-payment-commit'] as const)(
    'is settled once by the worker after one that dies at %s',
    async (point) => {
      const [payer, payTo] = [await newPayer(), freshAddress()]
      const required = await uptoOf(payTo)
      const payment = await paymentOf(payer, required)
      await harness.stopEngines()
      const { blockchain, rpcUrl } = harness.chain()
      const victim = await spawnWorker()
      const failpoint = { point, hit: 1, action: 'kill' } as const
      const connection = harness.connection
      await victim.open({ connection, rpcUrl, blockchain, roles: ['facilitator'], failpoint })
      await victim.start()
      const asked = facilitator.settle(payment, { ...required, amount: '70000' })
      await Promise.race([victim.exited, asked.then((answer) => expect.unreachable(JSON.stringify(answer)))])
      harness.startEngines()
      expect(await asked).toMatchObject({ success: true, amount: '70000' })
      expect(await paidTo(payTo)).toEqual([70_000n])
    },
  )
})

describe('property 263: a payment up to an amount', () => {
  it('charges what its seller chose at the settlement, once, and never another amount for the same signature', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = await uptoOf(payTo)
    const payment = await paymentOf(payer, required)
    expect(await facilitator.verify(payment, required)).toMatchObject({ isValid: true })
    // Less than the payer signed proves nothing about the whole.
    expect(await facilitator.verify(payment, { ...required, amount: '100000' })).toMatchObject({
      isValid: false,
      invalidReason: 'permit2_amount_mismatch',
    })
    const over = { ...required, amount: '250001' }
    expect(await facilitator.settle(payment, over)).toMatchObject({
      success: false,
      errorReason: 'invalid_upto_evm_payload_settlement_exceeds_amount',
      // No node is asked.
      errorMessage: 'The amount is more than the payer signed.',
    })
    const charged = { ...required, amount: '123456' }
    const deliveryId = randomUUID()
    const settled = await settle(payment, charged, deliveryId)
    expect(settled).toMatchObject({ success: true, amount: '123456' })
    expect(await settle(payment, charged, deliveryId)).toEqual(settled)
    for (const amount of ['250000', '1', '0'])
      expect(await facilitator.settle(payment, { ...required, amount })).toMatchObject({
        success: false,
        errorReason: 'permit2_invalid_nonce',
      })
    expect(await facilitator.settle(payment, charged)).toMatchObject({ errorReason: 'duplicate_settlement' })
    expect(await statusOf(settled.paymentId)).toMatchObject({ status: 'completed', amount: '123456' })
    expect(await paidTo(payTo)).toEqual([123_456n])
  })

  it('of nothing sends no transaction, is told, and is good for nothing more', async () => {
    const receiver = await openWebhookReceiver(harness.http)
    const subscription = { endpoint: receiver.url, notificationTypes: ['x402.*'] }
    await harness.http('POST', '/v2/notifications/subscriptions', { body: subscription })
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = await uptoOf(payTo)
    const payment = await paymentOf(payer, required)
    const deliveryId = randomUUID()
    const nothing = await settle(payment, { ...required, amount: '0' }, deliveryId)
    expect(nothing).toMatchObject({ success: true, transaction: '', amount: '0' })
    expect(await settle(payment, { ...required, amount: '0' }, deliveryId)).toEqual(nothing)
    expect(await facilitator.settle(payment, required)).toMatchObject({
      success: false,
      errorReason: 'permit2_invalid_nonce',
    })
    const shown = await statusOf(nothing.paymentId)
    expect(shown).toMatchObject({ status: 'completed', final: true, amount: '0', transaction: '' })
    const told = () =>
      receiver.webhooks().find(({ notification }) => notification.paymentId === nothing.paymentId)
    await until(() => told() !== undefined, 'it is told')
    expect(told()!.notification).toEqual(shown)
    await receiver.close()
    expect(await paidTo(payTo)).toEqual([])
  })

  it('of nothing takes no network fee, which a rule may refuse for others', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const own = {
      entityId: harness.entityId,
      environment: 'TEST',
      nowMs: Date.now(),
      scopes: ['api'],
    } as const
    const { id: subjectId, text } = await insertApiKey(harness.database, own)
    const networkFees = [{ tokens: ['BASE-SEPOLIA:native'], perTransactionAtomic: '1' }]
    const rules = { mode: 'rules', settlements: { destinations: 'any', tokens: 'any', networkFees } }
    await harness.http('POST', '/operator/policies', { body: { subjectId, rules } })
    const seller = facilitatorOf(harness.url, text)
    const required = await uptoOf(payTo)
    const payment = await paymentOf(payer, required)
    expect(await seller.settle(payment, required)).toMatchObject({
      success: false,
      errorReason: 'policy_denied',
    })
    expect(await seller.settle(payment, { ...required, amount: '0' })).toMatchObject({
      success: true,
      transaction: '',
      amount: '0',
    })
    expect(await paidTo(payTo)).toEqual([])
  })

  it('is sent by the one address that its payer signed for', async () => {
    const [payer, payTo] = [await newPayer(), freshAddress()]
    const required = await uptoOf(payTo)
    const foreign = { ...required, extra: { ...required.extra, facilitatorAddress: freshAddress() } }
    const payment = await paymentOf(payer, foreign)
    expect((await facilitator.verify(payment, required)).invalidReason).toBe('upto_facilitator_mismatch')
    expect(await facilitator.settle(payment, required)).toMatchObject({
      success: false,
      errorReason: 'upto_facilitator_mismatch',
    })
    // The seller of another account cannot settle what was signed for this one.
    const own = await paymentOf(payer, required)
    const other = await harness.newEntity()
    expect(await facilitatorOf(harness.url, other.apiKey).settle(own, required)).toMatchObject({
      success: false,
      errorReason: 'upto_facilitator_mismatch',
    })
    expect(await paidTo(payTo)).toEqual([])
  })

  it('needs no gas of the payer, and no authorization of the token fits it', async () => {
    const [payer, payTo] = [await newPayer({ approves: false }), freshAddress()]
    const required = await uptoOf(payTo)
    const payment = await paymentOf(payer, required, sponsoring)
    expect(await facilitator.settle(payment, { ...required, amount: '1000' })).toMatchObject({
      success: true,
      amount: '1000',
    })
    expect(await paidTo(payTo)).toEqual([1_000n])
    const { extra: _, ...plain } = requiring(payTo)
    const byToken = await paymentOf(payer, { ...plain, extra: { name: 'USDC', version: '2' } })
    expect(await facilitator.settle({ ...byToken, accepted: required }, required)).toMatchObject({
      success: false,
      errorReason: 'unsupported_payload_type',
    })
  })
})
