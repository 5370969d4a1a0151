/** What the page says of a payment, in the words of a language. */

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

const tones = {
  waiting: 'open',
  underpaid: 'warn',
  confirming: 'open',
  received: 'good',
  paid: 'good',
  overpaid: 'good',
  endedUnderpaid: 'bad',
  expired: 'bad',
  cancelled: 'bad',
  failed: 'bad',
  refunded: 'good',
}

/** The tone, title and text of the stage. */
export function wordsOf(data, words) {
  const [title, text] = words.stages[data.stage]({
    asked: coins(data, data.amount),
    missing: coins(data, data.amountMissing),
    arrived: sum(data.amountPaid, data.amountSeen),
    seen: coins(data, data.amountSeen),
    paid: coins(data, data.amountPaid),
    excess: coins(data, data.amountExcess),
    refunded: coins(data, data.amountRefunded),
  })
  return { tone: tones[data.stage], title, text }
}

/** What a screen reader says when the stage changes. */
export function spokenOf(data, words) {
  const { title, text } = wordsOf(data, words)
  return `${title}. ${text}`
}

/** How far a payment or a refund is. */
export function progressOf({ type, status, confirmations, confirmationsNeeded }, { progress }) {
  const own = progress[type]
  if (own[status]) return own[status]
  if (type === 'refund') return own.open
  return confirmations === 0 ? own.lost : progress.confirmations(confirmations, confirmationsNeeded)
}

const two = (number) => String(number).padStart(2, '0')

/** The rest of the time to pay, in words that change once a minute until the last one. */
export function leftOf(milliseconds, { left }) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  if (hours >= 48) return left.days(Math.floor(hours / 24))
  return hours > 0 ? left.hours(hours, two(minutes)) : left.minutes(`${minutes}:${two(seconds % 60)}`)
}

/** A time for readers anywhere, as the server writes it. */
export const timeOf = (instant) => `${instant.slice(0, 10)}, ${instant.slice(11, 16)} UTC`

export const titleOf = (data, words) =>
  data.stage === 'waiting' && data.amount
    ? words.payTitle(coins(data, data.amount))
    : wordsOf(data, words).title
