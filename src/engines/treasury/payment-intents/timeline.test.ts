import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatInstant } from '#lib/time'
import { entryAfterCredit, entryAtExpiry, type IntentState, openingTimeline, takesMoney } from './timeline.ts'

const nowMs = Date.UTC(2026, 0, 1)
const intentWith = (changes: Partial<IntentState> = {}): IntentState => ({
  type: 'transient',
  status: 'pending',
  context: null,
  amount: 100n,
  amountPaid: 0n,
  expiresOn: formatInstant(nowMs + 1_000),
  ...changes,
})
const closed = formatInstant(nowMs - 1)

describe('timeline', () => {
  it('starts newest first, with the address already assigned', () => {
    expect(openingTimeline('continuous', nowMs).map(({ status }) => status)).toEqual(['active', 'created'])
    expect(openingTimeline('transient', nowMs).map(({ status }) => status)).toEqual(['pending', 'created'])
  })

  it.each([
    [intentWith({ amountPaid: 99n }), undefined],
    [intentWith({ amountPaid: 100n }), { status: 'complete', context: 'paid' }],
    [intentWith({ amountPaid: 101n }), { status: 'complete', context: 'overpaid' }],
    [intentWith({ amountPaid: 100n, status: 'complete', context: 'paid' }), undefined],
    [
      intentWith({ amountPaid: 150n, status: 'complete', context: 'paid' }),
      { status: 'complete', context: 'overpaid' },
    ],
    // A reorg reverted a payment: the intent waits again while its window is open, otherwise it is closed short.
    [intentWith({ amountPaid: 0n, status: 'complete', context: 'paid' }), { status: 'pending' }],
    [
      intentWith({ amountPaid: 0n, status: 'complete', context: 'paid', expiresOn: closed }),
      { status: 'expired', context: 'underpaid' },
    ],
    [
      intentWith({ amountPaid: 1n, status: 'complete', context: 'paid', expiresOn: closed }),
      { status: 'complete', context: 'underpaid' },
    ],
    // The merchant closed it while a payment was in flight: the payment counts, and it stays closed.
    [
      intentWith({
        amountPaid: 100n,
        status: 'expired',
        context: 'underpaid',
        reason: 'requested_by_merchant',
      }),
      { status: 'expired', context: 'paid', reason: 'requested_by_merchant' },
    ],
    [intentWith({ amountPaid: 200n, status: 'refunded' }), undefined],
    [
      intentWith({ type: 'continuous', status: 'active', amount: null, expiresOn: null, amountPaid: 5n }),
      undefined,
    ],
  ])('after a credit %o comes %o', (intent, entry) => {
    expect(entryAfterCredit(intent, nowMs)).toEqual(entry && { ...entry, time: formatInstant(nowMs) })
  })

  it('the timeline of an intent repeats no entry', () => {
    const amount = fc.bigInt({ min: 0n, max: 200n })
    const status = fc.constantFrom('pending', 'complete', 'expired') as fc.Arbitrary<IntentState['status']>
    fc.assert(
      fc.property(amount, status, fc.boolean(), (amountPaid, before, open) => {
        const intent = intentWith({ amountPaid, status: before, ...(!open && { expiresOn: closed }) })
        const entry = entryAfterCredit(intent, nowMs)
        const after = entry ? { ...intent, status: entry.status, context: entry.context ?? null } : intent
        expect(entryAfterCredit(after, nowMs + 1)).toBeUndefined()
      }),
    )
  })

  it('closes as expired without payments, as complete with one', () => {
    expect(entryAtExpiry(intentWith(), nowMs)).toMatchObject({ status: 'expired', context: 'underpaid' })
    expect(entryAtExpiry(intentWith({ amountPaid: 1n }), nowMs)).toMatchObject({
      status: 'complete',
      context: 'underpaid',
    })
  })

  it('accepts payments while it is open, and no late ones', () => {
    expect(takesMoney(intentWith(), nowMs)).toBe(true)
    expect(takesMoney(intentWith({ status: 'complete', context: 'paid' }), nowMs)).toBe(true)
    expect(takesMoney(intentWith({ status: 'complete', context: 'paid', expiresOn: closed }), nowMs)).toBe(
      false,
    )
    expect(takesMoney(intentWith({ status: 'expired' }), nowMs)).toBe(false)
    expect(takesMoney(intentWith({ type: 'continuous', status: 'active', expiresOn: null }), nowMs)).toBe(
      true,
    )
    expect(takesMoney(intentWith({ type: 'continuous', status: 'refunded', expiresOn: null }), nowMs)).toBe(
      false,
    )
  })
})
