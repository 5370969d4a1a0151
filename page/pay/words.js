/** The words of the page for each stage of a payment: what it is, and what the customer should know or do. */

const coins = ({ token }, amount) => `${amount} ${token}`

/** The sum of two decimal texts, which have the digits of one coin. */
export function sum(one, other) {
  const digits = Math.max(...[one, other].map((text) => (text.split('.')[1] ?? '').length))
  const atomic = [one, other]
    .map((text) => {
      const [whole, fraction = ''] = text.split('.')
      return BigInt(whole + fraction.padEnd(digits, '0'))
    })
    .reduce((total, part) => total + part)
  const text = String(atomic).padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

const arrived = (data) => sum(data.amountPaid, data.amountSeen)

const stages = {
  waiting: () => ({
    tone: 'open',
    title: 'Waiting for your payment',
    text: 'This page shows it as soon as the network has it.',
  }),
  underpaid: (data) => ({
    tone: 'warn',
    title: `${coins(data, data.amountMissing)} still missing`,
    text: `${arrived(data)} of ${coins(data, data.amount)} arrived. Send the rest too.`,
  }),
  confirming: (data) => ({
    tone: 'open',
    title: 'Payment seen',
    text: `The network is confirming ${coins(data, data.amountSeen)}. There is nothing more to do: you may close this page.`,
  }),
  received: (data) => ({
    tone: 'good',
    title: 'Payment received',
    text: `${coins(data, data.amountPaid)} arrived so far.`,
  }),
  paid: (data) => ({
    tone: 'good',
    title: 'Paid',
    text: `${coins(data, data.amountPaid)} arrived. Thank you.`,
  }),
  overpaid: (data) => ({
    tone: 'good',
    title: `Paid, ${coins(data, data.amountExcess)} too much`,
    text: 'The merchant has the whole amount and sees the difference. Ask the merchant to send it back.',
  }),
  endedUnderpaid: (data) => ({
    tone: 'bad',
    title: 'The time to pay is over',
    text: `${arrived(data)} of ${coins(data, data.amount)} arrived. Send nothing more to its address: ask the merchant about the rest, or for a refund.`,
  }),
  expired: () => ({
    tone: 'bad',
    title: 'This payment has expired',
    text: 'Send nothing to its address any more. Ask the merchant for a new payment.',
  }),
  cancelled: () => ({
    tone: 'bad',
    title: 'The merchant closed this payment',
    text: 'Send nothing to its address any more. Ask the merchant if you have paid already.',
  }),
  failed: () => ({
    tone: 'bad',
    title: 'This payment failed',
    text: 'Send nothing to its address any more. Ask the merchant what to do.',
  }),
  refunded: (data) => ({
    tone: 'good',
    title: 'Refunded',
    text: `The merchant is sending ${coins(data, data.amountRefunded)} back. Send nothing to its address any more.`,
  }),
}

/** The tone, title and text of the stage. */
export const wordsOf = (data) => stages[data.stage](data)

/** What a screen reader says when the stage changes. */
export function spokenOf(data) {
  const { title, text } = wordsOf(data)
  return `${title}. ${text}`
}

/** How far a payment or a refund is. */
export function progressOf({ type, status, confirmations, confirmationsNeeded }) {
  if (status === 'paid') return type === 'refund' ? 'Sent back' : 'Arrived'
  if (status === 'failed') return type === 'refund' ? 'Not sent back' : 'Did not arrive'
  if (type === 'refund') return 'On its way back'
  if (confirmations === 0) return 'Waits to be in a block again'
  return `${confirmations} of ${confirmationsNeeded} ${confirmationsNeeded === 1 ? 'confirmation' : 'confirmations'}`
}

const two = (number) => String(number).padStart(2, '0')

/** The rest of the time to pay, in words that change once a minute until the last one. */
export function leftOf(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  if (hours >= 48) return `${Math.floor(hours / 24)} days left`
  if (hours > 0) return `${hours} h ${two(minutes)} min left`
  return `${minutes}:${two(seconds % 60)} left`
}

/** A time for readers anywhere, as the server writes it. */
export const timeOf = (instant) => `${instant.slice(0, 10)}, ${instant.slice(11, 16)} UTC`

export const titleOf = (data) => {
  const { title } = wordsOf(data)
  return data.stage === 'waiting' && data.amount ? `Pay ${coins(data, data.amount)}` : title
}
