import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { approved, newSession, pin, questions, shownChallenge } from '#testing/pages/page'
import { until } from '#testing/platform/until'
import { openWebhookReceiver, type WebhookReceiver } from '#testing/servers/webhook-receiver'
import { untilReceived } from './payments.ts'
import type { FamilyPlatform, FamilyWallet } from './platform.ts'

/** The order of the states of a payment; a receiver may miss none between two that it sees. */
const order = ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'CONFIRMED', 'COMPLETE']

/** Webhooks about payments, in order and signed. */
export function describeWebhooks(run: () => FamilyPlatform): void {
  describe('webhooks', () => {
    let receiver: WebhookReceiver
    let subscription: { id: string }
    beforeAll(async () => {
      receiver = await openWebhookReceiver((...asked) => run().http(...asked))
      const body = { endpoint: receiver.url, notificationTypes: ['transactions.*'] }
      subscription = await run().call('POST', '/v2/notifications/subscriptions', body)
    })
    afterAll(async () => {
      await run().http('DELETE', `/v2/notifications/subscriptions/${subscription.id}`)
      await receiver?.close()
    })
    const toldOf = (id: string) =>
      receiver
        .webhooks()
        .filter(({ notification }) => notification.id === id)
        .map(({ notificationType, notification }) => ({ notificationType, state: notification.state }))
    const untilTold = (id: string) =>
      until(async () => toldOf(id).at(-1)?.state === 'COMPLETE', `a webhook tells that ${id} is complete`)

    it('tells of each state of a payment once, in order, and of a received one', async () => {
      const { family, usdc, transfer } = run()
      const wallet = await run().fundedWallet()
      const id = await transfer({ from: wallet, to: family.stranger(), amount: '1' })
      await untilTold(id)
      const states = toldOf(id).map(({ state }) => state)
      expect(states).toEqual(
        [...new Set(states)].sort((one, other) => order.indexOf(one) - order.indexOf(other)),
      )
      expect(states).toEqual(expect.arrayContaining(['SENT', 'COMPLETE']))
      expect(new Set(toldOf(id).map(({ notificationType }) => notificationType))).toEqual(
        new Set(['transactions.outbound']),
      )
      const received = await untilReceived(run(), wallet, await family.send(wallet.address, 9n, usdc.address))
      await untilTold(received.id)
      expect(toldOf(received.id).at(-1)?.notificationType).toBe('transactions.inbound')
      expect(toldOf(received.id).filter(({ state }) => state === 'COMPLETE')).toHaveLength(1)
    })
  })
}

/** Wallets whose keys only their users open. */
export function describeUsers(run: () => FamilyPlatform): void {
  describe('user wallets', () => {
    it('pays what the user approved with a PIN, and shows to whom before', async () => {
      const { family, usdc, native, call, http, reaches, balances, expectPaid } = run()
      const session = await newSession(run())
      const headers = { 'X-User-Token': session.userToken }
      const challenge = async (path: string, fields: object): Promise<string> => {
        const body = { idempotencyKey: randomUUID(), ...fields }
        const answer = await http('POST', `/v1/w3s/user/${path}`, { body, headers })
        expect(answer.status, answer.text).toBe(201)
        return answer.body.data.challengeId
      }
      const first = await challenge('initialize', { blockchains: [family.network.blockchain] })
      const made = await approved(run(), session, first, [['N', pin], ...questions])
      const [walletId] = made.challenge.correlationIds
      const wallet: FamilyWallet = (await call('GET', `/v1/w3s/wallets/${walletId}`)).wallet
      await family.send(wallet.address, family.plentyAtomic)
      await family.send(wallet.address, 3_000_000n, usdc.address)
      await until(async () => {
        const has = await balances(wallet)
        return has[usdc.id] === '3' && has[native.id] !== undefined
      }, 'the coins of the user are booked')
      const wish = { from: wallet, to: family.stranger(), amount: '1.25' }
      const id = await challenge('transactions/transfer', run().bodyOf(wish))
      const { summary } = await shownChallenge(run(), session, id)
      expect(JSON.stringify(summary)).toContain(wish.to)
      expect(await family.balanceOf(wish.to, usdc.address)).toBe(0n)
      const [transactionId] = (await approved(run(), session, id)).challenge.correlationIds
      await reaches(transactionId, 'COMPLETE')
      await expectPaid(transactionId, wish)
    })
  })
}
