/** The codes of errors by which the published clients throw, compared with those of this server. */
import * as contracts from '@circle-fin/smart-contract-platform'
import * as developers from 'developer-controlled-wallets-10-8'
import * as users from 'user-controlled-wallets-10-8'
import { describe, expect, it } from 'vitest'
import { unansweredCodes } from '#api/index'
import { errorKinds } from '#lib/error-kinds'

const clients: Record<string, object> = { developers, users, contracts }

/** The codes of the classes that a client exports for its errors; some have the name of a condition of the network. */
const codesOf = (client: object): number[] =>
  Object.values(client).flatMap((value) => {
    const code = typeof value === 'function' && value.prototype instanceof Error ? value.code : undefined
    return typeof code === 'number' ? [code] : []
  })

const answered = new Set<number>(Object.values(errorKinds).map(({ code }) => code))
const unanswered = unansweredCodes.flatMap(({ codes }) => codes)

describe('the errors of a client', () => {
  it.each(Object.keys(clients))('of %s are answered, or listed as not answered', (name) => {
    const codes = codesOf(clients[name]!)
    expect(codes.length).toBeGreaterThan(250)
    expect(codes.filter((code) => !answered.has(code) && !unanswered.includes(code))).toEqual([])
  })

  it('are listed once, and only those that are not answered', () => {
    const known = new Set(Object.values(clients).flatMap(codesOf))
    expect(unanswered.filter((code) => answered.has(code) || !known.has(code))).toEqual([])
    expect(new Set(unanswered).size).toBe(unanswered.length)
  })
})
