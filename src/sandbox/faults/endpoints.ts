import Type from 'typebox'
import { invalid } from '#lib/errors'
import { type Arrived, type Endpoint, endpoint } from '#runtime/http/endpoint'
import { described } from '#runtime/http/openapi/annotate'
import type { RequestScope } from '#runtime/scope'
import type { Faults } from './faults.ts'
import { faultPoints, planSchema } from './plan-schema.ts'
import { presets } from './presets.ts'

const shared = { tag: 'Sandbox', auth: 'none', changing: false } as const

const describedPlan = described(planSchema, 'The plan.')

const faultsSchema = Type.Object(
  {
    plan: Type.Optional(describedPlan),
    hits: Type.Record(Type.String(), Type.Integer(), { description: 'How often each rule was met.' }),
  },
  { title: 'SandboxFaults', description: 'The plan of faults at work; without a plan there are none.' },
)

const metSchema = Type.Object(
  {
    rule: Type.String({ description: 'The name of the rule.' }),
    on: Type.Enum(faultPoints, { description: 'Where it was met.' }),
    match: Type.Integer({ description: 'The number of the match, of all that the rule concerns.' }),
    hit: Type.Integer({ description: 'The number of the hit, of those that it met.' }),
    date: Type.String({ format: 'date-time', description: 'When it was met, in real time.' }),
    about: Type.Record(Type.String(), Type.String(), {
      description: 'What was met, such as requestId, endpoint or method.',
    }),
  },
  { title: 'MetFault', description: 'A fault that was met.' },
)

const ruleParams = Type.Object({ name: Type.String({ description: 'The name of the rule.' }) })
const presetParams = Type.Object({
  preset: Type.String({ description: `The preset: ${Object.keys(presets).join(', ')}.` }),
})
const seedBody = Type.Object(
  {
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 4_294_967_295,
        description: 'Decides all chances. Default: drawn.',
      }),
    ),
  },
  { description: 'The seed.' },
)

const text = ({ bytes }: Arrived): string => {
  if (bytes.length > 0) return bytes.toString()
  throw invalid({ at: 'body', reason: 'is empty: send the plan as YAML or JSON' })
}

/** Changes the plan, and answers once its rules are at work, also those that follow a chain. */
async function once<Shown>(faults: Faults, change: () => Shown): Promise<Shown> {
  const shown = change()
  await faults.settled()
  return shown
}

/** Plans as a whole. They are sent as text, in YAML or JSON, so that a refusal names the line. */
const planEndpoints = (faults: Faults) =>
  [
    endpoint<RequestScope>({
      ...shared,
      method: 'GET',
      path: '/sandbox/faults',
      operationId: 'getSandboxFaults',
      summary: 'Get the faults',
      description: 'Returns the plan of faults at work, and how often each rule was met.',
      response: faultsSchema,
      errors: [],
      verb: async () => faults.show(),
    }),
    endpoint<RequestScope>({
      ...shared,
      method: 'PUT',
      path: '/sandbox/faults',
      operationId: 'putSandboxFaults',
      summary: 'Apply a plan of faults',
      description:
        'Replaces the plan of faults by one in YAML or JSON. A plan with a mistake is refused whole, with the line of each mistake, and nothing changes. The same seed and the same requests meet the same faults.',
      raw: true,
      response: faultsSchema,
      errors: ['invalidRequest'],
      verb: (_, { arrived }) => once(faults, () => faults.apply(text(arrived))),
    }),
    endpoint<RequestScope>({
      ...shared,
      method: 'DELETE',
      path: '/sandbox/faults',
      operationId: 'deleteSandboxFaults',
      summary: 'Clear the faults',
      description: 'Removes the plan. Changes nothing when there is none.',
      status: 204,
      errors: [],
      verb: () => once(faults, faults.clear),
    }),
    endpoint<RequestScope, typeof presetParams, undefined, typeof seedBody>({
      ...shared,
      method: 'POST',
      path: '/sandbox/faults/presets/{preset}',
      operationId: 'applySandboxFaultPreset',
      summary: 'Apply a preset of faults',
      description: `Replaces the plan by a preset: ${Object.keys(presets).join(', ')}.`,
      params: presetParams,
      body: seedBody,
      response: faultsSchema,
      errors: ['invalidRequest'],
      verb: (_, { params, body }) => once(faults, () => faults.applyPreset(params.preset, body.seed)),
    }),
  ] as Endpoint<never>[]

/** Single rules, and what they met. */
const ruleEndpoints = (faults: Faults) =>
  [
    endpoint<RequestScope>({
      ...shared,
      method: 'POST',
      path: '/sandbox/faults/rules',
      operationId: 'addSandboxFaultRule',
      summary: 'Add a rule',
      description:
        'Adds a rule, in YAML or JSON, at the end of the plan; begins a plan when there is none. All counts begin anew.',
      raw: true,
      response: faultsSchema,
      errors: ['invalidRequest'],
      verb: (_, { arrived }) => once(faults, () => faults.add(text(arrived))),
    }),
    endpoint<RequestScope, typeof ruleParams>({
      ...shared,
      method: 'DELETE',
      path: '/sandbox/faults/rules/{name}',
      operationId: 'deleteSandboxFaultRule',
      summary: 'Remove a rule',
      description: 'Removes a rule; without its last rule the plan is gone. All counts begin anew.',
      params: ruleParams,
      response: faultsSchema,
      errors: ['faultPlanMissing', 'faultRuleNotFound'],
      verb: (_, { params }) => once(faults, () => faults.remove(params.name)),
    }),
    endpoint<RequestScope>({
      ...shared,
      method: 'GET',
      path: '/sandbox/faults/met',
      operationId: 'listSandboxMetFaults',
      summary: 'List met faults',
      description:
        'Lists the faults that were met since the plan was applied, oldest first; the last 10,000.',
      response: Type.Array(metSchema, { description: 'The faults that were met.' }),
      errors: [],
      verb: async () => faults.met(),
    }),
    endpoint<RequestScope>({
      ...shared,
      method: 'GET',
      path: '/sandbox/faults/replay',
      operationId: 'getSandboxFaultReplay',
      summary: 'Get the plan of a run',
      description:
        'Returns the plan that meets exactly what was met so far: each rule at the numbers of its matches, without chances.',
      response: describedPlan,
      errors: ['faultPlanMissing'],
      verb: async () => faults.replay(),
    }),
  ] as Endpoint<never>[]

/** The operations of the faults of a sandbox. */
export const faultEndpoints = (faults: Faults): readonly Endpoint<never>[] => [
  ...planEndpoints(faults),
  ...ruleEndpoints(faults),
]
