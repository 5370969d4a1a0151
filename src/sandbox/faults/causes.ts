import type { CausesOf } from '#engines/movements/index'
import type { Faults } from './faults.ts'
import type { FaultRule } from './plan-schema.ts'
import type { MetFault } from './rules.ts'

type Concerned = Parameters<CausesOf>[0]

/** Returns a function that names the faults that a movement met, rule by rule in the order of the plan. */
export const causesOf =
  (faults: Faults): CausesOf =>
  (movement) => {
    const met = faults.met()
    const rules = faults.show().plan?.rules ?? []
    return rules.flatMap((rule) =>
      met
        .filter((each) => each.rule === rule.name && concerns(rule, each, movement))
        .map(({ on, hit, date }) => ({ fault: rule.name, hit, on, metMs: Date.parse(date) })),
    )
  }

/** Whether what was met has an id of the movement, or was the whole chain while the movement was under way. */
function concerns(rule: FaultRule, { about, date }: MetFault, movement: Concerned): boolean {
  const { names, blockchain, startMs, endMs, blockNumber } = movement
  const { blockchain: metOn, lastBlock, ...ids } = about
  if (metOn !== undefined && metOn !== blockchain) return false
  if (Object.values(ids).some((value) => value.split(', ').some((id) => names.has(id.toLowerCase()))))
    return true
  if (rule.on !== 'chain' || !isOfWholeChain(rule)) return false
  const metMs = Date.parse(date)
  if (endMs !== undefined && metMs > endMs) return false
  return metMs >= startMs || (lastBlock !== undefined && (blockNumber ?? 0) <= Number(lastBlock))
}

/** Whether a rule changes the blocks after the one that it met. */
const isOfWholeChain = ({ do: { baseFee, pause, intervalS, gasLimit } }: FaultRule<'chain'>) =>
  [baseFee, pause, intervalS, gasLimit].some((act) => act !== undefined)
