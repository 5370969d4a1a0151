import { expect, it } from 'vitest'
import { planSchema, points, ruleSchema } from '#sandbox/faults/plan-schema'
import { presets } from '#sandbox/faults/presets'
import type { FaultPlanInput, FaultPreset, FaultRuleInput } from './faults.ts'

const namesOf = (known: object) => Object.keys(known).sort()

// The compiler finds a name that a type has and a list here lacks, and the other way round.
const places: Record<FaultRuleInput['on'], true> = {
  request: true,
  node: true,
  webhook: true,
  chain: true,
  screening: true,
}
const presetNames: Record<FaultPreset, true> = {
  'slow-network': true,
  'flaky-node': true,
  'angry-webhooks': true,
  'rate-limited': true,
  'lost-answers': true,
  reorgs: true,
  'strict-screening': true,
}
const planMembers: Record<keyof FaultPlanInput, true> = { seed: true, hidden: true, rules: true }
const ruleMembers: Record<keyof FaultRuleInput, true> = {
  name: true,
  on: true,
  entityId: true,
  also: true,
  match: true,
  when: true,
  do: true,
}
const conditions: Record<keyof NonNullable<FaultRuleInput['when']>, true> = {
  after: true,
  times: true,
  every: true,
  chance: true,
  at: true,
  window: true,
}

it.each([
  ['places', places, points],
  ['presets', presetNames, presets],
  ['members of a plan', { ...planMembers, apiVersion: true }, planSchema.properties],
  ['members of a rule', ruleMembers, ruleSchema.properties],
  ['conditions of a rule', conditions, ruleSchema.properties.when.properties],
])('the types of the kit have the %s of the sandbox', (_, typed, known) => {
  expect(namesOf(typed)).toEqual(namesOf(known))
})
