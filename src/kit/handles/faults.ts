import { type Ask, pathOf } from '../ask.ts'

/** A rule of a plan: docs/lab.md lists what each place can match and do. */
export type FaultRuleInput = {
  name: string
  on: 'request' | 'node' | 'webhook' | 'chain' | 'screening'
  entityId?: string
  also?: boolean
  match?: Readonly<Record<string, string | readonly string[]>>
  when?: {
    after?: number
    times?: number
    every?: number
    chance?: number
    at?: readonly number[]
    /** Business time since the plan was applied, such as `['PT0S', 'PT10M']`. */
    window?: readonly [from: string, to: string]
  }
  do: Readonly<Record<string, string | number | true | Readonly<Record<string, string | number>>>>
}

export type FaultPlanInput = { seed?: number; hidden?: boolean; rules: readonly FaultRuleInput[] }
type ShownFaultPlan = FaultPlanInput & { apiVersion: 'bezant/v1'; seed: number }
type FaultsState = { plan?: ShownFaultPlan; hits: Record<string, number> }

/** A fault that was met. */
export type FaultHit = {
  rule: string
  on: string
  match: number
  hit: number
  date: string
  about: Record<string, string>
}

export type FaultPreset =
  | 'slow-network'
  | 'flaky-node'
  | 'angry-webhooks'
  | 'rate-limited'
  | 'lost-answers'
  | 'reorgs'
  | 'strict-screening'

export type FaultsHandle = {
  /** Replaces the plan, by an object or by a text in YAML or JSON. */
  apply(plan: FaultPlanInput | string): Promise<FaultsState>
  /** Replaces the plan by a ready one. */
  preset(name: FaultPreset, options?: { seed?: number }): Promise<FaultsState>
  add(rule: FaultRuleInput): Promise<FaultsState>
  remove(rule: string): Promise<FaultsState>
  list(): Promise<FaultsState>
  /** The faults that were met since the plan was applied, oldest first. */
  met(): Promise<FaultHit[]>
  /** The plan that meets exactly that again. */
  replay(): Promise<ShownFaultPlan>
  clear(): Promise<void>
}

const path = '/sandbox/faults'

/** The text of a plan, with the version that an object need not have. */
export const planText = (plan: FaultPlanInput | string): string =>
  typeof plan === 'string' ? plan : JSON.stringify({ apiVersion: 'bezant/v1', ...plan })

/** `seed` is that of plans and presets without one. */
export const faultsOf = ({ lab }: Ask, seed: number | undefined): FaultsHandle => ({
  apply: (plan) =>
    lab('PUT', path, planText(typeof plan === 'string' || seed === undefined ? plan : { seed, ...plan })),
  preset: (name, options = {}) => {
    const chosen = options.seed ?? seed
    return lab('POST', pathOf`/sandbox/faults/presets/${name}`, chosen === undefined ? {} : { seed: chosen })
  },
  add: (rule) => lab('POST', `${path}/rules`, JSON.stringify(rule)),
  remove: (rule) => lab('DELETE', pathOf`/sandbox/faults/rules/${rule}`),
  list: () => lab('GET', path),
  met: () => lab('GET', `${path}/met`),
  replay: () => lab('GET', `${path}/replay`),
  clear: () => lab('DELETE', path),
})
