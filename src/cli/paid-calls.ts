import { setTimeout as sleep } from 'node:timers/promises'
import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import {
  type DeploymentPlan,
  deploymentProgress,
  type openPayer,
  shortOf,
} from '#engines/treasury/bundling/index'
import { formatAmount } from '#lib/amounts'
import { findEntity } from '#runtime/auth/store'
import { type ParsedArgs, textFlag, UsageError } from './command.ts'
import { requireEntityId } from './entity-scope.ts'
import { selectChains } from './with-context.ts'

/** The entity that pays, and the chains that its keys reach. */
export async function targetOf(ctx: EngineCtx, args: ParsedArgs) {
  const named = requireEntityId('contracts', args)
  const entity = await findEntity(ctx.db, named)
  if (!entity) throw new UsageError(`no entity ${named}: see bezant keys list`)
  const { id: entityId, environment } = entity
  const chains = selectChains(ctx, textFlag(args, 'chain')).filter(
    ({ network }) => network.environment === environment,
  )
  if (chains.length > 0) return { entityId, chains }
  throw new UsageError(`the entity is of ${environment}, and no chosen chain is: see bezant keys list`)
}

/** A plan, and the treasury that pays for it. */
export type Payable = { plan: DeploymentPlan; payer: Awaited<ReturnType<typeof openPayer>> }

/** Throws where a treasury cannot pay, and says how much it lacks. */
export async function requireFunds(ctx: EngineCtx, payable: readonly Payable[]): Promise<void> {
  const short = await Promise.all(
    payable.map(async ({ plan, payer }) => {
      const { blockchain, nativeToken } = plan.chain.network
      const lacking = await shortOf(ctx, plan, payer)
      const amount = `${formatAmount(lacking, nativeToken.decimals)} ${nativeToken.symbol}`
      return lacking > 0n ? [`${amount} to ${payer.address} on ${blockchain}`] : []
    }),
  )
  if (short.flat().length === 0) return
  throw new Error(`the treasury cannot pay: send at least ${short.flat().join(', ')}, and repeat the command`)
}

const pollMs = 500

/** Shows how far the transactions have come until all have ended. Returns why some did not create their contract. */
export async function follow(
  ctx: EngineCtx,
  { network: { blockchain } }: Chain,
  payer: Payable['payer'],
  ids: readonly string[],
  waitMs: number,
): Promise<string[]> {
  const shown = new Map<string, string>()
  const endMs = performance.now() + waitMs
  for (;;) {
    const calls = await deploymentProgress(ctx, payer, ids)
    for (const { id, state, txHash } of calls) {
      if (shown.get(id) === state) continue
      shown.set(id, state)
      process.stderr.write(`${blockchain}: ${state} ${txHash ?? `transaction ${id}`}\n`)
    }
    if (calls.every(({ settled }) => settled))
      return calls.flatMap(({ id, errorDetails }) =>
        errorDetails ? `${blockchain}: transaction ${id}: ${errorDetails}` : [],
      )
    if (performance.now() >= endMs)
      return [
        `${blockchain}: still under way after ${waitMs / 1_000} seconds: check that a worker runs, and repeat the command`,
      ]
    await sleep(pollMs)
  }
}
