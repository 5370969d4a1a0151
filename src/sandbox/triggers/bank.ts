/** Fixtures of the bank of the business account: linked accounts, wires and redemptions. */
import type { Fixture } from './fixture.ts'
import type { Steps } from './steps.ts'

const wires = '/v1/businessAccount/banks/wires'
const status = ({ status: found }: { status?: string }) => found
const usd = (amount: string) => ({ amount, currency: 'USD' })
const place = {
  line1: '1 Trigger Street',
  city: 'Boston',
  district: 'MA',
  postalCode: '02110',
  country: 'US',
}

type Linked = { id: string; trackingRef: string }

async function linkAccount(steps: Steps): Promise<Linked> {
  const { id } = await steps.post(wires, {
    accountNumber: '12340010',
    routingNumber: '121000248',
    billingDetails: { name: 'Trigger', ...place },
    bankAddress: { bankName: 'TRIGGER BANK', country: 'US' },
  })
  return steps.untilState(`${wires}/${steps.note('wire', id)}`, status, 'complete')
}

async function wire(
  steps: Steps,
  { id: sourceWalletId, trackingRef }: Linked,
  amount: string,
): Promise<void> {
  const { beneficiaryBank } = await steps.call('GET', `${wires}/${sourceWalletId}/instructions`)
  const { accountNumber } = beneficiaryBank
  const sent = { trackingRef, amount: usd(amount), beneficiaryBank: { accountNumber } }
  await steps.call('POST', '/v1/mocks/payments/wire', sent)
  const all: { id: string; sourceWalletId?: string }[] = await steps.call(
    'GET',
    '/v1/businessAccount/deposits',
  )
  const { id } = all.find((deposit) => deposit.sourceWalletId === sourceWalletId)!
  await steps.untilState(`/v1/businessAccount/deposits/${steps.note('deposit', id)}`, status, 'complete')
}

/** Redeems an amount, and waits for the end of the payout. */
async function redeem(steps: Steps, amount: string, end: string): Promise<string> {
  const account = await linkAccount(steps)
  await wire(steps, account, amount)
  const destination = { type: 'wire', id: account.id }
  const { id } = await steps.post('/v1/businessAccount/payouts', { destination, amount: usd(amount) })
  await steps.untilState(`/v1/businessAccount/payouts/${steps.note('payout', id)}`, status, end)
  return id
}

async function returnRedemption(steps: Steps): Promise<void> {
  const id = await redeem(steps, '6.21', 'failed')
  const shown = await steps.call('GET', `/v1/businessAccount/payouts/${id}`)
  steps.note('return', shown.return.id)
  const returned = (payout: { return: { status: string } }) => payout.return.status
  await steps.untilState(`/v1/businessAccount/payouts/${id}`, returned, 'complete')
}

export const bankFixtures: Readonly<Record<string, Fixture>> = {
  'wire.complete': {
    about: 'A bank account is linked.',
    topics: ['wire'],
    run: async (steps) => void (await linkAccount(steps)),
  },
  'deposit.complete': {
    about: 'A bank account is linked, and a wire arrives from it.',
    topics: ['deposits', 'wire'],
    values: { 'amount.amount': '25.00' },
    run: async (steps) => wire(steps, await linkAccount(steps), steps.values['amount.amount']!),
  },
  'businessPayout.complete': {
    about: 'A wire arrives, and its coins are redeemed: the bank pays.',
    topics: ['payouts', 'deposits', 'wire'],
    values: { 'amount.amount': '25.00' },
    run: async (steps) => void (await redeem(steps, steps.values['amount.amount']!, 'complete')),
  },
  'businessPayout.returned': {
    about: 'Coins are redeemed, and the bank returns the payout after it was complete.',
    topics: ['returns', 'payouts', 'deposits', 'wire'],
    run: returnRedemption,
  },
}
