import { slipsBetween } from '#lib/suggest'
import type { Endpoint } from './endpoint.ts'

type KnownOperation = Pick<Endpoint, 'method' | 'path'>

/** Steps that group operations by product and caller: clients add, omit and exchange them. */
const grouping = new Set(
  'v1 v2 w3s developer user businessAccount addressBook modular buidl notifications'.split(' '),
)

const stepsOf = (path: string) => path.split('/').filter(Boolean)
const isParameter = (step: string) => step.startsWith('{')

/** Slips within a step that still count as the same word: walletset for walletSets. */
const slipsMax = 2
const unlike = Number.POSITIVE_INFINITY
const suggestedMax = 2

/** Creates the search for the operations that a request to an unknown one probably meant. */
export function createNearestOperations(
  operations: readonly KnownOperation[],
): (method: string, path: string) => string[] {
  const known = operations
    .filter(({ path }) => /^\/v\d\//.test(path) || path === '/ping')
    .map(({ method, path }) => ({ method, path, ...partsOf(path) }))
  return (method, path) => {
    if (path.length > 200) return []
    const asked = partsOf(path)
    if (asked.named.length === 0) return []
    const ranked = known
      .map((each) => ({ ...each, distance: distanceOf(asked, each) }))
      .filter(({ distance }) => distance < unlike)
      .map((each) => ({
        ...each,
        distance: each.distance + (each.method === method ? 0 : detour(each, path)),
      }))
    const least = Math.min(...ranked.map(({ distance }) => distance))
    const best = ranked.filter(({ distance }) => distance === least)
    return best.slice(0, suggestedMax).map((each) => `${each.method} ${each.path}`)
  }
}

/** The distance of another method: little at the very path, more than any slip at one that is only alike. */
const detour = (known: KnownOperation, path: string) => (stepsAgree(known.path, path) ? 1.5 : 100)

const stepsAgree = (known: string, path: string) => {
  const steps = stepsOf(path)
  return stepsOf(known).every((step, at) => isParameter(step) || step === steps[at])
}

type Parts = { named: string[]; groups: string[] }

/** Separates the steps that name a resource or an action from those that group; a group alone is the resource. */
function partsOf(path: string): Parts {
  const steps = stepsOf(path)
  const named = steps.filter((step, at) => !grouping.has(step) || at === steps.length - 1)
  return { named, groups: steps.filter((step) => !named.includes(step)) }
}

/** Weighs slips, groups that differ, and words that stand for a parameter; `unlike` for paths that are not alike. */
function distanceOf(asked: Parts, known: Parts): number {
  if (asked.named.length !== known.named.length) return unlike
  let slips = 0
  let parameters = 0
  for (const [at, step] of known.named.entries()) {
    if (isParameter(step)) {
      parameters++
      continue
    }
    const differing = slipsBetween(asked.named[at]!, step)
    if (differing > slipsMax) return unlike
    slips += differing
  }
  if (parameters === known.named.length) return unlike
  const all = new Set([...asked.groups, ...known.groups])
  const apart = [...all].filter((group) => asked.groups.includes(group) !== known.groups.includes(group))
  return slips * 10 + apart.length + parameters
}
