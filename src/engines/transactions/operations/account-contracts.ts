/**
 * Verifies the contracts of smart accounts: their code has to be known, or pinned by the operator. Chains are read when a process
 * starts and when it uses accounts. Other code stops what relies on it on that chain, and nothing else.
 */

import type { Chain } from '#chains/chain'
import type { AccountContract } from '#chains/facets/accounts'
import type { EngineCtx } from '#engines/ctx'
import { raiseAlarm } from '#runtime/log/alarms'
import { oncePer } from '#runtime/scheduling/memoize'
import type { Scope } from '#runtime/scope'

/** The work that relies on contracts: creating accounts of developers, serving modular ones, bundling any operations. */
type AccountUse = 'developer' | 'modular' | 'bundling'

/** Time for which a reading counts. After a problem it is short, so that a corrected node is soon used again. */
const keptMs = { known: 600_000, problem: 1_000 }

type Kept = { reading: Promise<readonly AccountContract[]> | undefined; untilMs: number; alarmed: string }
const keptOf = oncePer((_: Chain): Kept => ({ reading: undefined, untilMs: 0, alarmed: '' }))

/** The contracts of a chain as they were read a short time ago; none where there are no accounts. Throws when the node does not answer. */
export function accountContracts({ shared: chain }: Chain): Promise<readonly AccountContract[]> {
  const kept = keptOf(chain)
  if (kept.reading && performance.now() < kept.untilMs) return kept.reading
  kept.untilMs = Number.POSITIVE_INFINITY
  const keepFor = (ms: number) => void (kept.untilMs = performance.now() + ms)
  kept.reading = chain.accounts?.contracts() ?? Promise.resolve([])
  kept.reading.then(
    (contracts) => keepFor(contracts.some(({ problem }) => problem) ? keptMs.problem : keptMs.known),
    () => keepFor(keptMs.problem),
  )
  return kept.reading
}

/** The contracts that keep a chain from this use. Those that the treasury creates may be missing. */
function problemsOf(contracts: readonly AccountContract[], use: AccountUse): AccountContract[] {
  const hasDeployer = contracts.some(({ name, problem }) => name === 'deployer' && !problem)
  const isCreatable = ({ of, name, problem }: AccountContract) =>
    of === 'developer' && problem === 'missing' && (hasDeployer || name === 'deployer')
  const areMissing = contracts.some(
    ({ of, name, problem }) => of === 'developer' && name !== 'deployer' && problem,
  )
  return contracts.filter((contract) => {
    const { of, name, problem } = contract
    if (!problem || (of !== 'all' && of !== use)) return false
    return name === 'deployer' ? areMissing : !isCreatable(contract)
  })
}

const words = ({ name, address, problem, codeHash }: AccountContract) =>
  problem === 'missing'
    ? `there is no ${name} at ${address}`
    : problem === 'other-accounts'
      ? `the ${name} at ${address} makes accounts at other addresses`
      : `the code of the ${name} at ${address} is not known, its hash is ${codeHash}`

/**
 * Returns the reason why accounts cannot be used in this way on a chain now, and raises an alarm about it; `undefined` when they
 * can. Throws when the node does not answer.
 */
export async function accountTrouble(
  { log }: Pick<Scope, 'log'>,
  chain: Chain,
  use: AccountUse,
): Promise<string | undefined> {
  const problems = problemsOf(await accountContracts(chain), use)
  if (problems.length === 0) return undefined
  const reason = problems.map(words).join('; ')
  alarm({ log }, chain, reason)
  return reason
}

/** Raises the alarm once for each reason. */
function alarm({ log }: Pick<Scope, 'log'>, chain: Chain, reason: string): void {
  const kept = keptOf(chain.shared)
  if (kept.alarmed === reason) return
  kept.alarmed = reason
  const { blockchain } = chain.network
  raiseAlarm(log, 'account-code-unknown', { blockchain, reason }, 'contracts of smart accounts are not known')
}

/**
 * Reads the contracts of all chains when a process starts. Alarms report other code, and all that differs from a pin. Contracts
 * that a chain lacks, or that a vendor has there, matter once accounts are used on it.
 */
export async function inspectAccounts(ctx: Pick<EngineCtx, 'chains' | 'log'>): Promise<void> {
  const inspecting = ctx.chains.list().map(async (chain) => {
    const wrong = (await accountContracts(chain)).filter(({ problem }) => problem)
    const urgent = wrong.filter(
      ({ of, problem, isPinned }) => isPinned || (of !== 'modular' && problem !== 'missing'),
    )
    if (urgent.length > 0) return alarm(ctx, chain, urgent.map(words).join('; '))
    const { blockchain } = chain.network
    if (wrong.length > 0)
      ctx.log.info({ blockchain, reasons: wrong.map(words) }, 'contracts of smart accounts are not there')
  })
  // A node that does not answer is read again when accounts are used.
  await Promise.allSettled(inspecting)
}
