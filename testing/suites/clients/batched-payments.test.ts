/**
 * Payments of unified balances by x402, with the published package as buyer and as paid server: this server accepts them, and settles
 * them in batches. The wallet contract says who has what.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BatchEvmScheme, GatewayClient } from '@circle-fin/x402-batching/client'
import { BatchFacilitatorClient, createGatewayMiddleware } from '@circle-fin/x402-batching/server'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseScreenedAddress } from '#chains/screening-chains'
import { addEntry, removeEntry } from '#engines/compliance/lists/index'
import { proveUnifiedBalances } from '#engines/unified-balance/index'
import { sql } from '#runtime/db/db'
import { devAccounts, issuerAccount } from '#sandbox/constants'
import {
  batchedTerms,
  people,
  type UnifiedBalances,
  unifiedBalances,
  wallet,
} from '#testing/builders/unified-balances'
import { freshAddress } from '#testing/builders/world'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { redirectFetch } from '#testing/platform/kits'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'

let harness: Harness
let unified: UnifiedBalances
let restoreFetch: (() => void) | undefined

const host = 'https://gateway-api-testnet.circle.com'
const network = 'eip155:84532'
const [alice, bob, carol] = people as unknown as [PrivateKeyAccount, PrivateKeyAccount, PrivateKeyAccount]

beforeAll(async () => {
  harness = await openHarness()
  unified = unifiedBalances(harness)
  restoreFetch = redirectFetch(harness.url, [host])
  await unified.fund(harness.chain(), alice.address, 10_000_000n, '10')
})
afterAll(async () => {
  restoreFetch?.()
  await harness?.close()
})

const usdc = () => harness.chain().tokens.USDC
/** The balance that a depositor may spend or withdraw, as the contract says. */
const held = (address: string) => unified.read(harness.chain(), wallet, 'availableBalance', [usdc(), address])

const requiring = (payTo: string, amount = '250000') => batchedTerms(harness.chain(), payTo, amount)

async function paymentOf(payer: PrivateKeyAccount, required: ReturnType<typeof requiring>) {
  const made = await new BatchEvmScheme(payer).createPaymentPayload(2, required as never)
  return { ...made, accepted: required }
}
type Payment = Awaited<ReturnType<typeof paymentOf>>

const ask = async (
  step: 'verify' | 'settle',
  paymentPayload: object,
  paymentRequirements: object,
  deliveryId?: string,
) =>
  (
    await unified.http('POST', `/v1/x402/${step}`, {
      body: { paymentPayload, paymentRequirements, ...(deliveryId && { deliveryId }) },
    })
  ).body
const settle = (payment: Payment, deliveryId?: string) => ask('settle', payment, payment.accepted, deliveryId)
const transferOf = async (id: string) => (await unified.http('GET', `/v1/x402/transfers/${id}`)).body

/** The block that has the batch of a payment, as the node tells. */
const blockOf = async (id: string) => {
  const { txHash } = await transferOf(id)
  const read = () => harness.chain().rpc<{ blockHash: string } | null>('eth_getTransactionReceipt', [txHash])
  return txHash === undefined ? undefined : (await read())?.blockHash
}

const untilStatus = (id: string, status: string) =>
  until(async () => {
    await harness.chain().mine()
    return (await transferOf(id)).status === status
  }, `the payment is ${status}`)

async function proves(): Promise<void> {
  const { chains, errors } = await proveUnifiedBalances(harness.ctx)
  expect(errors).toEqual([])
  expect(chains.map(({ gapAtomic }) => gapAtomic)).toEqual(chains.map(() => 0n))
}

