/**
 * The corpus of property 44: real calldata, typed data, messages and transactions, decoded and decided on. Each case names
 * the permissions that it needs beside the strict rules. Without any one of them it must be denied, with all it must pass.
 */
import { describe, expect, it } from 'vitest'
import { callCases } from '#testing/policy/calls'
import { type Case, strictRules } from '#testing/policy/rules'
import { signingCases } from '#testing/policy/signing'
import { denialOf } from './evaluate.ts'
import { dangers, operationKinds } from './operation.ts'
import { compileRules, parseRules } from './rules.ts'

const cases: Case[] = [...callCases, ...signingCases]

const allows = ({ operation }: Case, rules: object): boolean =>
  denialOf(compileRules(parseRules(rules)), operation) === undefined
const permitting = (permissions: readonly string[]) => ({ ...strictRules, permissions })
const shown = ({ name, operation: { effects, dangers: found } }: Case) =>
  `${name}: ${JSON.stringify({ effects, found }, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}`

describe(`property 44: of ${cases.length} cases`, () => {
  it('the corpus has at least 300 policies, no two alike', () => {
    expect(cases.length).toBeGreaterThanOrEqual(300)
    const names = cases.map((each) => `${each.operation.kind} ${each.name}`)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('none is allowed that needs a permission, or that no permission is meant for', () => {
    const wrong = cases.filter((each) => {
      const { needs } = each
      if (needs === 'never') {
        // Undecodable calls cannot be checked by the other rules: the operator who permits them has been warned.
        const isTold = !each.operation.dangers.includes('undecodable')
        return allows(each, permitting(dangers.filter((danger) => isTold || danger !== 'undecodable')))
      }
      const lacking = needs.map((need) => permitting(dangers.filter((danger) => danger !== need)))
      return lacking.some((rules) => allows(each, rules))
    })
    expect(wrong.map(shown)).toEqual([])
  })

  it('none is denied that is permitted', () => {
    const wrong = cases.filter((each) => each.needs !== 'never' && !allows(each, permitting(each.needs)))
    expect(
      wrong.map(
        (each) =>
          `${shown(each)} ${denialOf(compileRules(parseRules(permitting(each.needs as string[]))), each.operation)}`,
      ),
    ).toEqual([])
  })

  it('none is allowed where its operation, its token, its destination or its contract is not listed', () => {
    for (const each of cases) {
      const open = { ...strictRules, permissions: [...dangers] }
      const operations = operationKinds.filter((kind) => kind !== each.operation.kind)
      expect(allows(each, { ...open, operations }), each.name).toBe(false)
      for (const { kind, ...effect } of each.operation.effects) {
        const without =
          kind === 'call'
            ? { contracts: [] }
            : kind === 'typedData'
              ? { typedData: [] }
              : { tokens: [], limits: [] }
        expect(allows(each, { ...open, ...without }), each.name).toBe(false)
        if ('destination' in effect)
          expect(allows(each, { ...open, destinations: [] }), each.name).toBe(false)
      }
    }
  })
})
