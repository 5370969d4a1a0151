import { randomInt } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ApiError, invalid } from '#lib/errors'
import { suggest } from '#lib/suggest'
import type { SnapshotPart } from '../snapshots/parts.ts'
import type { FaultPlan, FaultPoint, FaultRule } from './plan-schema.ts'
import { presets } from './presets.ts'
import { readPlan, readRule } from './read-plan.ts'
import { type MetFault, type PlanAtWork, planOfRun, startPlan } from './rules.ts'

/** The faults of a sandbox: one plan at a time, or none. */
export type Faults = {
  meet: PlanAtWork['meet']
  isHidden(): boolean
  seed(): number
  show(): ShownFaults
  met(): readonly MetFault[]
  /** Replaces the plan by one of a text, or by a preset. */
  apply(text: string): ShownFaults
  applyPreset(name: string, seed: number | undefined): ShownFaults
  add(text: string): ShownFaults
  remove(name: string): ShownFaults
  clear(): void
  /** The plan that meets exactly what was met so far. */
  replay(): FaultPlan
  saved: SnapshotPart
  /** The rules of a point in the plan at work. */
  rulesOf<Point extends FaultPoint>(point: Point): readonly FaultRule<Point>[]
  /** Runs `work` whenever the plan is another one, also when the same is applied again. */
  onChange(work: () => Promise<void>): void
  /** Resolves when the work of the last change is done. */
  settled(): Promise<void>
}

type FaultsInput = {
  /** Keeps the plan for a restart; its counts begin anew then. */
  file?: string | undefined
  /** The text of a plan to begin with; default: the kept one. */
  text?: string | undefined
  /** Business time. */
  nowMs: () => number
  /** The chains that run: rules may name no others. */
  blockchains: readonly string[]
}

type ShownFaults = { plan: FaultPlan | undefined; hits: Readonly<Record<string, number>> }

/** Opens the faults of a sandbox, with the plan that it begins with. */
export function openFaults({ file, text, nowMs, blockchains }: FaultsInput): Faults {
  const start = (plan: FaultPlan) => startPlan(plan, nowMs)
  const kept = file === undefined ? undefined : keptPlan(file)
  let work = kept && start(kept)
  const followers: (() => Promise<void>)[] = []
  let settled = Promise.resolve()
  const put = (plan: FaultPlan | undefined): ShownFaults => {
    work = plan && start(plan)
    if (file !== undefined) keep(file, plan)
    settled = settled.then(async () => {
      await Promise.allSettled(followers.map((follow) => follow()))
    })
    return show()
  }
  const show = (): ShownFaults => ({ plan: work?.plan, hits: work?.hits() ?? {} })
  const required = (): PlanAtWork => {
    if (work) return work
    throw new ApiError('faultPlanMissing')
  }
  if (text !== undefined) put(readPlan(text, blockchains))
  return {
    meet: (point, matches, about) => work?.meet(point, matches, about) ?? [],
    isHidden: () => work?.plan.hidden === true,
    seed: () => work?.plan.seed ?? 0,
    show,
    met: () => work?.met() ?? [],
    apply: (text) => put(readPlan(text, blockchains)),
    applyPreset: (name, seed) => put(presetOf(name, seed)),
    add: (text) => {
      const rule = readRule(text, blockchains)
      const plan = work?.plan ?? { apiVersion: 'bezant/v1' as const, seed: randomInt(2 ** 32), rules: [] }
      if (plan.rules.some(({ name }) => name === rule.name))
        throw invalid({
          at: 'name',
          reason: 'is the name of another rule: remove that one first',
          value: rule.name,
        })
      return put({ ...plan, rules: [...plan.rules, rule] })
    },
    remove: (name) => {
      const { plan } = required()
      if (!plan.rules.some((rule) => rule.name === name)) {
        const names = plan.rules.map((rule) => rule.name)
        throw invalid({
          at: 'name',
          reason: `is no rule of the plan${suggest(name, names) || `: its rules are ${names.join(', ')}`}`,
          value: name,
          kind: 'faultRuleNotFound',
        })
      }
      const rules = plan.rules.filter((rule) => rule.name !== name)
      return put(rules.length === 0 ? undefined : { ...plan, rules })
    },
    clear: () => void put(undefined),
    replay: () => planOfRun(required(), required().met()),
    rulesOf: <Point extends FaultPoint>(point: Point) =>
      (work?.plan.rules ?? []).filter(({ on }) => on === point) as unknown as FaultRule<Point>[],
    onChange: (follow) => void followers.push(follow),
    settled: () => settled,
    saved: {
      name: 'faults',
      save: () => (work ? [work.plan] : []),
      restore: ([plan]) => {
        put(plan as FaultPlan | undefined)
        return settled
      },
    },
  }
}

function presetOf(name: string, seed: number | undefined): FaultPlan {
  const text = Object.hasOwn(presets, name) ? presets[name] : undefined
  const names = Object.keys(presets)
  if (text === undefined)
    throw invalid({
      at: 'preset',
      reason: `is unknown${suggest(name, names) || `: choose from ${names.join(', ')}`}`,
      value: name,
    })
  const plan = readPlan(text)
  return seed === undefined ? plan : { ...plan, seed }
}

/** The plan of an earlier process, which may have run other chains; one that this version cannot read is left out. */
function keptPlan(file: string): FaultPlan | undefined {
  try {
    return readPlan(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function keep(file: string, plan: FaultPlan | undefined): void {
  if (!plan) {
    rmSync(file, { force: true })
    return
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, JSON.stringify(plan))
  renameSync(`${file}.new`, file)
}
