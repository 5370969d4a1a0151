import { createHash } from 'node:crypto'
import { delayMs } from '../durations.ts'
import type { FaultPlan, FaultPoint, FaultRule, When } from './plan-schema.ts'

/** A rule that met something, as it is remembered: the number of the match, and the number of the hit among them. */
export type MetFault = {
  rule: string
  on: FaultPoint
  match: number
  hit: number
  /** Real time. */
  date: string
  /** The thing that was met, such as a request id, an endpoint, or a method of a node. */
  about: AboutMet
}

/** The ids of what a fault met, by their kinds; several of one kind are separated by commas. */
type AboutMet = Readonly<Record<string, string>>

/** A rule that applies now. */
type Hit<Point extends FaultPoint> = {
  rule: FaultRule<Point>
  mark: string
  /** Adds to what is remembered of it. */
  note(about: AboutMet): void
}

const metMax = 10_000

/** A plan at work: what it met so far. */
export type PlanAtWork = {
  plan: FaultPlan
  /**
   * The rules that apply to something at a point, the first one and those with `also` before it. `matches` tells whether a rule
   * concerns it: each such rule counts it, whether the rule is met or not. `about` is asked for what is met alone.
   */
  meet<Point extends FaultPoint>(
    point: Point,
    matches: (rule: FaultRule<Point>) => boolean,
    about: () => AboutMet,
  ): Hit<Point>[]
  met(): readonly MetFault[]
  /** How often each rule was met. */
  hits(): Readonly<Record<string, number>>
}

/** Starts a plan; `nowMs` is business time, in which windows of rules are counted from here on. */
export function startPlan(plan: FaultPlan, nowMs: () => number): PlanAtWork {
  const startedMs = nowMs()
  const counts = new Map(plan.rules.map(({ name }) => [name, { matches: 0, hits: 0 }]))
  const met: MetFault[] = []
  return {
    plan,
    met: () => met,
    hits: () => Object.fromEntries([...counts].map(([name, { hits }]) => [name, hits])),
    meet: (point, matches, about) => {
      const hits: Hit<typeof point>[] = []
      let isOver = false
      for (const rule of plan.rules) {
        if (rule.on !== point || !matches(rule as FaultRule<typeof point>)) continue
        const count = counts.get(rule.name)!
        count.matches++
        if (isOver || !isInWindow(rule.when, nowMs() - startedMs)) continue
        if (!isMet(rule.when, plan.seed, rule.name, count)) continue
        count.hits++
        const { matches: match, hits: hit } = count
        const kept = {
          rule: rule.name,
          on: point,
          match,
          hit,
          date: new Date().toISOString(),
          about: about(),
        }
        met.push(kept)
        if (met.length > metMax) met.shift()
        hits.push({
          rule: rule as FaultRule<typeof point>,
          mark: `${rule.name}#${hit}`,
          note: (more) => void Object.assign(kept, { about: { ...kept.about, ...more } }),
        })
        isOver = !rule.also
      }
      return hits
    },
  }
}

/** Whether business time is in the window of a rule: the one condition that does not depend on the number of the match. */
function isInWindow(when: When | undefined, elapsedMs: number): boolean {
  if (when?.window === undefined) return true
  const [from, to] = when.window.map(delayMs) as [number, number]
  return elapsedMs >= from && elapsedMs < to
}

/** Whether a match is met: by its number and by draws from the seed, so that equal runs meet equal faults. */
function isMet(
  when: When | undefined,
  seed: number,
  name: string,
  { matches, hits }: { matches: number; hits: number },
): boolean {
  if (!when) return true
  const { after = 0, times, every, chance, at } = when
  if (at && !at.includes(matches)) return false
  if (matches <= after) return false
  if (every !== undefined && (matches - after) % every !== 0) return false
  if (times !== undefined && hits >= times) return false
  return chance === undefined || drawOf(seed, name, matches) < chance
}

/** A number from 0 up to 1, that belongs to this match of this rule: rules draw apart from each other. */
function drawOf(seed: number, name: string, match: number): number {
  const hash = createHash('sha256').update(`${seed}:${name}:${match}`).digest()
  return hash.readUIntBE(0, 6) / 2 ** 48
}

/** The plan that meets exactly what was met: each rule at the numbers of its matches, without chances. */
export function planOfRun({ plan }: PlanAtWork, met: readonly MetFault[]): FaultPlan {
  const rules = plan.rules.flatMap((rule) => {
    const at = met.filter((each) => each.rule === rule.name).map(({ match }) => match)
    return at.length === 0 ? [] : [{ ...rule, when: { at } }]
  })
  return { ...plan, rules }
}

/** Whether a text is one of the words of a rule; `*` stands for any text, and a rule without words takes all. */
export function isWord(words: string | readonly string[] | undefined, text: string | undefined): boolean {
  if (words === undefined) return true
  if (text === undefined) return false
  const lower = text.toLowerCase()
  return [words].flat().some((word) => isLike(word.toLowerCase(), lower))
}

/** Whether `*` in a word can stand for the rest of a text. A regular expression would try every division of the text among them. */
function isLike(word: string, text: string): boolean {
  const [first = '', ...parts] = word.split('*')
  const last = parts.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}