/** A paid server of the published package; Express gives its requests the same methods. */
async function openShop(sellerAddress: string) {
  const gateway = createGatewayMiddleware({ sellerAddress, facilitatorUrl: host, networks: network })
  const paid = gateway.require('$0.01')
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const shown = Object.assign(response, {
      status: (code: number) => Object.assign(shown, { statusCode: code }),
      json: (data: unknown) => void response.end(JSON.stringify(data)),
    })
    void paid(request, shown as never, () => shown.json({ forecast: 'sunny' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/forecast`, close: () => server.close() }
}

const clientOf = (privateKey: `0x${string}`) =>
  new GatewayClient({ chain: 'baseSepolia', privateKey, rpcUrl: harness.chain().rpcUrl })

describe('property 250: a payment of a unified balance', () => {
  it('buys from a paid server, and its seller takes the coins out when the batch is final', async () => {
    const [buyerKey, sellerKey] = [devAccounts[6]!.privateKey, devAccounts[7]!.privateKey]
    const [buyer, seller] = [clientOf(buyerKey), clientOf(sellerKey)]
    await harness.chain().send(buyer.address, 5_000_000n, 'USDC')
    await buyer.deposit('2')
    await unified.shows(harness.chain(), buyer.address, '2')
    const shop = await openShop(seller.address)
    expect((await fetch(shop.url)).status).toBe(402)
    expect((await buyer.supports(shop.url)).supported).toBe(true)
    const bought = await buyer.pay<{ forecast: string }>(shop.url)
    expect(bought).toMatchObject({ data: { forecast: 'sunny' }, amount: 10_000n, status: 200 })
    shop.close()
    const { transfers } = await seller.searchTransfers({ to: seller.address })
    expect(transfers).toHaveLength(1)
    expect(transfers[0]).toMatchObject({
      id: bought.transaction,
      fromAddress: buyer.address.toLowerCase(),
      toAddress: seller.address.toLowerCase(),
      amount: '10000',
      sendingNetwork: network,
    })
    await untilStatus(bought.transaction, 'completed')
    expect(await held(seller.address)).toBe(10_000n)
    expect(await held(buyer.address)).toBe(1_990_000n)
    expect((await seller.getBalances()).gateway.available).toBe(10_000n)
    const { txHash } = (await buyer.getTransferById(bought.transaction)) as never as { txHash: string }
    expect(await harness.chain().rpc('eth_getTransactionByHash', [txHash])).not.toBeNull()
    await proves()
  })

  it('is settled with others in one transaction, by sums, and nothing more than the balance is accepted', async () => {
    const shops = [freshAddress(), bob.address] as const
    await unified.fund(harness.chain(), bob.address, 1_000_000n, '1')
    const before = await Promise.all([alice.address, bob.address].map(held))
    await harness.stopEngines()
    const payments = await Promise.all([
      ...Array.from({ length: 20 }, (_, index) => paymentOf(alice, requiring(shops[index % 2]!, '100000'))),
      // Ten of these are covered, and not what is paid meanwhile: it counts when it is final.
      ...Array.from({ length: 14 }, () => paymentOf(bob, requiring(shops[0], '100000'))),
    ])
    const answers = await Promise.all(payments.map((payment) => settle(payment)))
    expect(answers.slice(0, 20).every(({ success }) => success)).toBe(true)
    const bobs = answers.slice(20)
    expect(bobs.filter(({ success }) => success)).toHaveLength(10)
    expect(new Set(bobs.flatMap(({ errorReason }) => errorReason ?? []))).toEqual(
      new Set(['insufficient_balance']),
    )
    harness.startEngines()
    for (const { success, transaction } of answers) if (success) await untilStatus(transaction, 'completed')
    const hashes = new Set(
      await Promise.all(
        answers.flatMap(({ success, transaction }) =>
          success ? [transferOf(transaction).then(({ txHash }) => txHash)] : [],
        ),
      ),
    )
    expect(hashes.size).toBe(1)
    expect(await Promise.all([shops[0], alice.address, bob.address].map(held))).toEqual([
      2_000_000n,
      before[0]! - 2_000_000n,
      before[1]! - 1_000_000n + 1_000_000n,
    ])
    await unified.shows(harness.chain(), bob.address, '1')
    await proves()
  })

  it('is accepted for one delivery, however often it is asked for, and with its own terms alone', async () => {
    const payTo = freshAddress()
    const payment = await paymentOf(alice, requiring(payTo))
    expect(await ask('verify', payment, payment.accepted)).toEqual({
      isValid: true,
      payer: alice.address.toLowerCase(),
    })
    const deliveryId = randomUUID()
    const answers = await Promise.all([
      settle(payment, deliveryId),
      settle(payment, deliveryId),
      ...Array.from({ length: 6 }, () => settle(payment)),
    ])
    const accepted = answers.filter(({ success }) => success)
    expect(new Set(accepted.map(({ transaction }) => transaction)).size).toBe(1)
    // Requests of one delivery get the same answer.
    expect(accepted.length).toBe(answers[0].success ? 2 : 1)
    expect(answers[0]).toEqual(answers[1])
    const others = answers.flatMap(({ errorReason }) => errorReason ?? [])
    expect(new Set(others)).toEqual(new Set(['nonce_already_used']))
    expect(await ask('verify', payment, payment.accepted)).toMatchObject({
      invalidReason: 'nonce_already_used',
    })
    const { authorization } = payment.payload as { authorization: object }
    const other = requiring(freshAddress(), '900000')
    const forged = {
      ...payment,
      payload: {
        ...payment.payload,
        authorization: { ...authorization, to: other.payTo, value: other.amount },
      },
    }
    expect(await ask('settle', forged, other, deliveryId)).toMatchObject({
      errorReason: 'nonce_already_used',
    })
    await untilStatus(accepted[0].transaction, 'completed')
    expect(await held(payTo)).toBe(250_000n)
    await proves()
  })

  it('is refused with the reason, and takes nothing', async () => {
    const before = await unified.balance(harness.chain(), alice.address)
    const good = await paymentOf(alice, requiring(freshAddress()))
    const { authorization } = good.payload as { authorization: Record<string, string> }
    const changed = (fields: object) => ({
      ...good,
      payload: { ...good.payload, authorization: { ...authorization, ...fields } },
    })
    const seconds = Math.floor(Date.now() / 1000)
    const required = good.accepted
    const poor = await paymentOf(carol, requiring(freshAddress()))
    const own = await paymentOf(alice, requiring(alice.address))
    const huge = await paymentOf(alice, requiring(freshAddress(), String(2n ** 256n - 1n)))
    for (const [payment, asked, reason] of [
      [good, { ...required, scheme: 'upto' }, 'unsupported_scheme'],
      [good, { ...required, network: 'eip155:1' }, 'unsupported_network'],
      [good, { ...required, asset: freshAddress() }, 'unsupported_asset'],
      [good, { ...required, extra: { ...required.extra, verifyingContract: usdc() } }, 'unsupported_domain'],
      [good, { ...required, extra: { verifyingContract: { toString: null } } }, 'unsupported_domain'],
      [good, { ...required, payTo: freshAddress() }, 'address_mismatch'],
      [good, { ...required, amount: '1' }, 'amount_mismatch'],
      [changed({ value: '0' }), { ...required, amount: '0' }, 'invalid_amount'],
      [own, own.accepted, 'self_transfer'],
      [changed({ validAfter: String(seconds + 1_000) }), required, 'authorization_not_yet_valid'],
      [changed({ validBefore: String(seconds - 1) }), required, 'authorization_expired'],
      [changed({ validBefore: String(seconds + 60) }), required, 'authorization_validity_too_short'],
      [changed({ nonce: `0x${randomBytes(32).toString('hex')}` }), required, 'invalid_signature'],
      [changed({ from: carol.address }), required, 'invalid_signature'],
      [poor, poor.accepted, 'insufficient_balance'],
      [huge, huge.accepted, 'insufficient_balance'],
    ] as const) {
      const accepted = { ...payment, accepted: asked }
      expect(await ask('settle', accepted, asked), reason).toMatchObject({
        success: false,
        errorReason: reason,
        transaction: '',
      })
      expect(await ask('verify', accepted, asked), reason).toMatchObject({
        isValid: false,
        invalidReason: reason,
      })
    }
    expect(await unified.balance(harness.chain(), alice.address)).toBe(before)
    // The published client of sellers reads a refusal as one.
    const facilitator = new BatchFacilitatorClient({ url: host })
    expect(await facilitator.settle(poor as never, poor.accepted as never)).toMatchObject({ success: false })
    expect((await facilitator.getSupported()).kinds.map((kind) => kind.network)).toEqual([network])
    const malformed = await unified.http('POST', '/v1/x402/settle', {
      body: { paymentPayload: { payload: {} }, paymentRequirements: required },
    })
    expect(malformed.status).toBe(400)
    expect(malformed.body.message).toContain('paymentPayload.payload.authorization.from')
    for (const [query, field] of [
      ['status=completed', 'status'],
      ['network=eip155:1', 'network'],
      ['nonce=0x12', 'nonce'],
      ['startDate=yesterday', 'startDate'],
    ]) {
      const refused = await unified.http('GET', `/v1/x402/transfers?${query}`)
      expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(field!)])
    }
    expect((await unified.http('GET', `/v1/x402/transfers/${randomUUID()}`)).status).toBe(404)
  })

  it('is shown on pages, which link to each other', async () => {
    const read = async (path: string) => {
      const { body, headers } = await unified.http('GET', path)
      const next = /<([^>]*)>; rel="next"/.exec(String(headers.get('link')))?.[1]
      return { ids: body.transfers.map(({ id }: { id: string }) => id) as string[], next }
    }
    const all = await read(`/v1/x402/transfers?from=${alice.address}&pageSize=50`)
    const pages: string[] = []
    let next: string | undefined = `/v1/x402/transfers?from=${alice.address}&pageSize=7`
    while (next) {
      const page: Awaited<ReturnType<typeof read>> = await read(next)
      pages.push(...page.ids)
      next = page.next?.replace(/^https?:\/\/[^/]+/, '')
    }
    expect(pages).toEqual(all.ids)
    expect(pages.length).toBeGreaterThanOrEqual(20)
  })

  it('of a blocked payer or payee is not accepted', async () => {
    const payTo = freshAddress()
    for (const listed of [payTo, alice.address]) {
      const listing = {
        list: 'block',
        entry: parseScreenedAddress('BASE-SEPOLIA', listed)!,
        reason: 'a test',
      }
      const operator = { database: harness.database, clock: harness.ctx.clock, actor: 'operator' }
      await addEntry(operator, listing)
      const payment = await paymentOf(alice, requiring(payTo))
      expect(await settle(payment)).toMatchObject({ errorReason: 'screening_denied' })
      await removeEntry(operator, listing)
      expect(await settle(payment)).toMatchObject({ success: true })
    }
  })

  it('is paid out of a withdrawal that its payer began afterwards, also where that is seen first', async () => {
    const payTo = freshAddress()
    await unified.fund(harness.chain(), carol.address, 1_000_000n, '1')
    const { config } = harness.ctx
    const { paymentBatchMs } = config
    Object.assign(config, { paymentBatchMs: 3_000 })
    const { transaction } = await settle(await paymentOf(carol, requiring(payTo, '600000')))
    await unified.callWallet(harness.chain(), carol.address, 'initiateWithdrawal', [usdc(), 1_000_000n])
    await unified.shows(harness.chain(), carol.address, '0')
    expect(await transferOf(transaction)).toMatchObject({ status: 'received' })
    await untilStatus(transaction, 'completed')
    Object.assign(config, { paymentBatchMs })
    expect(await held(payTo)).toBe(600_000n)
    expect(await unified.read(harness.chain(), wallet, 'withdrawingBalance', [usdc(), carol.address])).toBe(
      400_000n,
    )
    await unified.shows(harness.chain(), carol.address, '0')
    await unified.fund(harness.chain(), carol.address, 1_000_000n, '1')
    await proves()
  })

  it('is taken back with its block, and settled by another', async () => {
    const payTo = freshAddress()
    const { transaction } = await settle(await paymentOf(alice, requiring(payTo)))
    await until(async () => (await transferOf(transaction)).txHash !== undefined, 'a block has it')
    const before = await blockOf(transaction)
    // A local chain takes back blocks that count as final, and so the credit of the payee.
    await harness.chain().reorg(1)
    await until(async () => {
      await harness.chain().mine()
      const block = await blockOf(transaction)
      return block !== undefined && block !== before
    }, 'another block has it')
    await untilStatus(transaction, 'completed')
    expect(await held(payTo)).toBe(250_000n)
    await proves()
  })

  it('waits while the contract is paused, and is settled then', async () => {
    const payTo = freshAddress()
    const { rpc } = harness.chain()
    await rpc('anvil_impersonateAccount', [issuerAccount.address])
    await harness.stopEngines()
    const answers = await Promise.all(
      [1, 2].map(async () => settle(await paymentOf(alice, requiring(payTo)))),
    )
    await unified.callWallet(harness.chain(), issuerAccount.address, 'pause', [])
    const failed = countAlarm('payments-failed')
    harness.startEngines()
    await until(async () => {
      await harness.chain().mine()
      return failed() > 0
    }, 'the batch fails')
    await unified.callWallet(harness.chain(), issuerAccount.address, 'unpause', [])
    for (const { transaction } of answers) await untilStatus(transaction, 'completed')
    expect(await held(payTo)).toBe(500_000n)
    await proves()
  })

  it('is not accepted where nothing settles it, or for more than a payer may have waiting', async () => {
    const { config, database } = harness.ctx
    const { crosschainEntity } = config
    const payment = await paymentOf(alice, requiring(freshAddress()))
    Object.assign(config, { crosschainEntity: undefined })
    expect((await unified.http('GET', '/v1/x402/supported')).body.kinds).toEqual([])
    expect(await settle(payment)).toMatchObject({ errorReason: 'unsupported_network' })
    Object.assign(config, { crosschainEntity })
    await harness.stopEngines()
    const row = (
      index: number,
    ) => sql`select gen_random_uuid(), 'BASE-SEPOLIA', ${alice.address.toLowerCase()},
      ${freshAddress()}, 1, decode(lpad(to_hex(${index} + n), 64, '0'), 'hex'), 0, 99999999999, decode(repeat('00', 65), 'hex'), now(),
      gen_random_uuid(), now(), now() from generate_series(1, 1000) n`
    await database.run(sql`insert into unified_payments (id, blockchain, payer, payee, amount, nonce, valid_after, valid_before,
      signature, due_at, delivery_id, create_date, update_date) ${row(0)}`)
    const full = await settle(payment)
    expect(full).toMatchObject({ message: expect.stringContaining('1000 payments of this payer wait') })
    await database.run(
      sql`update unified_payments set due_at = now() - interval '10 minutes' where amount = 1 and state = 'received'`,
    )
    const late = await settle(await paymentOf(bob, requiring(freshAddress(), '1000')))
    expect(late).toMatchObject({ message: expect.stringContaining('wait for their settlement too long') })
    await database.tx(async (tx) => {
      await tx.script('set local role none')
      await tx.run(sql`delete from unified_payments where amount = 1 and state = 'received'`)
    })
    harness.startEngines()
    expect(await settle(payment)).toMatchObject({ success: true })
  })

  it('is accepted by a delivery whose id is written in capitals', async () => {
    const deliveryId = randomUUID().toUpperCase()
    const payment = await paymentOf(alice, requiring(freshAddress()))
    const first = await settle(payment, deliveryId)
    expect(first).toMatchObject({ success: true })
    expect(await settle(payment, deliveryId.toLowerCase())).toEqual(first)
  })

  it('that expires before it is part of a batch is returned', async () => {
    const before = await unified.balance(harness.chain(), bob.address)
    await harness.stopEngines()
    const { transaction } = await settle(await paymentOf(bob, requiring(freshAddress())))
    expect(await unified.balance(harness.chain(), bob.address)).not.toBe(before)
    const monthMs = 30 * 86_400_000
    harness.clock.moveMs(monthMs)
    harness.startEngines()
    await untilStatus(transaction, 'failed')
    await unified.shows(harness.chain(), bob.address, before)
    await proves()
    harness.clock.moveMs(-monthMs)
  })

  it.each(['before-acceptance-commit', 'after-acceptance-commit'] as const)(
    'is accepted once by a server that dies at %s',
    async (point) => {
      const payTo = freshAddress()
      const payment = await paymentOf(alice, requiring(payTo))
      const deliveryId = randomUUID()
      const victim = await spawnWorker()
      const { blockchain, rpcUrl } = harness.chain()
      const failpoint = { point, hit: 1, action: 'kill' } as const
      await victim.open({ connection: harness.connection, rpcUrl, blockchain, roles: ['api'], failpoint })
      const url = await victim.start()
      const body = { paymentPayload: payment, paymentRequirements: payment.accepted, deliveryId }
      await expect(httpAs(url!, undefined)('POST', '/v1/x402/settle', { body })).rejects.toThrow()
      await victim.exited
      const again = await settle(payment, deliveryId)
      expect(again).toMatchObject({ success: true })
      await untilStatus(again.transaction, 'completed')
      expect(await held(payTo)).toBe(250_000n)
      await proves()
    },
  )

  it.each(['before-payments-commit', 'after-payments-commit'] as const)(
    'is settled once after a worker that dies at %s',
    async (point) => {
      const payTo = freshAddress()
      await harness.stopEngines()
      const { transaction } = await settle(await paymentOf(alice, requiring(payTo)))
      const victim = await spawnWorker()
      const { blockchain, rpcUrl } = harness.chain()
      const failpoint = { point, hit: 1, action: 'kill' } as const
      await victim.open({
        connection: harness.connection,
        rpcUrl,
        blockchain,
        roles: ['unified-balance'],
        failpoint,
      })
      await victim.start()
      await victim.exited
      harness.startEngines()
      await untilStatus(transaction, 'completed')
      expect(await held(payTo)).toBe(250_000n)
      await proves()
    },
  )
})
