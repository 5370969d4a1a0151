import { lackOf } from '../chains/abilities.ts'
/** Fixtures of the business account: payments, payouts, transfers and recipients. */
import type { Fixture } from './fixture.ts'
import type { Steps } from './steps.ts'

const chainOf = ({ network }: Steps) => network.businessChain
const status = ({ status: found }: { status?: string }) => found
const usd = (amount: string) => ({ amount, currency: 'USD' })
const paid = { 'amount.amount': '1.25' }
const expected = { 'amount.amount': '3.00' }
const amountOf = ({ values }: Steps) => values['amount.amount']!

type MadeIntent = { id: string; depositAddress: string }

/** An intent with its address: continuous, or waiting for an amount. */
async function makeIntent(steps: Steps, amount?: string): Promise<MadeIntent> {
  const { id } = await steps.post('/v1/paymentIntents', {
    type: amount === undefined ? 'continuous' : 'transient',
    ...(amount === undefined ? { currency: 'USD' } : { amount: usd(amount) }),
    settlementCurrency: 'USD',
    paymentMethods: [{ type: 'blockchain', chain: chainOf(steps) }],
  })
  steps.note('paymentIntent', id)
  const depositAddress: string = await steps.until(
    async () => (await steps.call('GET', `/v1/paymentIntents/${id}`)).paymentMethods[0]?.address,
    'the intent has its address',
  )
  return { id, depositAddress }
}

/** The payment of an intent, once there is one. */
async function paymentOf(steps: Steps, intentId: string): Promise<string> {
  const path = `/v1/payments?paymentIntentId=${intentId}`
  const { id } = await steps.until(async () => {
    const [found]: { id: string }[] = await steps.call('GET', path)
    return found
  }, 'the payment is there')
  return steps.note('payment', id)
}

const untilPaid = (steps: Steps, id: string) => steps.untilState(`/v1/payments/${id}`, status, 'paid')

async function payIntent(steps: Steps, intent: MadeIntent, amount: string): Promise<string> {
  await steps.pay(intent.depositAddress, 'USDC', amount)
  const id = await paymentOf(steps, intent.id)
  await untilPaid(steps, id)
  return id
}

