import { randomUUID } from 'node:crypto'
import { requireEqual, requireThat } from '../caller.ts'
import { untilFound } from '../until.ts'
import type { CheckGroup, World } from '../world.ts'

const intentBody = ({ businessChain }: World) => ({
  idempotencyKey: randomUUID(),
  type: 'transient',
  amount: { amount: '3.14', currency: 'USD' },
  settlementCurrency: 'USD',
  paymentMethods: [{ type: 'blockchain', chain: businessChain }],
})
const makeIntent = 'POST /v1/paymentIntents'

export const businessAccount: CheckGroup = {
  name: 'business',
  checks: [
    {
      about: 'names the wallet of the merchant, and its balances',
      run: async ({ done }) => {
        const { payments } = await done('GET /v1/configuration')
        requireThat(/^\d+$/.test(payments.masterWalletId), 'masterWalletId is no number')
        await done('GET /v1/businessAccount/balances')
      },
    },
    {
      about: 'makes a payment intent once for an idempotency key',
      run: async (world) => {
        const { done } = world
        const body = intentBody(world)
        const made = await Promise.all([done(makeIntent, { body }), done(makeIntent, { body })])
        requireEqual(made[1]!.id, made[0]!.id, 'the id of the repeated request')
        requireEqual(made[0]!.amount, body.amount, 'the amount')
      },
    },
    {
      about: 'refuses an idempotency key of another payment intent',
      run: async (world) => {
        const { done, refused } = world
        const body = intentBody(world)
        await done(makeIntent, { body })
        await refused(makeIntent, 'conflict', {
          body: { ...body, amount: { amount: '2.72', currency: 'USD' } },
        })
      },
    },
    {
      about: 'gives a payment intent an address of its own, and expires it',
      run: async (world) => {
        const { done } = world
        const { id } = await done(makeIntent, { body: intentBody(world) })
        const other = await done(makeIntent, { body: intentBody(world) })
        const addressOf = (intent: string) =>
          untilFound('the intent has an address', { everyMs: 200, patienceMs: 10_000 }, async () => {
            const { paymentMethods } = await done('GET /v1/paymentIntents/{id}', { params: { id: intent } })
            return (paymentMethods[0].address || undefined) as string | undefined
          })
        const [one, two] = [await addressOf(id), await addressOf(other.id)]
        requireThat(one !== two, `both addresses are ${one}`)
        const { timeline } = await done('POST /v1/paymentIntents/{id}/expire', { params: { id } })
        requireEqual(timeline[0].status, 'expired', 'the status')
      },
    },
    {
      about: 'gives one deposit address of the merchant for a currency and chain',
      run: async ({ done, businessChain }) => {
        const operation = 'POST /v1/businessAccount/wallets/addresses/deposit'
        const body = { idempotencyKey: randomUUID(), currency: 'USD', chain: businessChain }
        const one = await done(operation, { body })
        const again = await done(operation, { body })
        requireEqual(again.address, one.address, 'the address of the repeated request')
        const all = (await done('GET /v1/businessAccount/wallets/addresses/deposit')) as { address: string }[]
        requireThat(
          all.some(({ address }) => address === one.address),
          'the list of addresses lacks it',
        )
      },
    },
    {
      about: 'keeps an address book',
      run: async ({ done, businessChain }) => {
        const body = {
          idempotencyKey: randomUUID(),
          chain: businessChain,
          address: `0x${randomUUID().replaceAll('-', '').padEnd(40, '0')}`,
          metadata: { nickname: 'Conformance', email: 'conformance@example.com' },
        }
        const { id } = await done('POST /v1/addressBook/recipients', { body })
        const found = await done('GET /v1/addressBook/recipients/{id}', { params: { id } })
        requireEqual([found.address, found.metadata.nickname], [body.address, 'Conformance'], 'the recipient')
      },
    },
  ],
}
