import { randomUUID } from 'node:crypto'
import { Circle } from '@circle-fin/circle-sdk'
import { describe, expect, it } from 'vitest'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { sandboxApiKey } from '#sandbox/credentials'
import {
  makeActiveAddress,
  makeActiveRecipient,
  makePaymentIntent,
  type Recipient,
} from '#testing/builders/world'
import { atomicOf } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { drawn } from '#testing/runner/drawn'
import { insist, killedAt } from './crashes.ts'
import type { FamilyPlatform } from './platform.ts'

/** The failpoints between a shortage at the treasury and the block that has the sweep or the payout. */
const ofPayouts: readonly Failpoint[] = [
  'before-screening-record',
  'before-treasury-commit',
  'after-treasury-commit',
  'before-signature',
  'after-signature',
  'before-send-answer',
  'before-block-commit',
]

const usd = (amount: string) => ({ amount, currency: 'USD' })
// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any
type Treasury = { blockchain: string; address: string; native: string }

/** Deposits and disbursements of a merchant. Deposit addresses hold no fee, and the treasury pays it. */
export function describeBusinessAccount(run: () => FamilyPlatform): void {
  describe('property 238: the business account', () => {
    const chain = () => run().family.network.businessChain
    const usdcAt = (address: string) => run().family.balanceOf(address, run().usdc.address)
    /** As people's applications have it. */
    const client = () => new Circle(sandboxApiKey, run().harness.url)
    let treasury: string

    const treasuries = async (): Promise<Treasury[]> =>
      (await run().call('GET', '/operator/treasury')).treasuries.filter(
        ({ blockchain }: Treasury) => blockchain === run().family.network.blockchain,
      )

    /** Repeats while the chain goes on: money is credited when its block has the confirmations. */
    const untilMined = (isSo: () => Promise<boolean>, what: string) =>
      until(async () => {
        await run().family.blocks.mine()
        return isSo()
      }, what)

    const available = async (): Promise<number> => {
      const { available } = await run().call('GET', '/v1/businessAccount/balances')
      return Number(available.find(({ currency }: Shown) => currency === 'USD')?.amount ?? 0)
    }

    /** An intent to which this was paid, and its payment. */
    async function paidIntent(amount: string) {
      const { family, usdc, call } = run()
      const intent = await makePaymentIntent(run(), chain())
      const txHash = await family.send(intent.depositAddress, atomicOf(amount, usdc.decimals), usdc.address)
      let payments: Shown[] = []
      await untilMined(async () => {
        payments = await call('GET', `/v1/payments?paymentIntentId=${intent.id}`)
        return payments[0]?.status === 'paid'
      }, `the payment ${txHash} is paid`)
      expect(payments).toHaveLength(1)
      return { ...intent, txHash, payment: payments[0] }
    }

    const recipient = () => makeActiveRecipient(run(), { chain: chain(), address: run().family.stranger() })

    const askPayout = ({ id }: Recipient, amount: string, fields: object = {}): Promise<string> =>
      insist((idempotencyKey) =>
        run().http('POST', '/v1/payouts', {
          body: {
            idempotencyKey,
            destination: { type: 'address_book', id },
            amount: usd(amount),
            ...fields,
          },
        }),
      )

    async function ended(path: string): Promise<Shown> {
      let shown: Shown
      await untilMined(async () => {
        shown = await run().call('GET', path)
        return shown.status !== 'pending' && shown.status !== 'running'
      }, `${path} has ended`)
      return shown
    }

    /** Checks that the chain paid a payout, in one transaction of the treasury. */
    async function expectPaidOut(id: string, { address }: Recipient, amount: string): Promise<void> {
      const { status, externalRef } = await ended(`/v1/payouts/${id}`)
      expect(status).toBe('complete')
      expect(await run().family.transactionOf(externalRef)).toEqual({ sender: treasury, success: true })
      expect(await usdcAt(address)).toBe(atomicOf(amount, run().usdc.decimals))
    }

    async function payOut(amount: string, fields: object = {}): Promise<void> {
      const payee = await recipient()
      const { data } = await client().payouts.createPayout({
        idempotencyKey: randomUUID(),
        destination: { type: 'address_book', id: payee.id },
        amount: usd(amount) as never,
        ...fields,
      })
      await expectPaidOut(data.data!.id!, payee, amount)
    }

    /** Waits until what the books have of the treasury is what the chain has. */
    const untilBooked = () =>
      untilMined(async () => {
        const [own] = await treasuries()
        const { decimals } = run().native
        const isBooked = atomicOf(own!.native, decimals) === (await run().family.balanceOf(treasury))
        return isBooked && (await run().heldCoins(treasury)) === 0n
      }, 'the treasury is booked')

    it('waits while its treasury has no coins for fees, and pays once it has', async () => {
      const { family, plenty, bookedCoins, call } = run()
      // The first payout makes the treasury, which the operator funds then.
      await paidIntent('1')
      const id = await askPayout(await recipient(), '1')
      await until(async () => (await treasuries())[0]?.address !== undefined, 'there is a treasury')
      treasury = (await treasuries())[0]!.address
      if ((await bookedCoins(treasury)) === 0n) {
        await until(
          async () => (await call('GET', `/v1/payouts/${id}`)).waitingFor !== undefined,
          'the payout says what it waits for',
        )
        await family.send(treasury, plenty)
      }
      expect((await ended(`/v1/payouts/${id}`)).status).toBe('complete')
    })

    it('credits what deposit addresses receive, once', async () => {
      const { family, call, usdc } = run()
      const before = await available()
      const { depositAddress, txHash, payment, id } = await paidIntent('2.5')
      expect(payment).toMatchObject({
        amount: usd('2.50'),
        depositAddress: { chain: chain(), address: depositAddress },
        fromAddresses: { chain: chain(), addresses: [family.outsider] },
        transactionHash: txHash,
      })
      expect((await call('GET', `/v1/paymentIntents/${id}`)).amountPaid).toEqual(usd('2.50'))
      const { url } = await call('PUT', `/v1/paymentIntents/${id}/page`, {
        merchantName: 'Corner Books',
      })
      const page = await call('GET', `/page/payments/${new URL(url).pathname.split('/').at(-1)}`)
      expect(page).toMatchObject({ stage: 'received', amountPaid: '2.50', payments: [{ status: 'paid' }] })
      const [{ paymentUri }] = page.paymentMethods
      for (const part of [
        depositAddress,
        family.network.tokens.find(({ symbol }) => symbol === 'USDC')!.address,
      ])
        expect(paymentUri.toLowerCase()).toContain(part.toLowerCase())
      const { data } = await client().addresses.createBusinessDepositAddress({
        idempotencyKey: randomUUID(),
        chain: chain() as never,
        currency: 'USD',
      })
      const address = data.data!.address!
      // Two that are equal are two deposits.
      const hashes = [
        await family.send(address, 500_000n, usdc.address),
        await family.send(address, 500_000n, usdc.address),
      ]
      await untilMined(async () => {
        const transfers = await call('GET', '/v1/businessAccount/transfers')
        const own = transfers.filter(({ transactionHash }: Shown) => hashes.includes(transactionHash))
        return own.length === 2 && own.every(({ status }: Shown) => status === 'complete')
      }, 'both are credited')
      expect(await available()).toBe(before + 3.5)
    })

    it('pays out what it swept, and leaves nothing at deposit addresses, which need no native coins', async () => {
      const paid = [await paidIntent('3'), await paidIntent('4'), await paidIntent('5')]
      const there = await usdcAt(treasury)
      const before = await available()
      await payOut(String(before))
      expect(await available()).toBe(0)
      for (const { depositAddress } of paid) {
        expect(await usdcAt(depositAddress)).toBe(0n)
        expect(await run().family.balanceOf(depositAddress)).toBe(0n)
      }
      expect(await usdcAt(treasury)).toBeLessThanOrEqual(there)
      await untilBooked()
    })

    it('pays refunds, and transfers to addresses of the merchant', async () => {
      const { call, family } = run()
      const { id } = await paidIntent('6')
      const payer = family.stranger()
      const refund = await call('POST', `/v1/paymentIntents/${id}/refund`, {
        idempotencyKey: randomUUID(),
        destination: { address: payer, chain: chain() },
        amount: { currency: 'USD' },
        toAmount: usd('2'),
      })
      expect((await ended(`/v1/payments/${refund.id}`)).status).toBe('paid')
      expect(await usdcAt(payer)).toBe(2_000_000n)
      const own = family.stranger()
      const { id: addressId } = await makeActiveAddress(run(), { chain: chain(), address: own })
      const transfer = await call('POST', '/v1/businessAccount/transfers', {
        idempotencyKey: randomUUID(),
        destination: { type: 'verified_blockchain', addressId },
        amount: usd('1.5'),
      })
      expect((await ended(`/v1/businessAccount/transfers/${transfer.id}`)).status).toBe('complete')
      expect(await usdcAt(own)).toBe(1_500_000n)
    })

    it('asks for the identity of who pays much', async () => {
      const { call } = run()
      await paidIntent('3000')
      const id = await askPayout(await recipient(), '3000')
      expect(await ended(`/v1/payouts/${id}`)).toMatchObject({
        status: 'failed',
        riskEvaluation: { decision: 'denied', reason: '3220' },
      })
      const place = { line1: '1 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
      const identities = [{ type: 'business', name: 'Exemplaire SARL', addresses: [place] }]
      const { payments } = await call('GET', '/v1/configuration')
      await payOut('3000', { source: { type: 'wallet', id: payments.masterWalletId, identities } })
    })

    it('pays once though the worker dies on the way', async () => {
      for (const point of drawn(ofPayouts, 1)) {
        await paidIntent('7')
        const payee = await recipient()
        const id = await killedAt(run(), point, () => askPayout(payee, '7'))
        await expectPaidOut(id, payee, '7')
        await untilBooked()
      }
    })

    it('pays once what was swept by a transaction that expired', async () => {
      const { family } = run()
      if (!family.lifetimes) return
      const { depositAddress } = await paidIntent('8')
      const payee = await recipient()
      await family.blocks.hold()
      family.node.loseTransactions(true)
      const before = family.node.submissions()
      const id = await askPayout(payee, '8')
      await until(async () => family.node.submissions() > before, 'the sweep is sent')
      await family.lifetimes.passAll()
      family.node.loseTransactions(false)
      await family.blocks.release()
      await expectPaidOut(id, payee, '8')
      expect(await usdcAt(depositAddress)).toBe(0n)
      await untilBooked()
    })

    it('has books that agree with the chain', async () => {
      const { call, family } = run()
      const { blockchain } = family.network
      expect(await call('GET', `/operator/reconciliations?blockchain=${blockchain}`)).toEqual([])
    })
  })
}