/** Cents of an amount such as 3.00. */
const centsOf = (amount: string) => BigInt(Math.round(Number(amount) * 100))
const amountOfCents = (cents: bigint) => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`

/** Pays an intent that expects an amount another part of it, in percent. */
async function payPart(steps: Steps, percent: bigint): Promise<string> {
  const amount = amountOf(steps)
  const intent = await makeIntent(steps, amount)
  await payIntent(steps, intent, amountOfCents((centsOf(amount) * percent) / 100n))
  return intent.id
}

/** Pays from a sender that does not send again what a reorg drops, as the faucet of EVM chains does. */
async function payOnce(steps: Steps, to: string, amount: string): Promise<void> {
  if (lackOf(steps.network.blockchain, 'impersonate') !== undefined)
    return void (await steps.pay(to, 'USDC', amount))
  const sender = steps.address()
  await steps.pay(sender, 'NATIVE', '1')
  await steps.pay(sender, 'USDC', amount)
  await steps.onChain('impersonate', { address: sender, transfer: { to, token: 'USDC', amount } })
}

/** Takes a payment back: a reorg without its transaction. */
async function reversePayment(steps: Steps): Promise<void> {
  const intent = await makeIntent(steps)
  await payOnce(steps, intent.depositAddress, amountOf(steps))
  const id = await paymentOf(steps, intent.id)
  await steps.onChain('reorg', { depth: 1, transactions: 'drop' })
  await steps.until(async () => {
    const events: { type: string }[] = await steps.call('GET', `/operator/events?resourceId=${id}`)
    return events.find(({ type }) => type === 'payment.orphaned')
  }, 'the payment is taken back')
}

async function expireIntent(steps: Steps): Promise<void> {
  const { id } = await makeIntent(steps, amountOf(steps))
  await steps.call('POST', `/v1/paymentIntents/${id}/expire`)
}

async function refundIntent(steps: Steps): Promise<void> {
  const amount = amountOf(steps)
  const intent = await makeIntent(steps)
  await payIntent(steps, intent, amount)
  const { id } = await steps.post(`/v1/paymentIntents/${intent.id}/refund`, {
    destination: { address: steps.address(), chain: chainOf(steps) },
    amount: { currency: 'USD' },
    toAmount: usd(amount),
  })
  await untilPaid(steps, steps.note('refund', id))
}

/** Money to pay out from. */
const fund = async (steps: Steps, amount: string) => payIntent(steps, await makeIntent(steps), amount)

async function makeRecipient(steps: Steps): Promise<string> {
  const { id } = await steps.post('/v1/addressBook/recipients', {
    chain: chainOf(steps),
    address: steps.address(),
    metadata: { nickname: 'Trigger' },
  })
  steps.note('addressBookRecipient', id)
  await steps.untilState(`/v1/addressBook/recipients/${id}`, status, 'active', 'inactive', 'denied')
  return id
}

async function payOut(steps: Steps, amount: string, end: string): Promise<void> {
  await fund(steps, amount)
  const destination = { type: 'address_book', id: await makeRecipient(steps) }
  const { id } = await steps.post('/v1/payouts', { destination, amount: usd(amount) })
  await steps.untilState(`/v1/payouts/${steps.note('payout', id)}`, status, end)
}

async function transferOut(steps: Steps): Promise<void> {
  const amount = amountOf(steps)
  const path = '/v1/businessAccount/wallets/addresses/recipient'
  await fund(steps, amount)
  const own = { chain: chainOf(steps), address: steps.address(), description: 'Trigger' }
  const { id: addressId } = await steps.post(path, own)
  await steps.until(async () => {
    const all: { id: string; status: string }[] = await steps.call('GET', path)
    return all.find((each) => each.id === addressId && each.status === 'active')
  }, 'the address is active')
  const destination = { type: 'verified_blockchain', addressId }
  const { id } = await steps.post('/v1/businessAccount/transfers', { destination, amount: usd(amount) })
  await steps.untilState(`/v1/businessAccount/transfers/${steps.note('transfer', id)}`, status, 'complete')
}

export const businessFixtures: Readonly<Record<string, Fixture>> = {
  'payment.pending': {
    about: 'A customer pays; the payment is seen in a block.',
    topics: ['payments', 'paymentIntents'],
    values: paid,
    run: async (steps) => {
      const intent = await makeIntent(steps)
      await steps.pay(intent.depositAddress, 'USDC', amountOf(steps))
      await paymentOf(steps, intent.id)
    },
  },
  'payment.paid': {
    about: 'A customer pays, and the payment is complete.',
    topics: ['payments', 'paymentIntents'],
    values: paid,
    run: async (steps) => void (await payIntent(steps, await makeIntent(steps), amountOf(steps))),
  },
  'payment.reversed': {
    about:
      'A customer pays, and a reorg of one block takes the payment back. The newest block of the chain is replaced for all.',
    topics: ['payments', 'paymentIntents'],
    values: paid,
    run: reversePayment,
  },
  'paymentIntent.created': {
    about: 'An intent is made, and waits at its address.',
    topics: ['paymentIntents'],
    values: expected,
    run: async (steps) => void (await makeIntent(steps, amountOf(steps))),
  },
  'paymentIntent.underpaid': {
    about: 'Half of the amount of an intent is paid.',
    topics: ['paymentIntents', 'payments'],
    values: expected,
    run: async (steps) => void (await payPart(steps, 50n)),
  },
  'paymentIntent.paid': {
    about: 'An intent is paid in full.',
    topics: ['paymentIntents', 'payments'],
    values: expected,
    run: async (steps) => void (await payPart(steps, 100n)),
  },
  'paymentIntent.overpaid': {
    about: 'Twice the amount of an intent is paid.',
    topics: ['paymentIntents', 'payments'],
    values: expected,
    run: async (steps) => void (await payPart(steps, 200n)),
  },
  'paymentIntent.expired': {
    about: 'An intent is expired by request; the clock stays.',
    topics: ['paymentIntents'],
    values: expected,
    run: expireIntent,
  },
  'paymentIntent.refunded': {
    about: 'A payment is refunded to an address.',
    topics: ['paymentIntents', 'payments'],
    values: paid,
    run: refundIntent,
  },
  'payout.complete': {
    about: 'Money is received, and paid out to a new recipient.',
    topics: ['payouts', 'addressBookRecipients', 'payments', 'paymentIntents'],
    values: paid,
    run: (steps) => payOut(steps, amountOf(steps), 'complete'),
  },
  'payout.failed': {
    about: 'A payout above the limit of the travel rule is denied, because it names no identities.',
    topics: ['payouts', 'addressBookRecipients', 'payments', 'paymentIntents'],
    values: { 'amount.amount': '3000.00' },
    run: (steps) => payOut(steps, amountOf(steps), 'failed'),
  },
  'transfer.complete': {
    about: 'Money is received, and moved to a new address of the merchant.',
    topics: ['transfers', 'payments', 'paymentIntents'],
    values: paid,
    run: transferOut,
  },
  'addressBookRecipient.active': {
    about: 'A recipient is added to the address book; it is active at once unless the sandbox has a hold.',
    topics: ['addressBookRecipients'],
    run: async (steps) => void (await makeRecipient(steps)),
  },
}
